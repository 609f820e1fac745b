"""Client methods that take programs or Python functions."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

from gradwire.errors import UsageError
from gradwire.methods import Awaiting, Blocking, sent, sent_later
from gradwire.usage import is_of_this_call

#: The method for Python functions, and the one for programs.
F = ParamSpec("F")
P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
A = TypeVar("A")
A_co = TypeVar("A_co", covariant=True)
C_co = TypeVar("C_co", covariant=True)


class Either(Protocol[F, R_co, P, T_co]):
    """A method of a client for Python functions and for programs."""

    @overload
    def __call__(self, *args: F.args, **kwargs: F.kwargs) -> R_co: ...
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T_co: ...


class _OfBoth:
    def __init__(self, transform: Callable[..., Any], method: Any) -> None:
        self._transform = transform
        self._method = method
        self.__doc__ = method.__doc__

    def __get__(self, client: Any, owner: type) -> Any:
        of_programs = self._method.__get__(client, owner)
        if client is None:
            return of_programs

        def either(subject: Any, *args: Any, **kwargs: Any) -> Any:
            if not callable(subject):
                return of_programs(subject, *args, **kwargs)
            try:
                return self._transform(subject, *args, **{"client": client, **kwargs})
            except TypeError as error:
                if is_of_this_call(error):
                    raise UsageError(f"{error}") from None
                raise

        either.__doc__ = self.__doc__
        return either


class OfBoth(Protocol[F, R_co, P, A_co, T_co, C_co]):
    """The same on its class, and on either client."""

    @overload
    def __get__(self, client: None, owner: type) -> Callable[Concatenate[Any, P], A_co]: ...
    @overload
    def __get__(self, client: Blocking, owner: type) -> Either[F, R_co, P, T_co]: ...
    @overload
    def __get__(self, client: Awaiting, owner: type) -> Either[F, R_co, P, C_co]: ...


def also_of(
    transform: Callable[F, R],
) -> Callable[[sent[P, A, T]], OfBoth[F, R, P, A, T, Coroutine[Any, Any, T]]]:
    """Let a method of programs take a Python function and apply ``transform`` to it."""
    return partial(_OfBoth, transform)


def also_later_of(
    transform: Callable[F, R],
) -> Callable[
    [sent_later[P, Q, A, T]],
    OfBoth[F, R, P, Callable[Q, A], Callable[Q, T], Callable[Q, Coroutine[Any, Any, T]]],
]:
    """As ``also_of``, for a method that returns a function."""
    return partial(_OfBoth, transform)
