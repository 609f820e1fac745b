import asyncio
import contextvars
import threading
from typing import Any, assert_type

import gradwire
import numpy as np
import pytest
from gradwire import endpoints
from gradwire.call import BlockingStep, Call, Conversation, Fetch, Steps
from gradwire.endpoints import program_at
from gradwire.methods import sent

VALLEY = "(1 - x)**2 + 100 * (y - x**2)**2"


def gradient(program: str, **variables: Any) -> Call[gradwire.Gradient]:
    return endpoints.gradient(program_at(program, variables), {})


def value(x: float) -> Call[gradwire.Evaluation]:
    return endpoints.evaluation(program_at("x", {"x": x}), {})


class Asking(gradwire.Client):
    """A client whose methods make several requests."""

    @sent
    def countdown(self, program: str, x: float) -> Steps[int]:
        """How often a program is applied until the value is no longer positive."""
        steps = 0
        while x > 0:
            x = (yield from gradwire.Client.evaluate(None, program, {"x": x})).outputs
            steps += 1
        return steps


class AskingAsync(gradwire.AsyncClient):
    countdown = Asking.__dict__["countdown"]


def run_blocking(url: str, asked: Conversation[Any]) -> Any:
    with gradwire.Client(url) as client:
        return client.run(asked)


def run_awaiting(url: str, asked: Conversation[Any]) -> Any:
    async def run():
        async with gradwire.AsyncClient(url) as client:
            return await client.run(asked)

    return asyncio.run(run())


@pytest.fixture(params=[run_blocking, run_awaiting], ids=["blocking", "awaiting"])
def run(request, service_url):
    return lambda asked: request.param(service_url, asked)


def newton(x: float, y: float) -> Steps[tuple[float, float]]:
    """The minimum of the valley; each request depends on the previous response."""
    while True:
        answer = yield from endpoints.hessian(program_at(VALLEY, {"x": x, "y": y}), {})
        slope = np.array([answer.gradients[name] for name in "xy"])
        if np.abs(slope).max() < 1e-9:
            return x, y
        rows = np.array([[answer.hessian[a][b] for b in "xy"] for a in "xy"])
        x, y = np.array([x, y]) - np.linalg.solve(rows, slope)


def test_later_steps_depend_on_earlier_results(run):
    assert run(newton(-1.2, 1.0)) == pytest.approx((1.0, 1.0))


def test_a_single_call_can_be_run(run):
    assert run(gradient("x**2", x=3.0)).gradients == {"x": 6.0}


def test_steps_can_be_nested(run):
    def both() -> Steps[list[tuple[float, float]]]:
        first = yield from newton(-1.2, 1.0)
        second = yield from newton(0.5, 0.5)
        return [first, second]

    np.testing.assert_allclose(run(both()), 1.0)


def test_steps_without_a_request_can_be_run(run):
    def none() -> Steps[str]:
        yield from ()
        return "nothing"

    assert run(none()) == "nothing"


def test_errors_are_raised_inside_the_step(run):
    def retreat() -> Steps[float]:
        try:
            yield from gradient("q(x)", x=3.0)
        except gradwire.UnknownOperation:
            return float((yield from gradient("x**2", x=3.0)).value)
        raise AssertionError

    assert run(retreat()) == 9.0


def test_unhandled_errors_of_steps_reach_the_caller(run):
    cleaned = []

    def steps() -> Steps[None]:
        try:
            yield from gradient("q(x)", x=3.0)
        finally:
            cleaned.append(True)

    with pytest.raises(gradwire.UnknownOperation):
        run(steps())
    assert cleaned


def test_blocking_work_can_fetch_results(run):
    def halve_until_small(fetch: Fetch) -> float:
        x = 8.0
        while fetch(gradient("x**2", x=x)).value > 1.0:
            x /= 2.0
        return x

    def steps() -> Steps[float]:
        least = yield from BlockingStep(halve_until_small)
        return least + float((yield from gradient("x**2", x=least)).value)

    assert run(BlockingStep(halve_until_small)) == 1.0
    assert run(steps()) == 2.0


def test_blocking_work_can_fetch_steps_and_other_work(run):
    def inner(fetch: Fetch) -> float:
        return fetch(newton(-1.2, 1.0))[0] + fetch(value(1.0)).outputs

    def outer(fetch: Fetch) -> float:
        assert threading.current_thread() is found.setdefault("thread", threading.current_thread())
        return fetch(BlockingStep(inner)) + fetch(BlockingStep(inner))

    found: dict[str, threading.Thread] = {}
    assert run(BlockingStep(outer)) == pytest.approx(4.0)


def test_errors_of_blocking_work_are_raised_in_the_steps(run):
    def steps(work: BlockingStep[Any], expected: type[Exception]) -> Steps[bool]:
        try:
            yield from work
        except expected:
            return True
        return False

    assert run(
        steps(BlockingStep(lambda fetch: fetch(gradient("q(x)", x=1.0))), gradwire.UnknownOperation)
    )
    assert run(steps(BlockingStep(lambda _: 1 // 0), ZeroDivisionError))


def test_blocking_work_has_the_callers_context(run):
    variable = contextvars.ContextVar("variable", default="unset")
    variable.set("set")
    assert run(BlockingStep(lambda _: variable.get())) == "set"


async def test_blocking_work_does_not_block_the_event_loop(service_url):
    told = threading.Event()
    async with gradwire.AsyncClient(service_url) as client:
        working = asyncio.create_task(client.run(BlockingStep(lambda _: told.wait())))
        await client.evaluate("x", {"x": 3})  # while the blocking work waits
        told.set()
        assert await working


async def test_cancelled_blocking_work_fetches_nothing(service_url):
    began, cancelled, ended = threading.Event(), threading.Event(), threading.Event()
    fetched = []

    def work(fetch: Fetch) -> None:
        began.set()
        cancelled.wait()
        try:
            fetched.append(fetch(gradient("x**2", x=1.0)))
        finally:
            ended.set()

    async with gradwire.AsyncClient(service_url) as client:
        working = asyncio.create_task(client.run(BlockingStep(work)))
        await asyncio.to_thread(began.wait)
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working
        cancelled.set()
        assert await asyncio.to_thread(ended.wait, 30.0)
    assert not fetched


async def test_a_function_that_builds_steps_is_a_method_of_both_clients(service_url):
    with Asking(service_url) as client:
        assert client.countdown("x - 1", 3.0) == 3
    async with AskingAsync(service_url) as other:
        assert await other.countdown("x - 1", 3.0) == 3


def walked(fetch: Fetch) -> tuple[float, float]:
    return fetch(newton(1.0, 1.0))


def types_that_the_checker_sees(client: Asking) -> None:  # never run
    assert_type(client.countdown("x", 3.0), int)
    assert_type(client.run(newton(1.0, 1.0)), tuple[float, float])
    assert_type(client.run(gradient("x", x=1.0)), gradwire.Gradient)
    work = BlockingStep(walked)
    assert_type(client.run(work), tuple[float, float])
    assert_type(Asking.countdown(client, "x", 3.0), Steps[int])
