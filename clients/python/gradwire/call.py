"""Calls as values, and conversations: generators that yield calls and are sent the answers.

A call is a document to send and a function that reads the reply. A conversation of several is
written once, for the synchronous and the asynchronous client.

>>> def descend(program: Program, x: float) -> Steps[float]:
...     while True:
...         answer = yield from endpoints.gradient(program_at(program, {"x": x}), {"sources": "x"})
...         if abs(answer.gradients) < 1e-6:
...             return x
...         x -= 0.1 * answer.gradients
>>> client.run(descend("(x - 3)**2", 0.0))

``yield from`` takes a ``Call``, a ``BlockingStep`` or other steps, and has the type of the result.
An error is raised in the generator, at the ``yield``. No I/O here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar

import httpx

from gradwire.errors import UsageError
from gradwire.events import ServerEvent
from gradwire.usage import short_traceback

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Reply:
    """A successful answer: its document, if it has one, and the response that carried it."""

    document: Any
    response: httpx.Response


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A request that may be sent any number of times, and the reading of its reply."""

    method: str
    path: str
    #: The body, if the method has one: in most cases a mapping.
    document: Any
    read: Callable[[Reply], T]
    #: The program's text, for the line that an error shows.
    source: str | None = None
    #: The encoded document, if it has been encoded already.
    content: bytes | None = None
    #: The idempotency key; by default each call has one of its own, and if empty none.
    key: str | None = None
    #: Whether the answer is to be a job at once.
    prefers_job: bool = False
    #: The time limit of each attempt, if it is not the client's.
    timeout_seconds: float | None = None
    #: If the answer is a stream of events: reads each, until one gives a result. ``read`` is then
    #: not used, and the result of a stream that ends before is ``None``.
    hear: Callable[[ServerEvent], T | None] | None = None
    #: The event after which a stream begins, if not with the first.
    last_event_id: str | None = None

    def __iter__(self) -> Generator[Call[T], Any, T]:
        """A single step: ``answer = yield from call`` has the type that the reply reads as."""
        answer: T = yield self
        return answer


class Conversation(Protocol[T_co]):
    """A ``Call``, a ``BlockingStep``, or steps that are made of them."""

    def __iter__(self) -> Generator[Call[Any] | BlockingStep[Any], Any, T_co]: ...


class Fetch(Protocol):
    """Waits for an answer, and returns it."""

    def __call__(self, conversation: Conversation[T], /) -> T: ...


@dataclass(frozen=True, slots=True)
class BlockingStep(Generic[T]):
    """A blocking function that fetches answers when it needs them.

    For code that cannot be a generator, such as users' functions. An asynchronous client runs it
    in a thread, so that the event loop is not blocked.
    """

    function: Callable[[Fetch], T]

    def __iter__(self) -> Generator[BlockingStep[T], Any, T]:
        answer: T = yield self
        return answer


#: The steps of a conversation with the result ``T``.
Steps: TypeAlias = Generator[Call[Any] | BlockingStep[Any], Any, T]


_CALLS: Final = "client.request(method, path, document) sends any request of the protocol"

#: Sends a call and returns the answer, or a coroutine of it.
Send: TypeAlias = Callable[[Call[Any]], Any]
SendAsync: TypeAlias = Callable[[Call[Any]], Coroutine[Any, Any, Any]]


def check_call(call: Any) -> None:
    """Refuse a value that is not a call."""
    if not isinstance(call, Call):
        raise UsageError(f"expected a call, got {type(call).__name__}", hint=_CALLS)


def _steps(conversation: Any) -> Steps[Any]:
    """The steps of a conversation; refuse a value that has none."""
    if not isinstance(conversation, Call | BlockingStep | Generator):
        got = type(conversation).__name__
        raise UsageError(f"expected a call or a generator of calls, got {got}", hint=_CALLS)
    return iter(conversation)


def drive(conversation: Conversation[T], send: Send) -> T:
    """Run a conversation, waiting for each step, and return its result."""

    def fetch(other: Conversation[Any], /) -> Any:
        return drive(other, send)

    steps = _steps(conversation)
    try:
        step = next(steps)
        while True:
            try:
                result = step.function(fetch) if isinstance(step, BlockingStep) else send(step)
            except BaseException as error:  # noqa: BLE001 - the steps may have to clean up
                step = steps.throw(error)
            else:
                step = steps.send(result)
    except StopIteration as end:
        answer: T = end.value
        return answer


async def drive_async(conversation: Conversation[T], send: SendAsync) -> T:
    """Run a conversation, awaiting each step; blocking steps run in a thread."""
    with short_traceback():
        return await _drive_async(conversation, send)


async def _drive_async(conversation: Conversation[T], send: SendAsync) -> T:
    steps = _steps(conversation)
    try:
        step = next(steps)
        while True:
            try:
                result = await (
                    _in_thread(step, send) if isinstance(step, BlockingStep) else send(step)
                )
            except BaseException as error:  # noqa: BLE001 - the steps may have to clean up
                step = steps.throw(error)
            else:
                step = steps.send(result)
    except StopIteration as end:
        answer: T = end.value
        return answer


async def _in_thread(blocking: BlockingStep[T], send: SendAsync) -> T:
    """Run a blocking step in a thread; its calls are sent by this event loop."""
    loop = asyncio.get_running_loop()
    awaited = True

    def send_from_there(call: Call[Any], /) -> Any:
        if not awaited:
            raise asyncio.CancelledError
        return asyncio.run_coroutine_threadsafe(send(call), loop).result()

    def fetch(other: Conversation[Any], /) -> Any:
        return drive(other, send_from_there)

    try:
        return await asyncio.to_thread(blocking.function, fetch)
    finally:
        awaited = False  # a thread cannot be stopped, but need not be served
