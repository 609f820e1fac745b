"""Keras's operations, which are TensorFlow's by NumPy's names."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras import activations
from gradwire.tf.keras.symbolic import Operation, is_symbolic

#: What TensorFlow calls otherwise.
_RENAMED = {
    "absolute": "abs",
    "all": "reduce_all",
    "amax": "reduce_max",
    "amin": "reduce_min",
    "any": "reduce_any",
    "arange": "range",
    "arccos": "acos",
    "arcsin": "asin",
    "arctan": "atan",
    "arctan2": "atan2",
    "broadcast_to": "broadcast_to",
    "clip": "clip_by_value",
    "concatenate": "concat",
    "convert_to_numpy": "get_static_value",
    "divide": "divide",
    "logsumexp": "reduce_logsumexp",
    "max": "reduce_max",
    "mean": "reduce_mean",
    "min": "reduce_min",
    "mod": "math.floormod",
    "power": "pow",
    "prod": "reduce_prod",
    "std": "math.reduce_std",
    "sum": "reduce_sum",
    "take": "gather",
    "var": "math.reduce_variance",
}
#: Whose outputs remember their logits, for cross-entropies.
_REMEMBERING = ("sigmoid", "softmax")
#: Where they are looked for, in this order.
_PLACES = ("", "math", "nn", "linalg")


def _symbolic(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that takes symbolic values, too: then it is an operation of their graph."""

    @functools.wraps(function)
    def applied(*args: Any, **kwargs: Any) -> Any:
        if is_symbolic((args, kwargs)):
            kind = "".join(part.title() for part in name.split("_"))
            return Operation(kind, function=function)(*args, **kwargs)
        return function(*args, **kwargs)

    return applied


def __getattr__(name: str) -> Any:
    """The operation of a name."""
    if name in _REMEMBERING:
        return getattr(activations, name)
    if name == "nn":
        return sys.modules[__name__]
    wanted = _RENAMED.get(name, name)
    for place in _PLACES:
        found: Any = tf
        for part in f"{place}.{wanted}".strip(".").split("."):
            found = getattr(found, part, None)
        if found is not None:
            return _symbolic(name, found) if inspect.isroutine(found) else found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
