"""Functions that build calls, as methods of both clients.

A method of the API is written once, as a function that returns a ``Call``, or steps of several
(see ``gradwire.call``); ``sent`` makes it one of both clients. On ``Client`` it asks and returns
the answer, on ``AsyncClient`` it returns a coroutine that does; on the class it is the plain
function.
"""

from __future__ import annotations

import functools
import types
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

from gradwire.call import Call, Conversation, Steps
from gradwire.errors import UsageError
from gradwire.events import ServerEvent
from gradwire.usage import is_of_this_call, public, short_traceback, used

#: The parameters of a method for programs, and of the function for Python functions.
P = ParamSpec("P")
F = ParamSpec("F")
A = TypeVar("A")
T = TypeVar("T")
R = TypeVar("R")
A_co = TypeVar("A_co", covariant=True)
T_co = TypeVar("T_co", covariant=True)
R_co = TypeVar("R_co", covariant=True)


class Blocking(Protocol):
    """A client that waits for answers."""

    def run(self, asked: Conversation[T]) -> T: ...


class Awaiting(Protocol):
    """A client whose answers are awaited."""

    def run(self, asked: Conversation[T]) -> Coroutine[Any, Any, T]: ...


class BlockingListener(Blocking, Protocol):
    """One that also waits for events."""

    def listen(self, call: Call[Any]) -> Generator[ServerEvent, None, None]: ...


class AwaitingListener(Awaiting, Protocol):
    """One whose events are awaited, too."""

    def listen(self, call: Call[Any]) -> AsyncGenerator[ServerEvent, None]: ...


C = TypeVar("C", Blocking, Awaiting)


class Resource(Generic[C]):
    """Methods that a client sends, such as those of ``client.programs``."""

    def __init__(self, client: C) -> None:
        self.client: C = client

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.client!r})"


class BlockingResource(Resource[Blocking]):
    """The methods of a ``Client``."""

    def run(self, asked: Conversation[T]) -> T:
        """Run a call with the client."""
        return self.client.run(asked)


class AwaitingResource(Resource[Awaiting]):
    """The methods of an ``AsyncClient``."""

    def run(self, asked: Conversation[T]) -> Coroutine[Any, Any, T]:
        """Run a call with the client."""
        return self.client.run(asked)


class sent(Generic[P, A, T]):  # noqa: N801 - a decorator, like property
    """Make a function that builds a ``Call``, or steps, a method of both clients."""

    @overload
    def __init__(
        self: sent[P, Call[T], T], build: Callable[Concatenate[Any, P], Call[T]]
    ) -> None: ...
    @overload
    def __init__(
        self: sent[P, Steps[T], T], build: Callable[Concatenate[Any, P], Steps[T]]
    ) -> None: ...
    def __init__(self, build: Callable[Concatenate[Any, P], Any]) -> None:
        self._build = build
        self.__doc__ = build.__doc__

        @functools.wraps(build)
        def method(client: Any, *args: P.args, **kwargs: P.kwargs) -> Any:
            with short_traceback():
                with used(build.__name__):
                    asked = build(client, *args, **kwargs)
                return client.run(asked)

        self._method = method

    @overload
    def __get__(self, client: None, owner: type) -> Callable[Concatenate[Any, P], A]: ...
    @overload
    def __get__(self, client: Blocking, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: Awaiting, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, client: Any, owner: type) -> Any:
        return self._build if client is None else types.MethodType(self._method, client)


class Either(Protocol[F, R_co, P, T_co]):
    """A method for Python functions and for programs."""

    @overload
    def __call__(self, *args: F.args, **kwargs: F.kwargs) -> R_co: ...
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T_co: ...


class OfBoth(Protocol[F, R_co, P, A_co, T_co]):
    """The same on its class, and on either client."""

    @overload
    def __get__(self, client: None, owner: type) -> Callable[Concatenate[Any, P], A_co]: ...
    @overload
    def __get__(self, client: Blocking, owner: type) -> Either[F, R_co, P, T_co]: ...
    @overload
    def __get__(
        self, client: Awaiting, owner: type
    ) -> Either[F, R_co, P, Coroutine[Any, Any, T_co]]: ...


class _OfBoth:
    def __init__(self, transform: Callable[..., Any], method: Any) -> None:
        self._transform = transform
        self._method = method
        self.__doc__ = method.__doc__

    def __get__(self, client: Any, owner: type) -> Any:
        of_programs = self._method.__get__(client, owner)
        if client is None:
            return of_programs

        @public
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


def also_of(transform: Callable[F, R]) -> Callable[[sent[P, A, T]], OfBoth[F, R, P, A, T]]:
    """Let a method of programs take a Python function and apply ``transform`` to it."""

    def decorated(method: sent[P, A, T]) -> OfBoth[F, R, P, A, T]:
        return _OfBoth(transform, method)

    return decorated
