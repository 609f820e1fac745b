"""The owner of a value's code, and whether that gives the same for the same."""

from __future__ import annotations

import sys
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from gradwire.tracing.traces import LIBRARIES

#: Where functions give the same for the same, but for those of these names: they draw, or leave
#: elements as they were in memory.
_PURE_MODULES = frozenset(
    "_operator builtins cmath collections gradwire itertools math numpy operator scipy "
    "types".split()
)
DRAWING = frozenset({"empty", "empty_like", "random", "rvs"})


def is_users_function(function: FunctionType) -> bool:
    """True if a function is not a library's; one that a text has made has no module."""
    return not function.__code__.co_filename.startswith(LIBRARIES)


def is_users(kind: type) -> bool:
    """True if a class is not a library's."""
    return _is_own(kind.__module__)


def is_pure(value: Any) -> bool:
    """True of data, of what the user has made, and of what NumPy's modules have but for draws.

    What a value holds is looked at by itself: the function of a method, the values of a tuple.
    """
    if isinstance(value, BuiltinFunctionType):
        owner = value.__self__
        home = owner.__name__ if isinstance(owner, ModuleType) else value.__module__ or ""
    elif isinstance(value, ModuleType):
        home = value.__name__
    elif isinstance(value, FunctionType) and is_users_function(value):
        return True  # its code is looked at by itself
    elif isinstance(value, type | FunctionType):
        if _is_own(value.__module__):
            return True
        home = "" if value.__name__ in DRAWING else value.__module__
    elif isinstance(value, MethodType | partial) or is_users(type(value)):
        return True
    else:
        home = type(value).__module__
    return is_home_of_pure(home)


def is_home_of_pure(module: str | None) -> bool:
    """True of the name of a module of functions that give the same for the same arguments."""
    return (
        module is not None
        and module.partition(".")[0] in _PURE_MODULES
        and not module.startswith("numpy.random")
    )


def _is_own(name: str) -> bool:
    """True of the name of a module that is no library's."""
    path = getattr(sys.modules.get(name), "__file__", None)
    return name == "__main__" or (path is not None and not path.startswith(LIBRARIES))
