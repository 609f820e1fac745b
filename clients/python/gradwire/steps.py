"""Answers that take several requests: generators of what to do, that are sent what came of it.

Each is written once: a client that waits follows it, and so does one whose answers are awaited.

>>> def descend(program: Program, x: float) -> Steps[float]:
...     while True:
...         answer = yield from endpoints.gradient(program_at(program, {"x": x}), {"sources": "x"})
...         if abs(answer.gradients) < 1e-6:
...             return x
...         x -= 0.1 * answer.gradients
>>> client.run(descend("(x - 3)**2", 0.0))

``yield from`` makes a step of a ``Call``, of ``Work``, and of other steps, each with the type of
what it comes to. An error is raised in the generator, where the step was asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from gradwire.call import Call

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Conversation(Protocol[T_co]):
    """What a client answers: a ``Call``, ``Work``, or steps that are made of them."""

    def __iter__(self) -> Generator[Call[Any] | BlockingStep[Any], Any, T_co]: ...


class Fetch(Protocol):
    """Waits for an answer, and returns it."""

    def __call__(self, asked: Conversation[T], /) -> T: ...


@dataclass(frozen=True, slots=True)
class BlockingStep(Generic[T]):
    """What is computed here, of answers that it fetches when it finds that it needs them.

    This is for what cannot be a generator, as the user's own functions. A client that is awaited
    gives it a thread, so that all else goes on.
    """

    function: Callable[[Fetch], T]

    def __iter__(self) -> Generator[BlockingStep[T], Any, T]:
        answer: T = yield self
        return answer


#: A conversation that comes to ``T``.
Steps: TypeAlias = Generator[Call[Any] | BlockingStep[Any], Any, T]


class Send(Protocol):
    """Sends a call and waits for what its reply reads as."""

    def __call__(self, call: Call[T], /) -> T: ...


class SendAsync(Protocol):
    """Sends a call; what its reply reads as is awaited."""

    def __call__(self, call: Call[T], /) -> Coroutine[Any, Any, T]: ...


def drive(asked: Conversation[T], send: Send) -> T:
    """Take step after step, waiting for each, and return what they come to."""

    def fetch(other: Conversation[Any], /) -> Any:
        return drive(other, send)

    steps = iter(asked)
    try:
        step = next(steps)
        while True:
            try:
                came = step.function(fetch) if isinstance(step, BlockingStep) else send(step)
            except BaseException as error:  # noqa: BLE001 - the steps may have to clean up
                step = steps.throw(error)
            else:
                step = steps.send(came)
    except StopIteration as end:
        answer: T = end.value
        return answer


async def drive_async(asked: Conversation[T], send: SendAsync) -> T:
    """The same, awaiting each step; work is done in a thread, of which the loop is no part."""
    steps = iter(asked)
    try:
        step = next(steps)
        while True:
            try:
                came = await (
                    _in_thread(step, send) if isinstance(step, BlockingStep) else send(step)
                )
            except BaseException as error:  # noqa: BLE001 - the steps may have to clean up
                step = steps.throw(error)
            else:
                step = steps.send(came)
    except StopIteration as end:
        answer: T = end.value
        return answer


async def _in_thread(blocking: BlockingStep[T], send: SendAsync) -> T:
    """Do work in a thread; what it fetches, it waits for while this loop sends it."""
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
