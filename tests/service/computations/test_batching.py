"""Batches: each request gets the same response as on its own."""

import asyncio
import base64
import re
import threading
from functools import cache
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_service.computations import batching
from gradwire_service.computations.batching import ReplayTimes
from gradwire_service.wire.packing import pack
from gradwire_service.wire.unpacking import unpack

from tests.clock import ClockLoop, loop_clock
from tests.service.held import Held

#: Enough NumPy calls for a replay to be worth batching.
CHAIN = "h = x\n" + "\n".join(f"h = tanh(h * {k / 160} + x * w)" for k in range(80))
#: About 40 ms of work.
LONG = {
    "program": "s = x\nfor i in range(20000):\n    s = tanh(s + x * sin(s))\nsum(s)",
    "variables": {"x": [0.1, 0.2]},
}
RNG = np.random.default_rng(32)
#: Seconds that a request waits for others.
WINDOW = 0.002


@pytest.fixture(scope="module")
def anyio_backend():
    """Windows end as soon as all requests that have arrived wait for others."""
    return "asyncio", {"loop_factory": ClockLoop}


@pytest.fixture
def batching_of(served, monkeypatch):
    """Starts a service where batches always pay, however fast this machine is just now."""
    record = ReplayTimes.record_single
    monkeypatch.setattr(ReplayTimes, "record_single", lambda times, _: record(times, 1000.0))

    def serve(**settings):
        # Time passes by leaps where threads compute: nobody waits too long for them.
        window = {"batch_window_microseconds": WINDOW * 1e6, "queue_seconds": 1e9}
        return served(clock=loop_clock(), **window | settings)

    return serve


@pytest.fixture
async def together(batching_of):
    """A client of a service with batching."""
    async with batching_of() as client:
        yield client


def asked(**more):
    values = {"x": RNG.normal(size=8).tolist(), "w": RNG.normal(size=8).tolist()}
    return {"program": CHAIN, "variables": values, **more}


async def warmed(client, path="/v1/gradient", **request):
    """Send requests one by one until the replay is fully compiled."""
    for _ in range(6):
        response = await client.post(path, json=request)
    return response


async def counts(client, *names):
    """The values of a counter, by its labels."""
    text = (await client.get("/metrics")).text
    found = re.findall(rf"^(?:{'|'.join(names)})_total(\S*) (\S+)", text, re.MULTILINE)
    return {labels: float(count) for labels, count in found}


async def joint(client):
    """The number of requests answered in batches so far."""
    return (await counts(client, "gradwire_joint")).get("", 0)


async def replays(client):
    """The number of batched replays so far."""
    return (await counts(client, "gradwire_joint_replays")).get("", 0)


async def at_once(client, requests, path="/v1/gradient"):
    """The responses to requests that are sent concurrently."""
    return await asyncio.gather(*[client.post(path, json=r) for r in requests])


async def at_once_till_joint(client, requests, path="/v1/gradient"):
    """The same, repeated until a batch of this size is compiled."""
    for _ in range(10):
        before = await joint(client)
        responses = await at_once(client, requests, path)
        if await joint(client) - before > len(requests) // 2:
            return responses
        await asyncio.sleep(0.02)  # until what a thread compiles is there
    raise AssertionError("requests are not answered together")


def alike(one, other):
    """True if documents are equal up to rounding."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            alike(one[key], other[key])
    elif isinstance(one, str | None):
        assert one == other
    else:
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


KINDS: dict[str, Any] = {
    "evaluate": {},
    "gradient": {"sources": {"a": "x", "b": None, "c": {"w": "w"}}},
    "jacobian": {"sources": "x"},
    "jvp": {"tangents": {"x": [1.0] * 8}},
    "hvp": {"vectors": {"w": [0.5] * 8}, "target": "h", "outputs": ["h"]},
}


@pytest.mark.parametrize("kind", KINDS)
async def test_batched_responses_equal_single_ones(together, client, kind):
    path, requests = f"/v1/{kind}", [asked(**KINDS[kind]) for _ in range(16)]
    await warmed(together, path, **requests[0])
    responses = await at_once_till_joint(together, requests, path)
    for request, response in zip(requests, responses, strict=True):
        assert response.status_code == 200
        alike(response.json(), (await client.post(path, json=request)).json())
        phases = re.findall(r"(\w+);dur=([\d.]+)", response.headers["server-timing"])
        assert [name for name, _ in phases[:4]] == ["parse", "compile", "replay", "encode"]
        assert float(dict(phases)["replay"]) > 0
    counted = await counts(together, "gradwire_requests", "gradwire_executable_cache")
    (answered,) = [count for labels, count in counted.items() if path in labels]
    assert answered % 16 == 6
    assert counted['{outcome="hit"}'] == answered - 1
    assert counted['{outcome="miss"}'] == 1


async def test_each_request_in_a_batch_has_its_own_encoding(together):
    request = asked(sources="x")
    await warmed(together, **request)
    packed_request = b"".join(map(bytes, pack(request, as_lists=True)))
    headers = {"content-type": "application/msgpack"}
    await at_once_till_joint(together, 12 * [request])
    before = await joint(together)
    lists, octets, packed, *_ = await asyncio.gather(
        together.post("/v1/gradient", json=request),
        together.post("/v1/gradient", json={**request, "encoding": "base64"}),
        together.post("/v1/gradient", content=packed_request, headers=headers),
        *[together.post("/v1/gradient", json=request) for _ in range(9)],
    )
    assert await joint(together) > before
    expected = lists.json()["gradients"]
    found = base64.b64decode(octets.json()["gradients"]["base64"])
    np.testing.assert_allclose(np.frombuffer(found), expected, rtol=1e-12)
    found = unpack(packed.content)["gradients"]["data"]
    np.testing.assert_allclose(np.frombuffer(found), expected, rtol=1e-12)


@pytest.mark.thorough
async def test_only_requests_with_nonfinite_values_report_them(together, client):
    requests = [asked() for _ in range(12)]
    for request in requests:
        request["program"] += "\nsum(log(w + 3)) + sum(h)"
    for request in requests[::5]:
        request["variables"]["w"][0] = -3.0
    await warmed(together, **requests[1])
    responses = await at_once_till_joint(together, requests)
    for k, (request, response) in enumerate(zip(requests, responses, strict=True)):
        assert ("nonfinite" in response.json()) == (k % 5 == 0)
        alone = (await client.post("/v1/gradient", json=request)).json()
        if k % 5:
            alike(response.json(), alone)
        else:
            assert response.json()["nonfinite"] == alone["nonfinite"]


async def test_one_failing_request_does_not_affect_the_others(together):
    requests = [asked() for _ in range(12)]
    for k, request in enumerate(requests):
        request["program"] += "\nsum(inv(m)) + sum(h)"
        request["variables"]["m"] = [[1.0, 0.0], [0.0, float(k % 4)]]
    await warmed(together, **requests[1])
    await at_once_till_joint(together, 12 * [requests[1]])
    responses = await at_once(together, requests)
    assert [r.status_code == 200 for r in responses] == [k % 4 > 0 for k in range(12)]
    for request, response in zip(requests, responses, strict=True):
        alone = await together.post("/v1/gradient", json=request)
        assert response.status_code == alone.status_code
        if alone.status_code == 200:
            alike(response.json(), alone.json())
        else:
            assert response.json()["code"] == alone.json()["code"]
            assert response.json()["node"] == alone.json()["node"]


@pytest.mark.thorough
async def test_only_requests_past_their_deadline_are_stopped(together):
    program = "s = x\nfor i in range(n):\n    s = tanh(s + x * sin(s))\nsum(s)"
    values = {"x": [0.1, 0.2], "n": {"value": 20_000, "dtype": "int64"}}
    request = {"program": program, "variables": values}
    await warmed(together, "/v1/evaluate", **request)
    await at_once_till_joint(together, 6 * [request], "/v1/evaluate")
    # One request's time ends while it waits for others, or while the batch is replayed.
    for timeout_ms, statuses in (1000 * WINDOW / 2, {504}), (20, {200, 504}):
        requests = [request | ({"timeout_ms": timeout_ms} if k == 2 else {}) for k in range(6)]
        before = await joint(together)
        async with Held(together, "/v1/evaluate", {"program": "1"}):
            responses = await at_once(together, requests, "/v1/evaluate")
        assert responses.pop(2).status_code in statuses
        assert {response.status_code for response in responses} == {200}
        assert await joint(together) - before >= 5


async def test_disconnecting_clients_do_not_affect_other_requests(together):
    requests = [asked() for _ in range(12)]
    await warmed(together, **requests[0])
    await at_once_till_joint(together, requests)
    before = await joint(together)
    for _ in range(3):
        made = [asyncio.create_task(together.post("/v1/gradient", json=r)) for r in requests]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        for task in made[::4]:
            task.cancel()
        outcomes: list[Any] = await asyncio.gather(*made, return_exceptions=True)
        assert [isinstance(x, asyncio.CancelledError) for x in outcomes[::4]] == [True] * 3
        assert all(x.status_code == 200 for k, x in enumerate(outcomes) if k % 4)
    assert await joint(together) > before


async def test_a_request_waits_for_others_only_if_there_are_any(together, monkeypatch):
    clock, request = loop_clock(), asked()
    waits, end = [], batching.Batcher._end

    def ended(batcher, batch):
        waits.append(clock())
        end(batcher, batch)

    monkeypatch.setattr(batching.Batcher, "_end", ended)
    await warmed(together, **request)
    for _ in range(10):
        assert (await together.post("/v1/gradient", json=request)).status_code == 200
    assert waits == []
    async with Held(together, "/v1/evaluate", {"program": "1"}):
        began = clock()
        assert (await together.post("/v1/gradient", json=request)).status_code == 200
        assert waits == [pytest.approx(began + WINDOW)]
    assert not await joint(together)


async def test_batches_have_a_maximum_size(batching_of):
    async with batching_of(batch_requests=4) as client:
        requests = [asked() for _ in range(16)]
        await warmed(client, **requests[0])
        responses = await at_once_till_joint(client, requests)
        assert {response.status_code for response in responses} == {200}
        assert await joint(client) == 4 * await replays(client)


@pytest.mark.thorough
async def test_requests_that_arrive_during_a_replay_form_a_batch(together, monkeypatch):
    await warmed(together, "/v1/evaluate", **LONG)
    await at_once_till_joint(together, 6 * [LONG], "/v1/evaluate")
    loop, clock, replay = asyncio.get_running_loop(), loop_clock(), batching._replay_batch
    replaying, go_on = asyncio.Event(), threading.Event()

    def held(*batch):
        loop.call_soon_threadsafe(replaying.set)
        go_on.wait()
        return replay(*batch)

    monkeypatch.setattr(batching, "_replay_batch", held)
    before, replays_before = await joint(together), await replays(together)
    batches = [asyncio.create_task(at_once(together, 6 * [LONG], "/v1/evaluate"))]
    await replaying.wait()
    for _ in range(2):
        batches.append(asyncio.create_task(at_once(together, 3 * [LONG], "/v1/evaluate")))
        for _ in range(100):  # until all of them have joined
            await asyncio.sleep(0)
        clock.advance(2 * WINDOW)
        await asyncio.sleep(0)
    go_on.set()
    responses = [response for batch in batches for response in await batch]
    assert {response.status_code for response in responses} == {200}
    assert await joint(together) - before == 12
    assert await replays(together) - replays_before == 2


async def test_programs_too_long_to_batch_are_answered_singly(batching_of):
    async with batching_of(max_instructions=1600) as client:
        requests = [asked() for _ in range(8)]
        await warmed(client, **requests[0])
        for _ in range(5):
            responses = await at_once(client, requests)
            await asyncio.sleep(0.02)
            assert {response.status_code for response in responses} == {200}
        assert not await joint(client)


async def test_without_a_window_nothing_is_batched(client):
    requests = [asked() for _ in range(16)]
    await warmed(client, **requests[0])
    await at_once(client, requests)
    assert not await joint(client)


@cache
def call(operations):
    """A compiled call with twice this number of operations, each predicted to take 1 µs."""
    text = "\n".join(["h = x", *operations * ["h = sin(h) + x"], "h"])
    engine = Engine()
    made = engine.call(engine.parse(text), {"x": Leaf(np.ones(2))}, Query("evaluate"))
    for _ in range(3):
        made.replay(lambda: None)
    return made


def warm(alone, joins=True):
    times = ReplayTimes(joins)
    for _ in range(4):
        times.record_single(alone)
    return times


def test_requests_that_gain_nothing_by_batching_do_not_wait():
    assert warm(1e-3).should_wait(call(100), 16)
    assert not warm(1e-5).should_wait(call(100), 16)
    assert not warm(5e-5).should_wait(call(1000), 16)
    assert not warm(1e-3, joins=False).should_wait(call(100), 16)
    assert not ReplayTimes(joins=True).should_wait(call(100), 16)


def test_batching_pays_if_it_takes_less_time_than_single_replays():
    times = warm(1e-4)
    assert not times.pays(call(100), 1)
    assert times.pays(call(100), 4)
    assert not times.pays(call(1000), 4)  # single replays use Python numbers
    for seconds in (9e-3, 9e-3, 9e-3, 5e-4):
        times.record_batch(3, 3, seconds)
    assert not times.pays(call(100), 4)
    assert times.pays(call(100), 5)
    times.record_batch(3, 3, 1e-4)
    assert times.pays(call(100), 4)


def test_batch_sizes_that_fail_to_compile_are_not_tried_again():
    times = warm(1e-3)
    times.disable(8)
    assert not times.pays(call(100), 8)
    assert not times.pays(call(100), 5)
    assert times.pays(call(100), 4)


def test_requests_that_a_batch_left_unanswered_count_as_single():
    times = warm(1e-3)
    for _ in range(4):
        times.record_batch(8, 1, 1.5e-3)
    assert not times.pays(call(100), 8)


def test_after_many_useless_batches_few_requests_wait():
    times = warm(1e-3)
    for _ in range(16):
        assert times.should_wait(call(100), 16)
        times.record_batch(4, 0, 1e-3)
    assert sum(times.should_wait(call(100), 16) for _ in range(2048)) == 2
    times.record_batch(4, 4, 1e-3)
    assert all(times.should_wait(call(100), 16) for _ in range(2048))
