"""Calls of NumPy's functions on recorded arrays, as terms.

The program's language has NumPy's names and parameters, so that most calls are written out as they
were made. Those that are not are in ``decompositions``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from gradwire.tracing.calls import into, record_call
from gradwire.tracing.decompositions import DECOMPOSITIONS
from gradwire.tracing.tracer import Tracer
from gradwire.tracing.traces import Trace
from gradwire.tracing.view_functions import VIEWS, as_view

#: Modules of NumPy's functions that are top-level in the language.
_MODULES = {"numpy.lib.stride_tricks": "np", "numpy._core.multiarray": "np"}


def call_function(
    trace: Trace, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Record ``function(*args, **kwargs)``."""
    names = _from_out(function)
    if names and len(args) > len(names[0]):
        place = len(names[0])
        kwargs = dict(zip(names[1], args[place:], strict=False)) | dict(kwargs)
        args = args[:place]
    if "out" in kwargs:
        rest = {name: value for name, value in kwargs.items() if name != "out"}
        made = call_function(trace, function, args, rest)
        return made if kwargs["out"] is None else into(kwargs["out"], made)
    rewritten = DECOMPOSITIONS.get(function)
    if rewritten is not None:
        return rewritten(trace, *args, **kwargs)
    module = function.__module__
    home = _MODULES.get(module) or f"np{module.removeprefix('numpy')}"
    made = record_call(trace, f"{home}.{function.__name__}", function, args, kwargs)
    if function in VIEWS and args and isinstance(args[0], Tracer):
        as_view(made, function, args, kwargs)
    return made


@cache
def _from_out(function: Callable[..., Any]) -> tuple[Sequence[str], Sequence[str]] | None:
    """A function's parameters before ``out`` and from it on, if it may be given by its place."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # of a function in C
        return None
    names = [each.name for each in parameters if each.kind is not each.KEYWORD_ONLY]
    if "out" not in names:
        return None
    place = names.index("out")
    return names[:place], names[place:]
