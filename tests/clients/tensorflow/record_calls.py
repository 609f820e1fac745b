"""Values and gradients of the calls in calls.txt, from a library with TensorFlow's names.

python tests/clients/tensorflow/record_calls.py          records what TensorFlow answers
"""

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

CALLS = Path(__file__).with_name("calls.txt")
ANSWERS = Path(__file__).with_name("calls.json")
DIFFERENTIABLE = ("float32", "float64", "complex64", "complex128")


def calls() -> list[str]:
    """The calls, each with its tensors after a vertical bar."""
    return [line for line in CALLS.read_text().splitlines() if not line.startswith("#")]


def answer(tf: Any, line: str) -> dict[str, Any]:
    """The value of a call and its gradients, as JSON."""
    call, _, values = line.partition(" | ")
    arrays = variables(values)
    tensors = {name: tf.constant(array) for name, array in arrays.items()}
    sources = [tensors[name] for name, array in arrays.items() if array.dtype.kind == "f"]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        outputs = list(flat(eval(call, {"tf": tf, "np": np}, tensors)))
        total = weighted(tf, outputs)
    found: dict[str, Any] = {"outputs": [shown(output) for output in outputs]}
    if total is not None and sources:
        try:
            gradients = tape.gradient(total, sources)
        except LookupError:
            found["gradients"] = "LookupError"
        else:
            found["gradients"] = [
                None if each is None else shown(tf.convert_to_tensor(each)) for each in gradients
            ]
    return found


def variables(values: str) -> dict[str, Any]:
    """The named tensors of a call: float32, int32 or booleans."""
    found = {}
    for part in filter(None, values.split("; ")):
        name, _, text = part.partition("=")
        array = np.asarray(eval(text, {"np": np}))
        kind: Any = {"f": np.float32, "i": np.int32}.get(array.dtype.kind, array.dtype)
        found[name] = array.astype(kind)
    return found


def weighted(tf: Any, outputs: list[Any]) -> Any:
    """A number that depends on every element, on each one differently."""
    total = None
    for output in outputs:
        if getattr(getattr(output, "dtype", None), "name", "") not in DIFFERENTIABLE:
            continue
        shape = output.shape.as_list()
        weights = np.cos(np.arange(np.prod(shape, dtype=int))).reshape(shape) + 1.5
        part = tf.reduce_sum(tf.constant(weights, output.dtype) * output)
        part = tf.cast(tf.math.real(part), tf.float32)
        total = part if total is None else total + part
    return total


def flat(value: Any) -> Iterator[Any]:
    """The leaves of nested lists and tuples."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from flat(item)
    elif value is not None:
        yield value


def shown(output: Any) -> Any:
    """A tensor, or a plain value, as JSON."""
    if not hasattr(output, "numpy"):
        return output
    array = np.asarray(output.numpy())
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag], -1)
    value = array.tolist()
    if array.dtype.kind == "f":  # as text: JSON has no infinity
        value = np.vectorize("{:.6g}".format, otypes=[object])(array).tolist()
    return {"dtype": output.dtype.name, "shape": list(output.shape), "value": value}


def main() -> None:
    """Record TensorFlow's answers."""
    tf = importlib.import_module("tensorflow")
    answers = {line: answer(tf, line) for line in calls()}
    lines = [f"{json.dumps(line)}: {json.dumps(each)}" for line, each in answers.items()]
    ANSWERS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
