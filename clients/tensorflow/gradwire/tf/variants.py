"""Functions that have their parameters from another one, and a name and a docstring of their own.

>>> def _compared(x: Any, y: Any, name: str | None = None) -> Callable[..., Tensor]:
...     return lambda op, sign: comparison(op, sign, x, y)
>>> @variant(_compared, "Less", "<")
... def less() -> Tensor:
...     '''``x < y``, element by element.'''
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def variant(
    function: Callable[P, Callable[..., R]], *of: Any
) -> Callable[[Callable[[], R]], Callable[P, R]]:
    """Declare a function that passes what tells it from others to what ``function`` returns."""

    def declare(named: Callable[[], R]) -> Callable[P, R]:
        own = with_name(function, named)
        own.__annotations__ = function.__annotations__ | {"return": named.__annotations__["return"]}

        @functools.wraps(own)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            return own(*args, **kwargs)(*of)

        return called

    return declare


def with_name(
    function: Callable[P, R], named: Callable[[], Any], defaults: Mapping[str, Any] | None = None
) -> Callable[P, R]:
    """A function with the name, the docstring and the place in the code of another."""
    code, own, values = function.__code__, named.__code__, function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(values) : code.co_argcount]
    found: Any = types.FunctionType(
        code.replace(
            co_name=own.co_name,
            co_qualname=own.co_qualname,
            co_filename=own.co_filename,
            co_firstlineno=own.co_firstlineno,
        ),
        function.__globals__,
        argdefs=tuple(map((defaults or {}).get, names, values)),
    )
    found.__doc__, found.__module__ = named.__doc__, named.__module__
    found.__annotations__ = function.__annotations__
    return found  # type: ignore[no-any-return]
