"""Asynchronous clients in several event loops."""

import asyncio
import gc
import threading
import traceback
import warnings

import gradwire
import httpx
import pytest

ASKED = {"x": 3.0}


async def ask(client):
    return (await client.gradient("x**2", ASKED)).gradients["x"]


def test_a_client_may_be_used_by_one_loop_after_another(service_url):
    client = gradwire.AsyncClient(service_url)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is left open
        for _ in range(3):
            assert asyncio.run(ask(client)) == 6.0
        gc.collect()
    assert len(client._http._transport._pools) == 1  # type: ignore[attr-defined]

    async def ended():
        async with client:
            assert await ask(client) == 6.0
        with pytest.raises(gradwire.UsageError, match="closed") as told:
            await ask(client)
        assert told.value.hint

    asyncio.run(ended())
    with pytest.raises(gradwire.UsageError, match="closed"):
        asyncio.run(ask(client))


def test_a_client_may_be_used_by_several_loops_at_once(service_url):
    client, both, found = gradwire.AsyncClient(service_url), threading.Barrier(2), []

    async def several():
        assert await ask(client) == 6.0
        await asyncio.to_thread(both.wait)  # now both loops have a connection
        found.extend(await asyncio.gather(*(ask(client) for _ in range(5))))
        await asyncio.to_thread(both.wait)

    threads = [threading.Thread(target=asyncio.run, args=(several(),)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [6.0] * 10


def test_options_and_streams_are_shared_by_loops(service_url):
    client = gradwire.AsyncClient(service_url)

    async def minimum():
        job = await client.with_options(timeout=60).minimize(
            "(x - 3)**2", {"x": 0.0}, background=True
        )
        return [progress async for progress in job], (await job.result()).x["x"]

    for _ in range(2):
        assert asyncio.run(minimum())[1] == pytest.approx(3.0)


def test_closing_in_one_loop_closes_those_of_others(service_url):
    client = gradwire.AsyncClient(service_url)
    opened, closed = threading.Event(), threading.Event()

    async def waits():
        assert await ask(client) == 6.0
        opened.set()
        await asyncio.to_thread(closed.wait)
        with pytest.raises(gradwire.UsageError, match="closed"):
            await ask(client)

    other = threading.Thread(target=asyncio.run, args=(waits(),))
    other.start()
    opened.wait()
    asyncio.run(client.close())
    closed.set()
    other.join()
    assert client._http._transport._pools == {}  # type: ignore[attr-defined]


def _hint_in_another_loop(url):
    """The hint of a client whose connections belong to a loop that has ended."""
    client = gradwire.AsyncClient(url, http_client=httpx.AsyncClient())
    assert asyncio.run(ask(client)) == 6.0
    with pytest.raises(gradwire.UsageError, match="loop") as told:
        asyncio.run(ask(client))
    hint = told.value.hint
    for error in (told.value, told.value.__cause__):
        assert error is not None
        traceback.clear_frames(error.__traceback__)
    return hint


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_http_client_of_another_loop_is_named(service_url):
    assert "make one for each loop" in _hint_in_another_loop(service_url)
    gc.collect()  # of connections that nobody can close


def test_a_local_service_answers_any_loop():
    client = gradwire.AsyncClient.local()
    assert [asyncio.run(ask(client)) for _ in range(2)] == [6.0, 6.0]
    asyncio.run(client.close())
