"""Functions of tensors that are functions of ragged tensors, too."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")


def elementwise(function: Callable[P, R]) -> Callable[P, R]:
    """Apply the function to the elements of ragged operands, and keep their rows."""

    @functools.wraps(function)
    def applied(*args: P.args, **kwargs: P.kwargs) -> R:
        for each in args:
            if hasattr(each, "_elementwise"):
                return cast(R, each._elementwise(functools.partial(function, **kwargs), *args))
        return function(*args, **kwargs)

    return applied


def reduction(function: Callable[P, R]) -> Callable[P, R]:
    """Apply the function, of a tensor, an axis and whether to keep it, to ragged tensors."""

    @functools.wraps(function)
    def applied(*args: P.args, **kwargs: P.kwargs) -> R:
        first: Any = args[0] if args else kwargs.get("input_tensor")
        if not hasattr(first, "_reduced"):
            return function(*args, **kwargs)
        axis = args[1] if len(args) > 1 else kwargs.get("axis")
        keepdims = args[2] if len(args) > 2 else kwargs.get("keepdims", False)
        return cast(R, first._reduced(applied, axis, keepdims))

    return applied
