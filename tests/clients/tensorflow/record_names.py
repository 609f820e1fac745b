"""Record TensorFlow's public names, one of its modules on each line, that module's names after it.

    python -m tests.clients.tensorflow.record_names > names.txt
    python -m tests.clients.tensorflow.record_names inside > inside.txt

Both files belong in ``clients/tensorflow/gradwire/tf``.

Needs an environment of its own with ``tensorflow-cpu`` 2.21. Left out is what stands twice:
``tf.compat.v2`` is ``tf``, and what is below ``tf.compat.v1.compat`` is below ``tf.compat``.
The public attributes of some classes are recorded in the same way.
A name in ``tf.compat.v1`` that is what the same name in ``tf`` is begins with an equals sign; what
another name is, is followed by an equals sign and that name.

``inside`` records where public names are written: for each of TensorFlow's own modules below
``tensorflow.python`` the public module that has most of them, after a colon, and their names there,
followed by an equals sign and the public name where it is another: ``ops.array_ops: concat
where_v2=where``; one in another public module has its full name, ``.NAME`` if that is ``tf``.
"""

import functools
import importlib
import os
import sys
import types
from collections import Counter, defaultdict
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

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
        shown = [
            f"{'=' * is_same(places, name, each)}{each}{other_name(places, name, each)}"
            for each in sorted(found)
        ]
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


def written(value: Any) -> tuple[str, str] | None:
    """The module below ``tensorflow.python`` of a function or class, and its name there."""
    module, name = str(getattr(value, "__module__", "")), getattr(value, "__name__", None)
    root = "tensorflow.python."
    if isinstance(value, types.ModuleType) or not isinstance(name, str):
        return None
    return (module.removeprefix(root), name) if module.startswith(root) else None


@functools.cache
def by_place() -> dict[tuple[str, str], str]:
    """The public names of TensorFlow 2, and of older losses, by where they are written."""
    found: dict[tuple[str, str], str] = {}
    for name, place in modules():
        is_older = name.startswith("compat.v1") and name != "compat.v1.losses"
        if is_older or name.startswith("keras") or name in ("raw_ops", "compat.v2"):
            continue
        for each, value in sorted(vars(importlib.import_module(place)).items()):
            at = written(value)
            if at is not None and not each.startswith("_"):
                found.setdefault(at, f"{name}.{each}" if name else each)
    return found


def other_name(places: dict[str, str], module: str, name: str) -> str:
    """``=`` and the public name of TensorFlow 2 for one of version 1 that has another there."""
    if not module.startswith("compat.v1") or f"{module}.{name}" in places:
        return ""
    at = written(getattr(importlib.import_module(places[module]), name, None))
    found = by_place().get(at) if at else None
    same = f"{module.removeprefix('compat.v1')}.{name}".strip(".")
    is_other = found and found != same and not found.startswith("compat.v1")
    return f"={found}" if is_other and not is_same(places, module, name) else ""


def inside() -> None:
    """Write where public names are written."""
    names: dict[str, dict[str, str]] = defaultdict(dict)
    for (module, name), public in by_place().items():
        if not name.startswith("_"):
            names[module][name] = public
    for module, found in sorted(names.items()):
        counted = Counter(public.rpartition(".")[0] for public in found.values())
        most = counted.most_common(1)[0][0]
        shown = []
        for name, public in found.items():
            place, _, last = public.rpartition(".")
            short = ("" if last == name else f"={last}") if place == most else f"={place}.{last}"
            shown.append(f"{name}{short}")
        print(" ".join([f"{module}:{most}", *shown]))  # noqa: T201


if __name__ == "__main__":
    inside() if sys.argv[1:] == ["inside"] else main()
