"""Checks of arguments: the one place where wrong use becomes a ``UsageError``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, wraps
from inspect import signature
from typing import Any, ParamSpec, Protocol, TypeVar, overload
from urllib.parse import quote

from gradwire import hints
from gradwire.errors import GradwireError, UsageError

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)


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


def is_of_this_call(error: TypeError) -> bool:
    """True if the call itself failed: the arguments do not fit its signature."""
    return error.__traceback__ is not None and error.__traceback__.tb_next is None


def check_function(*given: Any) -> None:
    """Refuse a value that is not a Python function."""
    for value in given:
        if not (callable(value) or isinstance(value, classmethod)):
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
