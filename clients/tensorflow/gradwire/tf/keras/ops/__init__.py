"""Keras's operations: NumPy's names, parameters and rules, on tensors and symbolic values.

What is not written here raises, even if TensorFlow has a function of that name: Keras's have
other parameters, other defaults for axes, or other results.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from gradwire.tf import absent
from gradwire.tf.keras.ops import (
    creation,
    elementwise,
    flow,
    images,
    networks,
    products,
    reductions,
    shapes,
)
from gradwire.tf.keras.symbolic import with_symbols

#: The functions whose results are known for symbolic values.
_KNOWN = ("shape", "size", "ndim")


def _operations(*parts: Any) -> dict[str, Callable[..., Any]]:
    """The public functions of modules: those that they define, and those in ``MADE``."""
    found: dict[str, Callable[..., Any]] = {}
    for part in parts:
        found |= {
            name: value
            for name, value in vars(part).items()
            if name[0] != "_" and getattr(value, "__module__", None) == part.__name__
        }
        found |= getattr(part, "MADE", {})
    return {
        name: function if name in _KNOWN else with_symbols(name, function)
        for name, function in found.items()
    }


_FUNCTIONS = _operations(creation, elementwise, flow, networks, products, reductions, shapes)
globals().update(_FUNCTIONS)
__all__ = list(_FUNCTIONS)


@functools.cache
def _image() -> ModuleType:
    """``keras.ops.image``."""
    module = ModuleType(f"{__name__}.image", images.__doc__)
    vars(module).update(_operations(images))
    absent.name_missing(module, "keras.ops.image")
    return module


def __getattr__(name: str) -> Any:
    """The modules ``ops.nn``, ``ops.linalg`` and ``ops.numpy``, whose operations are here."""
    if name in ("nn", "linalg", "numpy"):
        return sys.modules[__name__]
    if name == "image":
        return _image()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
