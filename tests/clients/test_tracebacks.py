"""Errors end in the caller's line: tracebacks have no frames of the SDK, nor of what it uses."""

import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import gradwire
import httpx
import numpy as np
import pytest
from gradwire.optimization.handles import JobDocument
from gradwire.optimization.jobs import Job

NOWHERE = "http://127.0.0.1:1"
NOW = datetime.now(UTC)
RUNNING = JobDocument("job:nothing", "minimize", "running", NOW)
STORED = gradwire.StoredTensor("sha256:0", np.dtype(float), (2,), 16, NOW)
HERE = str(Path(__file__))


def not_one(x):
    return str(x.shape)


def calls(client: gradwire.Client) -> dict[str, Callable[[], Any]]:
    """Calls of each kind of entry, with a client that reaches nobody."""
    return {
        "method": lambda: client.gradient("x", {"x": 1.0}),
        "method of both": lambda: client.jacobian("x", {"x": 1.0}),
        "function of variables": lambda: client.value_and_grad("x")(x=1.0),
        "optimisation": lambda: client.minimize("x", {"x": 1.0}),
        "optimisation by the module": lambda: gradwire.minimize("x", {"x": 1.0}, client=client),
        "tape": lambda: client.tape("x", {"x": 1.0}),
        "resource": client.programs.list,
        "listed jobs": client.jobs.list,
        "job": lambda: client.jobs.get("job:nothing"),
        "events": lambda: [*client.jobs.events("job:nothing")],
        "events of a job": lambda: [*Job(client, RUNNING)],
        "stored array": lambda: np.sin(STORED),
        "short tape": lambda: client.tapes.create("x", {"x": 1.0}),
        "recorded function": lambda: gradwire.function(np.sin, client)(1.0),
        "transform": lambda: gradwire.grad(np.sin, client=client)(1.0),
        "product": lambda: client.jvp(np.sin, (1.0,), (1.0,)),
        "wrong value": lambda: client.evaluate("x", {"x": object()}),
        "wrong arguments": lambda: client.evaluate(None),  # type: ignore[arg-type]
        "wrong function": lambda: gradwire.grad(3),  # type: ignore[call-overload]
        "wrong address": lambda: gradwire.Client("here"),
        "wrong text": lambda: gradwire.program("x +", "x"),
        "not recorded": lambda: gradwire.grad(not_one, client=client)(1.0),
    }


@pytest.fixture(scope="module")
def refused():
    with gradwire.Client(NOWHERE, max_retries=0) as client:
        yield client


@pytest.mark.parametrize("kind", calls(gradwire.Client(NOWHERE)))
def test_only_lines_of_the_caller_are_shown(refused, kind):
    with pytest.raises(gradwire.GradwireError) as caught:
        calls(refused)[kind]()
    error = caught.value
    assert {frame.filename for frame in traceback.extract_tb(error.__traceback__)} == {HERE}
    shown = "".join(traceback.format_exception(error))
    assert len(shown.splitlines()) < 20
    assert "Traceback" in shown
    assert shown.count("Traceback") == 1


async def test_awaited_answers_fail_in_the_line_that_awaits():
    async with gradwire.AsyncClient(NOWHERE, max_retries=0) as client:
        with pytest.raises(gradwire.TransportError) as caught:
            await client.gradient("x", {"x": 1.0})
    assert {frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)} == {HERE}
    assert caught.value.__cause__ is not None


def test_the_lines_of_a_recorded_function_stay(client):
    def divides(x):
        return x + 1 / 0

    def compares(x):
        return np.sum(x) if f"{object.__getattribute__(x, 'nothing')}" else x

    with pytest.raises(ZeroDivisionError) as own:
        client.grad(divides)(np.ones(2))
    assert traceback.extract_tb(own.value.__traceback__)[-1].name == "divides"
    with pytest.raises(Exception, match="nothing") as caught:
        client.grad(compares)(np.ones(2))
    causes = traceback.format_exception(caught.value)
    assert "in compares" in "".join(causes)


class Failing(httpx.BaseTransport):
    """A transport of the user's, with an error of its own behind that of the connection."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        try:
            raise LookupError("no route")
        except LookupError as error:
            raise httpx.ConnectError("nobody there", request=request) from error


def test_the_lines_and_causes_of_a_users_transport_stay():
    pool = httpx.Client(transport=Failing())
    client = gradwire.Client(NOWHERE, max_retries=0, http_client=pool)
    with pool, pytest.raises(gradwire.TransportError) as caught:
        client.evaluate("x", {"x": 1.0})
    shown = "".join(traceback.format_exception(caught.value))
    assert "LookupError: no route" in shown
    assert shown.count("in handle_request") == 2
    assert "httpx/" not in shown


def test_faults_of_the_sdk_are_shown_with_their_lines(client, monkeypatch):
    """They are no wrong use: what is left out are frames in which nothing is to be found."""

    def fails(*_: Any, **__: Any) -> None:
        raise TypeError("a fault of ours")

    monkeypatch.setattr("gradwire.values.members", fails)
    monkeypatch.setitem(fails.__globals__, "__name__", "gradwire.test")
    with pytest.raises(gradwire.UsageError, match="a fault of ours") as encoded:
        client.evaluate("x", {"x": [1.0]})
    assert "in fails" in "".join(traceback.format_exception(encoded.value))
    monkeypatch.setattr("gradwire.tracing.transforms._tuples", fails)
    with pytest.raises(TypeError, match="a fault of ours") as product:
        client.jvp(np.sin, (1.0,), (1.0,))
    assert not isinstance(product.value, gradwire.GradwireError)


def arguments_of(name: str) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Arguments that the transform of a method does not take."""
    several = name in ("jvp", "hvp")
    point: tuple[Any, ...] = ((1.0,), (1.0,)) if several else ()
    return [
        ((np.sin, *point), {"nothing": 1}),
        ((np.sin, *point), {"sources": "x"}),
        ((np.sin, *point, 1, 2), {}),
    ]


@pytest.mark.parametrize("name", ["jacobian", "hessian", "jvp", "hvp"])
@pytest.mark.parametrize("place", range(3))
def test_arguments_that_a_transform_does_not_take_are_refused(client, name, place):
    args, kwargs = arguments_of(name)[place]
    with pytest.raises(gradwire.UsageError) as caught:
        getattr(client, name)(*args, **kwargs)
    assert "by name" in caught.value.hint
    assert {frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)} == {HERE}


class AsyncFailing(httpx.AsyncBaseTransport):
    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("nobody there", request=request)


async def awaited_calls(client: gradwire.AsyncClient) -> dict[str, Callable[[], Any]]:
    async def events() -> None:
        async for _ in client.jobs.events("job:nothing"):
            pass

    return {
        "get": lambda: client.jobs.get("job:nothing"),
        "list": client.jobs.list,
        "events": events,
    }


@pytest.mark.parametrize("kind", ["get", "list", "events"])
async def test_only_lines_of_the_caller_are_shown_of_awaited_jobs(kind):
    pool = httpx.AsyncClient(transport=AsyncFailing())
    async with pool:
        client = gradwire.AsyncClient(NOWHERE, max_retries=0, http_client=pool)
        calls = await awaited_calls(client)
        with pytest.raises(gradwire.TransportError) as caught:
            await calls[kind]()
    assert {frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)} == {HERE}
