"""Errors that values raise in NumPy, SciPy and Python, where the recorded code may catch them.

There they decide: a guard says that an operation has succeeded, or its error is raised at once.
Elsewhere an answer is what the operation gives without raising, as ``nan``.
"""

from __future__ import annotations

import dis
import sys
import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

from gradwire.tracing.structures import flatten, unflatten
from gradwire.tracing.tracer import Tracer
from gradwire.tracing.traces import LIBRARIES, recording

#: Members of NumPy's module are looked up slowly while it is patched.
_geterr = np.geterr
#: NumPy without its annotations, which do not know recorded arrays.
_np: Any = np
#: Where what is recorded is called.
_BEGUN = str(Path(__file__).with_name("traced.py"))


def checked(made: Any, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """``made``, which is ``function(*args, **kwargs)``, or the error that it raises, if caught.

    Of results that are not finite the function says itself whether they are an error.
    """
    if recording().scope is not None or not (raises() or is_caught()):
        return made
    parts, _ = flatten(made, _is_recorded)
    floats = [part for part in parts if _is_recorded(part) and part.dtype.kind in "fc"]
    if not all(bool(_np.all(np.isfinite(part))) for part in floats):
        _on_values(function, args, kwargs)
    return made


def check_invertible(function: Callable[..., Any], args: Any, kwargs: Any) -> None:
    """Raise the error of ``function`` that its first argument is singular, if that is caught."""
    matrix = args[0]
    if recording().scope is not None or not _is_recorded(matrix) or not is_caught():
        return
    if bool(_np.any(np.linalg.det(matrix) == 0)):
        _on_values(function, args, kwargs)


def _on_values(function: Callable[..., Any], args: Any, kwargs: Any) -> None:
    """Call a function with the values of this call, for the error that it raises, if any."""
    leaves, structure = flatten((args, kwargs), _is_recorded)
    found = recording().values([leaf._term for leaf in leaves if _is_recorded(leaf)])
    values = iter(found)
    plain = [next(values) if _is_recorded(leaf) else leaf for leaf in leaves]
    given, named = unflatten(structure, iter(plain))
    function(*given, **named)


def raises() -> bool:
    """True where NumPy raises what it else only warns of, or where its warning is an error."""
    return "raise" in _geterr().values() or (_warns_by_errors() and is_caught())


def _warns_by_errors() -> bool:
    found = (action for action, _, kind, *_ in warnings.filters if issubclass(RuntimeWarning, kind))
    return next(found, "default") == "error"


def _is_recorded(value: Any) -> bool:
    return isinstance(value, Tracer)


def is_caught() -> bool:
    """True if what runs of the recorded code stands in a ``try`` or ``with``, of any errors."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(LIBRARIES[0]):
            if code.co_filename == _BEGUN:
                return False
        elif any(start <= frame.f_lasti < end for start, end in _guarded(code)):
            return True
        frame = frame.f_back
    return False


@lru_cache(maxsize=1024)
def _guarded(code: CodeType) -> list[tuple[int, int]]:
    """The instructions of which an exception goes to code that may catch it."""
    entries = vars(dis.Bytecode(code)).get("exception_entries", ())
    names = {step.offset: step.opname for step in dis.get_instructions(code)}
    return [(at.start, at.end) for at in entries if names[at.target] == "PUSH_EXC_INFO"]
