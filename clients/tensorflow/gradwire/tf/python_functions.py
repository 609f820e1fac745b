"""Python functions of tensors and of NumPy arrays, as operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradwire.tf.conversion import convert_to_tensor
from gradwire.tf.steps import once

__all__ = ["numpy_function", "py_function"]


def py_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,
    name: str | None = None,
) -> Any:
    """A Python function of tensors, differentiated as what it computes."""
    if func is None:
        return lambda of: lambda *args: py_function(of, args, Tout)
    once()
    return _outputs(func(*[convert_to_tensor(each) for each in inp]), Tout)


def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """A Python function of NumPy arrays, constant to derivatives."""
    if func is None:
        return lambda of: lambda *args: numpy_function(of, args, Tout)
    once()
    result = func(*[np.asarray(convert_to_tensor(each)._value()) for each in inp])
    return _outputs(result, Tout)


def _outputs(result: Any, dtypes: Any) -> Any:
    if isinstance(dtypes, (list, tuple)):
        if not dtypes:
            return None
        parts = result if isinstance(result, (list, tuple)) else [result]
        return [convert_to_tensor(part, of) for part, of in zip(parts, dtypes, strict=True)]
    if isinstance(result, (list, tuple)) and len(result) == 1:
        result = result[0]
    return convert_to_tensor(result, dtypes)
