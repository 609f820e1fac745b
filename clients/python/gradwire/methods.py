"""Functions that build calls, as methods of both clients.

A method of the API is written once, as a function that returns a ``Call``, or steps of several
(see ``gradwire.call``); ``sent`` makes it one of both clients. On ``Client`` it asks and returns
the answer, on ``AsyncClient`` it returns a coroutine that does; on the class it is the plain
function.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

from gradwire.call import Call, Conversation, Steps
from gradwire.usage import used

P = ParamSpec("P")
Q = ParamSpec("Q")
A = TypeVar("A")
T = TypeVar("T")


class Blocking(Protocol):
    """A client that waits for answers."""

    def run(self, asked: Conversation[T]) -> T: ...


class Awaiting(Protocol):
    """A client whose answers are awaited."""

    def run(self, asked: Conversation[T]) -> Coroutine[Any, Any, T]: ...


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


class sent_later(Generic[P, Q, A, T]):  # noqa: N801 - a decorator, like property
    """As ``sent``, for a function that returns a function, whose every call is sent."""

    @overload
    def __init__(
        self: sent_later[P, Q, Call[T], T],
        build: Callable[Concatenate[Any, P], Callable[Q, Call[T]]],
    ) -> None: ...
    @overload
    def __init__(
        self: sent_later[P, Q, Steps[T], T],
        build: Callable[Concatenate[Any, P], Callable[Q, Steps[T]]],
    ) -> None: ...
    def __init__(self, build: Callable[Concatenate[Any, P], Callable[Q, Any]]) -> None:
        self._build = build
        self.__doc__ = build.__doc__

        @functools.wraps(build)
        def method(client: Any, *args: P.args, **kwargs: P.kwargs) -> Any:
            with used(build.__name__):
                build_later = build(client, *args, **kwargs)

            @functools.wraps(build_later)
            def function(*args: Q.args, **kwargs: Q.kwargs) -> Any:
                with used(build.__name__):
                    asked = build_later(*args, **kwargs)
                return client.run(asked)

            return function

        self._method = method

    @overload
    def __get__(
        self, client: None, owner: type
    ) -> Callable[Concatenate[Any, P], Callable[Q, A]]: ...
    @overload
    def __get__(self, client: Blocking, owner: type) -> Callable[P, Callable[Q, T]]: ...
    @overload
    def __get__(
        self, client: Awaiting, owner: type
    ) -> Callable[P, Callable[Q, Coroutine[Any, Any, T]]]: ...
    def __get__(self, client: Any, owner: type) -> Any:
        return self._build if client is None else types.MethodType(self._method, client)
