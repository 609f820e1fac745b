"""Keras's operations: NumPy's names, parameters and rules, on tensors and symbolic values.

What is not written here raises, even if TensorFlow has a function of that name: Keras's have
other parameters, other defaults for axes, or other results.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras.ops import elementwise, flow, networks, products, reductions, shapes
from gradwire.tf.keras.symbolic import Operation, is_symbolic


def _symbolic(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that takes symbolic values, too: then it is an operation of their graph."""

    @functools.wraps(function)
    def applied(*args: Any, **kwargs: Any) -> Any:
        if is_symbolic((args, kwargs)):
            kind = "".join(part.title() for part in name.split("_"))
            return Operation(kind, function=function)(*args, **kwargs)
        return function(*args, **kwargs)

    return applied


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: _symbolic(name, function)
    for part in (elementwise, flow, networks, products, reductions, shapes)
    for name, function in part.FUNCTIONS.items()
}


globals().update(_FUNCTIONS)
__all__ = list(_FUNCTIONS)


def __getattr__(name: str) -> Any:
    """The modules ``ops.nn``, ``ops.linalg`` and ``ops.numpy``, whose operations are here."""
    if name in ("nn", "linalg", "numpy"):
        return sys.modules[__name__]
    if name == "image":
        return tf.image
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
