"""Functions that build calls, as methods of both clients.

A method of the API is written once, as a function that returns a ``Call``, or steps of several
(see ``gradwire.call``); ``sent`` makes it one of both clients. On ``Client`` it asks and returns
the answer, on ``AsyncClient`` it returns a coroutine that does; on the class it is the plain
function.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Mapping
from inspect import Signature
from typing import Any, ClassVar, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

from gradwire import hints
from gradwire.call import Call, Conversation, Steps
from gradwire.errors import UsageError
from gradwire.events import ServerEvent
from gradwire.keywords import in_brackets, signature_of, with_keywords
from gradwire.trees import inside
from gradwire.usage import is_function, public, short_traceback, used

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

    def stream(self, call: Call[Any]) -> Generator[ServerEvent, None, None]: ...


class AwaitingListener(Awaiting, Protocol):
    """One whose events are awaited, too."""

    def stream(self, call: Call[Any]) -> AsyncGenerator[ServerEvent, None]: ...


C = TypeVar("C", Blocking, Awaiting)


class Resource(Generic[C]):
    """Methods that a client sends, such as those of ``client.programs``."""

    def __init__(self, client: C) -> None:
        self._client: C = client

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._client!r})"


class BlockingResource(Resource[Blocking]):
    """The methods of a ``Client``."""

    def run(self, asked: Conversation[T]) -> T:
        """Run a call with the client."""
        return self._client.run(asked)


class AwaitingResource(Resource[Awaiting]):
    """The methods of an ``AsyncClient``."""

    awaits: ClassVar[bool] = True

    def run(self, asked: Conversation[T]) -> Coroutine[Any, Any, T]:
        """Run a call with the client."""
        return self._client.run(asked)


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
        #: The method of a client that waits, and of one whose answers are awaited.
        self._methods: dict[bool, Callable[..., Any]] = {}

    def _method(self, awaits: bool) -> Callable[..., Any]:
        """The method, with the signature that it has for those who call it."""
        build = self._build

        @functools.wraps(build)
        def method(client: Any, *args: P.args, **kwargs: P.kwargs) -> Any:
            with short_traceback():
                with used(build.__name__):
                    asked = build(client, *args, **kwargs)
                return client.run(asked)

        answer = in_brackets(f"{inspect.signature(build).return_annotation}")
        returned = f"Coroutine[Any, Any, {answer}]" if awaits else answer
        method.__signature__ = signature_of(build, returned)  # type: ignore[attr-defined]
        self._methods[awaits] = method
        return method

    @overload
    def __get__(self, client: None, owner: type) -> Callable[Concatenate[Any, P], A]: ...
    @overload
    def __get__(self, client: Blocking, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: Awaiting, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, client: Any, owner: type) -> Any:
        if client is None:
            return with_keywords(self._build)
        awaits = getattr(owner, "awaits", False)
        return types.MethodType(self._methods.get(awaits) or self._method(awaits), client)


class sent_either(sent[P, Conversation[T], T], Generic[P, T]):  # noqa: N801 - as above
    """The same of a function that builds a ``Call`` or steps, as its arguments are."""

    def __init__(self, build: Callable[Concatenate[Any, P], Conversation[T]]) -> None:
        super().__init__(build)  # type: ignore[arg-type, misc]


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
        self._signatures: dict[bool, Signature] = {}

    def __get__(self, client: Any, owner: type) -> Any:
        of_programs = self._method.__get__(client, owner)
        if client is None:
            return of_programs
        declared = inspect.signature(self._transform)

        @functools.wraps(of_programs.__func__)
        def either(*args: Any, **kwargs: Any) -> Any:
            subject = args[0] if args else kwargs.get("program", kwargs.get("f"))
            point = args[1] if len(args) > 1 else kwargs.get("variables")
            if not is_function(subject) or isinstance(inside(point), Mapping):
                return of_programs(*args, **kwargs)
            given = {"client": client, **kwargs}
            try:
                declared.bind(*args, **given)
            except TypeError as error:
                raise UsageError(f"{of_programs.__name__}: {error}", hint=hints.BY_NAME) from None
            return self._transform(*args, **given)

        awaits = getattr(owner, "awaits", False)
        if awaits not in self._signatures:
            self._signatures[awaits] = _merged(of_programs, self._transform)
        either.__signature__ = self._signatures[awaits]  # type: ignore[attr-defined]
        return public(either)


def _merged(of_programs: Callable[..., Any], transform: Callable[..., Any]) -> Signature:
    """The signature of a method for programs, with the keywords of that for functions."""
    ours, others = inspect.signature(of_programs), inspect.signature(transform)
    known = {*ours.parameters, "f", "client", "primals", "cotangents"}
    further = [
        parameter.replace(kind=parameter.KEYWORD_ONLY)
        for name, parameter in others.parameters.items()
        if name not in known
    ]
    return ours.replace(
        parameters=[*ours.parameters.values(), *further],
        return_annotation=f"{ours.return_annotation} | {others.return_annotation}",
    )


def also_of(transform: Callable[F, R]) -> Callable[[sent[P, A, T]], OfBoth[F, R, P, A, T]]:
    """Let a method of programs take a Python function and apply ``transform`` to it."""

    def decorated(method: sent[P, A, T]) -> OfBoth[F, R, P, A, T]:
        return _OfBoth(transform, method)

    return decorated
