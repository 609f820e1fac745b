"""Record TensorFlow's results for the scripts, and how far roundings carry in each of them.

    python -m tests.clients.tensorflow.record_scripts [SCRIPT…]

Needs an environment of its own with ``tensorflow-cpu`` 2.21 and nothing of ours. Each script runs
twice: as it is, and with every gradient that a tape returns moved by one unit in the last place,
up or down at random. ``scripts.json`` has the results of the first run, and as ``sensitivity``
the largest relative difference of the second from it, which the test's tolerance builds on. What a
training amplifies by more than a thousandth is no outside truth, and is refused.
"""

import contextlib
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", TF_ENABLE_ONEDNN_OPTS="0", CUDA_VISIBLE_DEVICES="-1")

import numpy as np
import tensorflow as tf

from tests.clients.tensorflow import script_results

#: A script that amplifies roundings more than this has nothing to compare.
CHAOTIC = 1e-3


@contextlib.contextmanager
def moved_gradients() -> Iterator[None]:
    """Each gradient that a tape returns is moved by one unit in the last place."""
    rng = np.random.default_rng(0)

    def moved(gradient: Any) -> Any:
        if isinstance(gradient, tf.IndexedSlices):
            return tf.IndexedSlices(moved(gradient.values), gradient.indices, gradient.dense_shape)
        if not isinstance(gradient, tf.Tensor) or not gradient.dtype.is_floating:
            return gradient
        signs = rng.choice([-1.0, 1.0], [length or 1 for length in gradient.shape])
        unit = np.finfo(gradient.dtype.as_numpy_dtype).eps
        return gradient * tf.constant(1.0 + unit * signs, gradient.dtype)

    def moving(method: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **kwargs: tf.nest.map_structure(moved, method(*args, **kwargs))

    names = ("gradient", "jacobian", "batch_jacobian")
    methods = {name: getattr(tf.GradientTape, name) for name in names}
    for name, method in methods.items():
        setattr(tf.GradientTape, name, moving(method))
    yield
    for name, method in methods.items():
        setattr(tf.GradientTape, name, method)


def run(names: list[str], move: bool) -> dict[str, Any]:
    """The scripts' results; those that fail are reported and left out."""
    found = {}
    for name in names:
        try:
            with moved_gradients() if move else contextlib.nullcontext():
                found[name] = script_results.results_of(script_results.FOLDER / f"{name}.py")
        except Exception:  # noqa: BLE001
            print(f"{name}: {traceback.format_exc(limit=-2)}")  # noqa: T201
    return found


def main() -> None:
    """Record the given scripts, or all."""
    names = sys.argv[1:] or script_results.names()
    file = Path(__file__).parent / "scripts.json"
    recorded = script_results.recorded() if file.exists() else {}
    plain = run(names, move=False)
    moved = run(list(plain), move=True)
    for name, results in plain.items():
        sensitivity = script_results.difference(moved[name], results)
        if sensitivity > CHAOTIC:
            print(f"{name}: amplifies roundings to {sensitivity:.1e}, not recorded")  # noqa: T201
        else:
            recorded[name] = {"sensitivity": float(f"{sensitivity:.1e}"), "results": results}
    lines = [f"{json.dumps(name)}: {json.dumps(recorded[name])}" for name in sorted(recorded)]
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
