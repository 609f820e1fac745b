"""Wrong use becomes a ``UsageError`` here, and errors end in the caller's line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Mapping
from functools import partial, wraps
from inspect import signature
from types import FrameType, TracebackType
from typing import Any, ParamSpec, Protocol, TypeGuard, TypeVar, overload
from urllib.parse import quote

from gradwire import hints
from gradwire.errors import GradwireError, TransportError, UsageError

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)

#: The packages of connections: their frames say nothing about why one failed.
_TRANSPORTS = frozenset("gradwire httpx httpcore anyio asyncio contextlib h11 socket ssl".split())


class short_traceback:  # noqa: N801 - a context, like suppress
    """Leaves the SDK's frames out of the tracebacks of its errors, this context's own among them.

    What is left are the lines of those who call the SDK, and of the functions that it calls.
    """

    __slots__ = ()

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if not isinstance(error, GradwireError):
            return
        error.__traceback__ = _of_others(error.__traceback__)
        cause = error.__cause__
        if isinstance(error, TransportError):
            while cause is not None:
                cause.__traceback__ = _of_others(cause.__traceback__, _TRANSPORTS)
                below = cause.__cause__
                if below is not None and _of_others(below.__traceback__, _TRANSPORTS) is None:
                    cause.__cause__ = below.__cause__  # it says the same in a library's words
                else:
                    cause = below
        elif cause is not None:  # of which nothing may be left, if we are to blame
            cause.__traceback__ = _of_others(cause.__traceback__) or cause.__traceback__


def public(function: Callable[P, R_co]) -> Callable[P, R_co]:
    """Let the errors of a function end in the line that called it."""

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R_co:
        with short_traceback():
            return function(*args, **kwargs)

    return called


def _of_others(
    traceback: TracebackType | None, ours: Container[str] = ("gradwire",)
) -> TracebackType | None:
    """A traceback without the frames of these packages; it may be a thousand frames long."""
    others: list[TracebackType] = []
    while traceback is not None:
        name = traceback.tb_frame.f_globals.get("__name__", "")
        if name.partition(".")[0] not in ours:
            others.append(traceback)
        traceback = traceback.tb_next
    rest: TracebackType | None = None
    for each in reversed(others):
        rest = TracebackType(rest, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return rest


def caller_level() -> int:
    """The ``stacklevel`` of a warning here for the line that calls the SDK, or awaits it."""
    frame: FrameType | None = sys._getframe(1)
    level = 1
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] not in _TRANSPORTS:
            return level
        frame, level = frame.f_back, level + 1
    return 1


class used:  # noqa: N801 - a context, like suppress
    """Turns errors that arguments cause into a ``UsageError``.

    It is for code that runs none of the user's functions: their errors are their own.
    """

    __slots__ = ("_what",)

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, GradwireError):
            said = f"{error}" or type(error).__name__
            raise UsageError(f"{self._what}: {said}") from error


def is_function(value: object) -> TypeGuard[Callable[..., Any]]:
    """True if a value is a Python function, or one that is not bound to its class yet."""
    return callable(value) or isinstance(value, classmethod)


def check_function(*given: Any) -> None:
    """Refuse a value that is not a Python function."""
    for value in given:
        if not is_function(value):
            got = "program text" if isinstance(value, str) else type(value).__name__
            hint = hints.TEXT_FOR_FUNCTION if isinstance(value, str) else ""
            raise UsageError(f"expected a Python function, got {got}", hint=hint)


class Decorator(Protocol[P, R_co]):
    """A function of a Python function that is also a decorator."""

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...

    @overload
    def __call__(self, **options: Any) -> Callable[[Callable[..., Any]], R_co]: ...


def as_decorator(transform: Callable[P, R_co]) -> Decorator[P, R_co]:
    """A function of a Python function, also as a decorator that is called with the other arguments.

    Raises: ``UsageError`` for arguments that it does not have.
    """
    function: Any = transform
    parameters = signature(function)

    @wraps(function)
    @public
    def called(*args: Any, **kwargs: Any) -> Any:
        is_decorator = bool(kwargs) and not args and next(iter(parameters.parameters)) not in kwargs
        with used(function.__name__):
            parameters.bind(*(None,) if is_decorator else args, **kwargs)
        return partial(called, **kwargs) if is_decorator else function(*args, **kwargs)

    made: Any = called
    decorator: Decorator[P, R_co] = made
    return decorator


def check_client(client: Any) -> None:
    """Refuse a value that is neither a client nor ``None``, for the default client."""
    if client is not None and not hasattr(client, "run"):
        raise UsageError(f"expected a client, got {type(client).__name__}")


def check_text(text: Any) -> None:
    """Refuse a value that is not program text."""
    if not isinstance(text, str):
        got = "a Python function" if callable(text) else type(text).__name__
        hint = hints.FUNCTION_FOR_TEXT if callable(text) else ""
        raise UsageError(f"expected program text, got {got}", hint=hint)


def check_program(program: Any) -> None:
    """Refuse a value that is neither program text, nor a graph, nor a reference."""
    if not isinstance(program, Mapping):  # a graph, or a reference
        check_text(program)


def path_part(reference: Any, expected: str) -> str:
    """The name or the id of a resource as a part of a path; refuse what is none."""
    with used(expected):
        if not isinstance(reference, str) or not reference:
            raise UsageError(f"expected {expected}, got {reference!r}"[:200])
        return quote(reference, safe=":")
