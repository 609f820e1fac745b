"""Print docs/reference/tensorflow.md: TensorFlow's names that gradwire.tf has, from the code."""

from __future__ import annotations

import functools
import sys
from typing import Any

import gradwire.tf as tf
from gradwire.tf.absent import names_of, tensorflow_names

HEAD = """# TensorFlow's names

TensorFlow 2.21's public names that `gradwire.tf` has, and those that it does not have.
`make docs` writes this page from the code.
A name that is not there raises an error that is a `NotImplementedError` and an `AttributeError`
and lists the nearest that are; an argument that is not implemented raises a `NotImplementedError`.
The tests compare what is there with what TensorFlow answered;
[the distribution's page](../../clients/tensorflow/README.md) names the draws that differ.
"""
#: Modules of which only the names that there are are listed.
LONG = {"compat.v1", "raw_ops"}


def page() -> str:
    """The whole page."""
    modules = ["" if name == "tf" else name for name in tensorflow_names()]
    there = {module: found for module in modules if (found := present(module))}
    total = sum(len(names_of(module)) for module in there)
    count = sum(len(found) for found in there.values())
    none = [module for module in modules if module not in there and "compat.v1" not in module]
    sections = [_section(module, found) for module, found in there.items()]
    return "\n\n".join(
        [
            HEAD,
            f"{count} of {total} names, in {len(there)} modules.",
            *sections,
            "## Modules of which nothing is there",
            _listed([f"tf.{module}" for module in none])
            + ", and the modules below `tf.compat.v1` that are not above.",
        ]
    ).replace("\n\n\n", "\n\n") + ("\n")


def present(module: str) -> list[str]:
    """The names in one of TensorFlow's modules that are here."""
    try:
        found: Any = functools.reduce(getattr, filter(None, module.split(".")), tf)
    except AttributeError:
        return []
    return [name for name in names_of(module) if hasattr(found, name)]


def _section(module: str, found: list[str]) -> str:
    names = names_of(module)
    missing = [name for name in names if name not in found]
    lines = [f"## {f'tf.{module}'.rstrip('.')}", f"{len(found)} of {len(names)}: {_listed(found)}"]
    if missing:
        lines.append(f"Not there: {'all others' if module in LONG else _listed(missing)}")
    return "\n\n".join(lines)


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    sys.stdout.write(page())
