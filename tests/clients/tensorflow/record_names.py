"""Record TensorFlow's public names, one of its modules on each line, that module's names after it.

    python -m tests.clients.tensorflow.record_names > clients/tensorflow/gradwire/tf/names.txt

Needs an environment of its own with ``tensorflow-cpu`` 2.21. Left out is what stands twice:
``tf.compat.v2`` is ``tf``, and what is below ``tf.compat.v1.compat`` is below ``tf.compat``.
The public attributes of some classes are recorded in the same way.
A name in ``tf.compat.v1`` that is what the same name in ``tf`` is begins with an equals sign.
"""

import importlib
import os
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1")

import keras  # type: ignore[import-not-found]  # TensorFlow brings it
import tensorflow as tf

#: Packages that TensorFlow's import adds to its names, and that its documentation does not have.
INTERNAL = {"compiler", "core", "dtensor", "include", "python", "security", "tools", "tsl"}


#: Classes whose attributes are recorded.
CLASSES = ("data.Dataset",)


def modules() -> Iterator[tuple[str, str]]:
    """Each public module: its name below ``tf``, and where it is imported from."""
    api = Path(tf.__file__).parent / "_api" / "v2"
    for folder in sorted(path.parent for path in api.rglob("__init__.py")):
        parts = folder.relative_to(api).parts
        name = ".".join(parts)
        twice = "compat" in parts[1:] or parts[:2] == ("compat", "v2") or "keras" in parts
        if not twice and "__" not in name and name != "compat.v1.raw_ops":
            yield name, f"tensorflow._api.v2.{name}" if name else "tensorflow"
    root = Path(keras.__file__).parent / "_tf_keras" / "keras"
    for folder in sorted(path.parent for path in root.rglob("__init__.py")):
        parts = folder.relative_to(root).parts
        yield ".".join(("keras", *parts)), ".".join(("keras._tf_keras.keras", *parts))


def main() -> None:
    """Write the names."""
    places = dict(modules())
    for name, place in places.items():
        found = {each for each in dir(importlib.import_module(place)) if not each.startswith("_")}
        found |= {each.rpartition(".")[2] for each in places if each.rpartition(".")[0] == name}
        if not name:
            found -= INTERNAL
        if name == "compat.v1":
            found -= {"compat"}
        found.discard("")
        shown = [f"{'=' * is_same(places, name, each)}{each}" for each in sorted(found)]
        print(" ".join([name or "tf", *shown]))  # noqa: T201
    for name in CLASSES:
        found = {each for each in dir(attrgetter(name)(tf)) if not each.startswith("_")}
        print(" ".join([name, *sorted(found)]))  # noqa: T201


def is_same(places: dict[str, str], module: str, name: str) -> bool:
    """Whether a name in ``tf.compat.v1`` is the one in ``tf``."""
    version, _, place = module.partition("compat.v1")
    other = places.get(place.strip("."))
    if module == version or other is None or f"{module}.{name}" in places:
        return False
    ours = getattr(importlib.import_module(places[module]), name, None)
    return ours is not None and getattr(importlib.import_module(other), name, None) is ours


if __name__ == "__main__":
    main()
