"""Stubs of TensorFlow's functions for devices, graphs and machines, without effect here."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from gradwire.tf import dtypes, nest
from gradwire.tf.conversion import tensor_of
from gradwire.tf.scopes import scoped
from gradwire.tf.steps import again
from gradwire.tf.summaries import summarized
from gradwire.tf.tensors import Operand, Tensor

__all__ = [
    "AggregationMethod", "RegisterGradient", "control_dependencies", "device",
    "get_current_name_scope", "get_logger", "get_static_value", "is_symbolic_tensor", "is_tensor",
    "print", "timestamp",
]  # fmt: skip


@contextlib.contextmanager
def control_dependencies(control_inputs: Any) -> Iterator[None]:
    """A context without effect: everything is computed in the order in which it is called."""
    if callable(control_inputs):
        control_inputs()
    yield


@contextlib.contextmanager
def device(device_name: Any) -> Iterator[None]:
    """A context without effect: where it is computed is the service's matter."""
    yield


def get_current_name_scope() -> str:
    """The names of the scopes that are entered."""
    return scoped("").rstrip("/")


def get_logger() -> logging.Logger:
    """The logger of this module."""
    return logging.getLogger("gradwire.tf")


def is_tensor(x: Any) -> bool:
    """True if a value is a tensor, a variable, or made of tensors."""
    return isinstance(x, Operand) or hasattr(x, "_components")


def is_symbolic_tensor(tensor: Any) -> bool:
    """True if a tensor is symbolic: none is."""
    return False


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor that is a constant."""
    if isinstance(tensor, Tensor):
        return tensor.numpy()
    return None if isinstance(tensor, Operand) else tensor


@again()
def timestamp(name: str | None = None) -> Tensor:
    """Seconds since 1970."""
    return tensor_of(np.float64(time.time()))


@again()
def print(
    *inputs: Any,
    output_stream: Any = None,
    summarize: int = 3,
    sep: str = " ",
    end: str = "\n",
    name: str | None = None,
) -> None:
    """Print values, of large tensors a few from both ends of each axis."""
    shown = [_shown(each, summarize) for each in inputs]
    match inputs:
        case (Tensor() as only,) if only.dtype == dtypes.string and not only._lengths():
            shown = [bytes(only._value()[()]).decode(errors="replace")]
    text = sep.join(shown) + end
    if isinstance(output_stream, str) and output_stream.startswith("file://"):
        with open(output_stream.removeprefix("file://"), "a", encoding="utf-8") as file:  # noqa: PTH123
            file.write(text)
    elif hasattr(output_stream, "write"):
        output_stream.write(text)
    elif output_stream in (logging.info, logging.warning, logging.error):
        output_stream(text)
    else:
        sys.stderr.write(text)


def _shown(value: Any, summarize: int) -> str:
    if isinstance(value, Operand):
        return summarized(value._value(), summarize).decode(errors="replace")
    if nest.is_nested(value):
        parts = nest.map_structure(lambda each: _Text(_shown(each, summarize)), value)
        return str(parts)
    return str(value)


class _Text(str):
    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class AggregationMethod:
    """Aggregation methods of gradients: all are sums."""

    ADD_N: int = 0
    DEFAULT: int = 0
    EXPERIMENTAL_TREE: int = 1
    EXPERIMENTAL_ACCUMULATE_N: int = 2


class RegisterGradient:
    """Notes the gradient of an operation of the user's own, which a name may have once."""

    _registered: ClassVar[dict[str, Callable[..., Any]]] = {}

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type: str = op_type

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """The function itself."""
        if self._op_type in self._registered:
            raise KeyError(f"Registering two gradient with name '{self._op_type}'!")
        self._registered[self._op_type] = f
        return f
