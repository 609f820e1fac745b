import asyncio
import gc
import os
import subprocess
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, cast

import gradwire
import numpy as np
import pytest
from fastapi import FastAPI
from gradwire.call import Call
from gradwire.local import LocalTransport, Running, _serve
from threadpoolctl import threadpool_info, threadpool_limits

ENDLESS = "while x < 1e300:\n    x = x + 1\nx"
#: Settings with which nothing ends what nobody waits for, but that it is cancelled.
PATIENT: dict[str, Any] = {"default_timeout_ms": 3_600_000, "max_timeout_ms": 3_600_000}


def threads() -> set[threading.Thread]:
    """The threads that run services."""
    return {thread for thread in threading.enumerate() if thread.name == "gradwire"}


@pytest.fixture(scope="module")
def local():
    with gradwire.Client.local(**PATIENT) as client:
        yield client


def test_a_local_service_answers_like_a_remote_one(local, client):
    variables = {"x": np.linspace(0.0, 1.0, 100_000), "w": 2.0}
    for ask in (
        lambda one: one.gradient("sum(tanh(w * x))", variables),
        lambda one: one.hessian("w**3 * sum(x)", variables, sources="w"),
        lambda one: one.check("sum(x * w)", {"x": [1.0, 2.0], "w": 3.0}),
        lambda one: one.explain("sum(x * w)", {"x": [1.0, 2.0], "w": 3.0}),
    ):
        assert ask(local).raw.content == ask(client).raw.content


def test_the_address_local_runs_a_service(monkeypatch):
    before = threads()
    with gradwire.Client("local") as client:
        assert client.evaluate("x + 1", {"x": 1.0}).outputs == 2.0
    assert repr(client) == "Client('http://gradwire.local')"
    monkeypatch.setenv("GRADWIRE_URL", "local")
    with gradwire.Client() as client:
        assert client.evaluate("x + 1", {"x": 1.0}).outputs == 2.0
    assert threads() == before


def test_errors_are_those_of_the_service(local):
    with pytest.raises(gradwire.ShapeMismatch, match="line 1: a @ b") as caught:
        local.evaluate("a @ b", {"a": np.ones((2, 3)), "b": np.ones((2, 3))})
    assert caught.value.request_id


def test_tapes_and_references_work(local):
    with local.tape("h = x**2\nsum(h)", {"x": [1.0, 2.0]}) as tape:
        np.testing.assert_array_equal(tape.gradient(sources="x").gradients, [2.0, 4.0])
    for _ in range(4):
        assert local.evaluate("sum(x)", {"x": np.ones(10_000)}).outputs == 10_000
    assert len(local.evaluate("x", {"x": 1.0}).raw.request.content) < 100


def test_threads_may_share_a_local_client(local):
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda x: local.evaluate("x**2", {"x": x}).outputs, range(50)))
    assert answers == [float(x * x) for x in range(50)]


def test_timeouts_apply_to_local_services(local):
    with pytest.raises(gradwire.RequestTimeout):
        local.with_options(timeout=0.05).evaluate(ENDLESS, {"x": 0.0})
    assert local.evaluate("x", {"x": 1.0}).outputs == 1.0


class Interrupting:
    """An event loop; who hands it a call is interrupted before that returns."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def call_soon_threadsafe(self, *call: Any) -> None:
        self._loop.call_soon_threadsafe(*call)
        raise KeyboardInterrupt


def test_an_interrupt_ends_what_has_just_begun():
    with gradwire.Client.local(**PATIENT) as client:
        transport = cast("LocalTransport", client._http._transport)
        running = transport._running
        transport._running = running._replace(loop=cast("Any", Interrupting(running.loop)))
        with pytest.raises(KeyboardInterrupt):
            client.evaluate(ENDLESS, {"x": 0.0})
        transport._running = running
        assert client.evaluate("x", {"x": 1.0}).outputs == 1.0


def test_a_local_async_client_works_on_any_event_loop():
    client = gradwire.AsyncClient.local(**PATIENT)

    async def gather(count):
        asked = [client.evaluate("x**2", {"x": x}) for x in range(count)]
        return [float(answer.outputs) for answer in await asyncio.gather(*asked)]

    async def timed_out():
        with pytest.raises(gradwire.RequestTimeout):
            await client.with_options(timeout=0.05).evaluate(ENDLESS, {"x": 0.0})
        await client.close()

    assert asyncio.run(gather(3)) == [0.0, 1.0, 4.0]
    assert asyncio.run(gather(2)) == [0.0, 1.0]
    before = threads()
    asyncio.run(timed_out())
    assert len(before - threads()) == 1


def test_settings_are_those_of_the_service():
    with gradwire.Client.local(max_array_bytes=1000) as client, pytest.raises(gradwire.OverBudget):
        client.evaluate("zeros(1000)")
    with pytest.raises(TypeError, match="the service has no setting max_arays, store_name"):
        gradwire.Client.local(store_name=3, max_arays=4)


def test_a_file_store_outlives_the_client(tmp_path):
    store = f"sqlite:{tmp_path / 'store'}"
    document = {"program": "x + 1", "name": "next"}
    with gradwire.Client.local(store=store) as client:
        client.send(Call("POST", "/v1/programs", document, lambda _: None))
    with gradwire.Client.local(store=store) as client:
        assert client.evaluate({"name": "next"}, {"x": 1.0}).outputs == 2.0


def test_closing_the_client_stops_the_service():
    before = threads()
    client = gradwire.Client.local()
    (thread,) = threads() - before
    with client.with_options(timeout=600.0) as other:  # a copy, which does not own the service
        other.evaluate("x", {"x": 1.0})
    assert thread.is_alive()
    client.close()
    client.close()
    assert not thread.is_alive()
    with pytest.raises(gradwire.UsageError, match="closed"):
        client.evaluate("x", {"x": 1.0})


def test_matrix_products_use_the_services_number_of_threads():
    def of_blas():
        return {
            library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
        }

    with threadpool_limits(2):
        with gradwire.Client.local(blas_threads=1) as client:
            client.evaluate("x", {"x": 1.0})
            assert of_blas() == {1}
        assert of_blas() == {2}


@pytest.mark.thorough
def test_the_service_of_a_garbage_collected_client_stops():
    before = threads()
    client = gradwire.Client.local()
    (thread,) = threads() - before
    del client
    gc.collect()
    thread.join()


def test_a_service_that_fails_to_start_says_why():
    @asynccontextmanager
    async def failing(_):
        yield 1 // 0

    running = Future[Running]()
    _serve(FastAPI(lifespan=failing), running)
    with pytest.raises(ZeroDivisionError):
        running.result(0)


def test_a_missing_service_package_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "gradwire_service.app", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'gradwire\[local\]'"):
        gradwire.Client.local()


def test_the_sdk_imports_the_service_only_when_needed():
    code = "import sys, gradwire; sys.exit(any(m.startswith('gradwire_') for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


#: Three clients stay open: a service's own, the default one and an asynchronous one.
OPEN = """
import asyncio, gradwire
client = gradwire.Client.local()
client.evaluate("1")
gradwire.grad(lambda x: x * x)(3.0)
awaiting = gradwire.AsyncClient()
asyncio.run(awaiting.evaluate("1"))
"""


@pytest.mark.thorough
def test_a_program_with_open_clients_exits_silently():
    ended = subprocess.run(
        [sys.executable, "-c", OPEN],
        env={**os.environ, "GRADWIRE_URL": "local"},
        capture_output=True,
        check=True,
    )
    assert (ended.stdout, ended.stderr) == (b"", b"")
