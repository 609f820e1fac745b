"""Functions of tensors that are functions of ragged tensors, too."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

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
