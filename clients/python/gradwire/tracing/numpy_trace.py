"""Recordings of what NumPy dispatches: operators, ufuncs and functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradwire.tracing.decompositions import in_one_axis
from gradwire.tracing.numpy_calls import call_function
from gradwire.tracing.traces import Trace
from gradwire.tracing.ufuncs import applied, call_ufunc


class NumpyTrace(Trace):
    """A recording of code that computes with NumPy."""

    def operator(self, ufunc: np.ufunc, operands: tuple[Any, ...]) -> Any:
        return applied(self, ufunc, operands, is_operator=True)

    def ufunc(
        self, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], given: dict[str, Any]
    ) -> Any:
        return call_ufunc(self, ufunc, method, inputs, given)

    def function(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        return call_function(self, function, args, kwargs)

    def in_one_axis(self, array: Any) -> Any:
        return in_one_axis(array)
