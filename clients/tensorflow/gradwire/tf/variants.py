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

NO_DEFAULTS: Mapping[str, Any] = types.MappingProxyType({})


def variant(
    function: Callable[P, Callable[..., R]], *of: Any
) -> Callable[[Callable[[], R]], Callable[P, R]]:
    """Declare a function that calls what ``function`` returns with the arguments ``of``."""

    def declare(named: Callable[[], R]) -> Callable[P, R]:
        own = with_name(function, named)
        own.__annotations__ = function.__annotations__ | {"return": named.__annotations__["return"]}

        @functools.wraps(own)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            return own(*args, **kwargs)(*of)

        return called

    return declare


def with_name(
    function: Callable[P, R],
    named: Callable[[], Any],
    defaults: Mapping[str, Any] = NO_DEFAULTS,
    **replaced: Any,
) -> Callable[P, R]:
    """A function with the name and the docstring of another, and perhaps other defaults.

    ``replaced`` are further parts of its code. Its lines are its own, which tracebacks name.
    """
    code, own, values = function.__code__, named.__code__, function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(values) : code.co_argcount]
    assert defaults.keys() <= {*names}, f"{own.co_name} has no defaults of {[*defaults]}"
    found: Any = types.FunctionType(
        code.replace(co_name=own.co_name, co_qualname=own.co_qualname, **replaced),
        function.__globals__,
        argdefs=tuple(map(defaults.get, names, values)),
    )
    found.__doc__, found.__module__ = named.__doc__, named.__module__
    found.__annotations__ = function.__annotations__
    return found  # type: ignore[no-any-return]
