"""Optimisations over HTTP: short ones are answered at once, long ones as jobs."""

import asyncio
import gzip
import itertools
import json
import re
import sys
from functools import partial
from hashlib import sha256
from typing import Any

import msgpack
import numpy as np
import pytest
from gradwire_service.jobs import Jobs, Transitions
from gradwire_service.jobs.records import part_of
from gradwire_service.jobs.routes import Events
from gradwire_service.problems import RequestError
from gradwire_service.settings import Settings
from gradwire_service.store import Key, open_store
from scipy.optimize import rosen

from tests.clock import ClockLoop, loop_clock
from tests.engine.solvers.classics import CLASSICS

ROSEN = {
    "program": "sum(100 * (x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2)",
    "variables": {"x": [-1.2, 1.0, 0.5]},
    "wait_ms": 600_000,
}
#: Goes on until it is cancelled.
ENDLESS = {
    "program": "sum(x * x)",
    "variables": {"x": [1.0, 2.0]},
    "method": "sgd",
    "options": {"learning_rate": 1e-9, "maxiter": 10**9},
}


#: Time moves as soon as the event loop only waits for it.
on_clock_loop = pytest.mark.parametrize(
    "anyio_backend", [("asyncio", {"loop_factory": ClockLoop})], ids=["clock"]
)


@pytest.fixture(scope="module")
def served(served):
    """Applications where requests may wait for results as long as it takes."""
    return partial(served, job_wait_ms=600_000)


@pytest.fixture(params=[0, 1], ids=["threads", "processes"])
def processes(request):
    return request.param


@pytest.fixture
def no_lane(monkeypatch):
    """No run proves to be long, so others wait for two."""
    monkeypatch.setattr("gradwire_service.executors.SHORT_RUN_SECONDS", 10**9)


async def ended(client, path):
    """The job once it has ended."""
    job = {"state": "queued"}
    while job["state"] in ("queued", "running"):
        await asyncio.sleep(0.02)
        job = (await client.get(path)).json()
    return job


async def running(client, path, clock=None):
    """The job once it reports progress, which it does at once if its clock is moved."""
    while not (job := (await client.get(path)).json())["progress"]:
        if clock is not None:
            clock.advance(0.3)
        await asyncio.sleep(0.02)
    return job


async def events_of(client, path, last=None):
    headers = {} if last is None else {"last-event-id": str(last)}
    answer = await client.get(f"{path}/events", headers=headers)
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [block.split("\n") for block in answer.text.split("\n\n") if block.startswith("id:")]
    return [
        (int(id.removeprefix("id: ")), name.removeprefix("event: "), json.loads(text[6:]))
        for id, name, text in events
    ]


async def test_a_short_run_is_answered_at_once(served, processes):
    async with served(processes=processes) as client:
        answer = await client.post("/v1/minimize", json=ROSEN)
        assert answer.status_code == 200
        found = answer.json()
        assert found["success"]
        assert rosen(found["solution"]["x"]) < 1e-9
        assert (await client.get("/v1/jobs")).json() == {"jobs": []}


async def test_a_long_run_becomes_a_job(served, processes):
    async with served(processes=processes) as client:
        long: dict[str, Any] = ENDLESS | {"max_seconds": 0.5, "wait_ms": 1}
        while (answer := await client.post("/v1/minimize", json=long)).status_code == 200:
            long["max_seconds"] *= 2  # this process was paused meanwhile
        assert answer.status_code == 202
        path = answer.headers["location"]
        assert path == f"/v1/jobs/{answer.json()['id']}"
        job = await ended(client, path)
        assert (job["state"], job["resumed"], job["problem"]) == ("succeeded", 0, None)
        assert not job["result"]["success"]
        assert job["result"]["iterations"] > job["progress"]["iteration"] / 2
        listed = (await client.get("/v1/jobs")).json()["jobs"]
        assert [each["id"] for each in listed] == [job["id"]]
        assert "result" not in listed[0]
        assert (await client.delete(path)).status_code == 204
        gone = await client.get(path)
        assert (gone.status_code, gone.json()["code"]) == (404, "unknown_job")


@on_clock_loop
async def test_a_run_is_waited_for_as_long_as_is_said(served):
    clock = loop_clock()
    async with served(clock=clock, now=clock, job_wait_ms=10_000) as client:
        for said, seconds in ({"wait_ms": 300}, 0.3), ({}, 5), ({"wait_ms": 11_000}, 10):
            began = clock()
            answer = await client.post("/v1/minimize", json=ENDLESS | said)
            assert answer.status_code == 202
            assert clock() - began == pytest.approx(seconds)
            assert (await client.delete(answer.headers["location"])).status_code == 204


@pytest.mark.thorough
async def test_in_the_background_it_is_a_job_at_once(served):
    seconds = itertools.count(1000.0)
    async with served(now=lambda: next(seconds)) as client:
        answer = await client.post("/v1/minimize", json=ROSEN | {"background": True})
        assert answer.status_code == 202
        job = await ended(client, answer.headers["location"])
        assert job["created_at"] < job["started_at"] < job["finished_at"] < job["expires_at"]
        assert job["progress"]["iteration"] == job["result"]["iterations"]
        direct = (await client.post("/v1/minimize", json=ROSEN)).json()
        for result in job["result"], direct:
            result["history"].pop("seconds")
        assert job["result"] == direct


@pytest.mark.thorough
@pytest.mark.parametrize("sent", ["application/json", "application/msgpack"])
async def test_results_of_jobs_come_in_any_format(served, sent):
    body = json.dumps(ROSEN | {"background": True}).encode()
    if "msgpack" in sent:
        body = msgpack.packb(ROSEN | {"background": True})
    async with served() as client:
        headers = {"content-type": sent, "accept": "application/json"}
        begun = await client.post("/v1/minimize", content=body, headers=headers | {"accept": sent})
        path = begun.headers["location"]
        as_json = await ended(client, path)
        packed = await client.get(path, headers={"accept": "application/msgpack"})
        as_bytes = msgpack.unpackb(packed.content)
        x = as_bytes["result"]["solution"]["x"]
        if isinstance(x, dict):
            x = np.frombuffer(x["data"], x["dtype"]).tolist()
        assert as_json["result"]["solution"]["x"] == x
        assert as_json["result"]["value"] == as_bytes["result"]["value"]


@pytest.mark.parametrize("preference", ["respond-async", "wait=10, Respond-Async"])
async def test_a_long_or_compressed_body_is_a_job_at_once_by_its_header(
    served, preference, monkeypatch
):
    monkeypatch.setattr("gradwire_service.wire.solving.WAIT_MS", 600_000)
    content = gzip.compress(json.dumps(ENDLESS | {"background": True}).encode())
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    async with served() as client:
        begun = await client.post(
            "/v1/minimize", content=content, headers=headers | {"prefer": preference}
        )
        assert begun.status_code == 202
        assert (await client.delete(begun.headers["location"])).status_code == 204


@pytest.mark.parametrize("content", [b"\x81{", gzip.compress(b"{", mtime=0)])
async def test_a_body_that_cannot_be_read_is_no_job(served, content):
    headers = {"content-type": "application/json", "prefer": "respond-async"}
    if content[:2] == b"\x1f\x8b":
        headers["content-encoding"] = "gzip"
    async with served() as client:
        refused = await client.post("/v1/minimize", content=content, headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (400, "malformed_body")


async def test_a_short_run_is_a_job_by_the_header_too(served):
    async with served() as client:
        reply = await client.post("/v1/minimize", json=ROSEN, headers={"prefer": "respond-async"})
        assert reply.status_code == 202
        assert (await ended(client, reply.headers["location"]))["result"]["success"]


async def test_cancelling_stops_the_work(served, processes):
    async with served(processes=processes, job_processes=1) as client:
        begun = await client.post("/v1/minimize", json=ENDLESS | {"background": True})
        path = begun.headers["location"]
        await running(client, path)
        assert (await client.delete(path)).status_code == 204
        assert (await client.get(path)).json()["state"] == "cancelled"
        # The only process is free again.
        assert (await client.post("/v1/minimize", json=ROSEN)).status_code == 200
        assert (await client.get(path)).json()["state"] == "cancelled"
        assert (await client.delete(path)).status_code == 204
        assert (await client.delete(path)).status_code == 404


async def test_a_waiting_job_can_be_cancelled(served, no_lane):
    async with served(job_processes=1) as client:
        paths = [
            (await client.post("/v1/minimize", json=ENDLESS | {"background": True})).headers[
                "location"
            ]
            for _ in range(3)
        ]
        for path in paths[:2]:  # one in the lane beside the other
            await running(client, path)
        paths.reverse()
        assert (await client.get(paths[0])).json()["state"] == "queued"
        for path in paths:
            await client.delete(path)
            assert (await client.get(path)).json()["state"] == "cancelled"


async def test_a_client_that_leaves_stops_a_run_that_is_no_job(served):
    async with served(job_processes=1) as client:
        leaving = asyncio.create_task(client.post("/v1/minimize", json=ENDLESS))
        metrics = ""
        while "\ngradwire_optimisations 1.0\n" not in metrics:
            await asyncio.sleep(0.02)
            metrics = (await client.get("/metrics")).text
        leaving.cancel()
        answer = await client.post("/v1/minimize", json=ROSEN)
        assert answer.status_code == 200


async def out_of_the_lane(client, paths):
    """Wait until one of these jobs runs, and the others wait since they have proved to be long.

    No other will prove to be. False if one has ended before.
    """
    queue = client._transport.app.state.job_executors.queue
    while sum(job.long for job in queue._waiting.all()) < len(paths) - 1:
        await asyncio.sleep(0.02)
        jobs = [(await client.get(path)).json() for path in paths]
        if not all(job["state"] in ("queued", "running") for job in jobs):
            return False
    queue._lanes = queue._lanes._replace(short_seconds=10**9)
    return True


async def test_short_runs_do_not_wait_for_long_ones(served, processes, monkeypatch):
    """Nor for those that have proved to be long, and wait for others themselves."""
    monkeypatch.setattr("gradwire_service.executors.SHORT_RUN_SECONDS", 0.2)
    async with served(processes=processes, job_processes=1) as client:
        begun = [
            await client.post("/v1/minimize", json=ENDLESS | {"background": True}) for _ in range(3)
        ]
        assert await out_of_the_lane(client, [answer.headers["location"] for answer in begun])
        for _ in range(20):
            assert (await client.post("/v1/minimize", json=ROSEN)).status_code == 200
        for answer in begun:
            path = answer.headers["location"]
            job = (await client.get(path)).json()
            assert (job["state"] in ("queued", "running"), job["resumed"]) == (True, 0)
            assert (await client.delete(path)).status_code == 204


async def test_no_result_shows_whether_its_run_has_waited(served, processes, monkeypatch):
    """A run that leaves the lane has the bits of one that did not, and progress that only grows."""
    monkeypatch.setattr("gradwire_service.executors.SHORT_RUN_SECONDS", 0.02)
    monkeypatch.setattr("gradwire_service.jobs.solve_handlers.CHECKPOINT_SECONDS", 0.0)
    async with served(processes=processes, job_processes=1) as client:
        endless = await client.post("/v1/minimize", json=ENDLESS | {"background": True})
        for iterations in (1000 * 2**n for n in itertools.count()):
            fit: dict[str, Any] = {
                "program": "sum(100 * (x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2)",
                "variables": {"x": [-1.2, 1.0] * 20},
                "method": "adam",
                "options": {"maxiter": iterations},
                "exact": True,
            }
            begun = await client.post("/v1/minimize", json=fit | {"background": True})
            path = begun.headers["location"]
            # Where the event loop gets no turn, as beside threads that compute, it may end before.
            if await out_of_the_lane(client, [endless.headers["location"], path]):
                break
        await client.delete(endless.headers["location"])
        job = await ended(client, path)
        assert (job["state"], job["resumed"]) == ("succeeded", 0)
        alone = (await client.post("/v1/minimize", json=fit | {"wait_ms": 600_000})).json()
        for found in alone, job["result"]:
            del found["history"]["seconds"]
        assert job["result"] == alone
        events = await events_of(client, path)
        iterations_told = [data["iteration"] for _, name, data in events if name == "progress"]
        assert iterations_told == sorted(set(iterations_told))


async def test_events_end_with_the_job_and_can_be_resumed(served, processes):
    async with served(processes=processes) as client:
        events: list[Any] = []
        seconds = 0.5
        while len(events) < 4:  # there are fewer on a slow machine
            request = ENDLESS | {"max_seconds": seconds, "background": True}
            begun = await client.post("/v1/minimize", json=request)
            path = begun.headers["location"]
            events, seconds = await events_of(client, path), 2 * seconds
        assert [name for _, name, _ in events] == ["progress"] * (len(events) - 1) + ["done"]
        numbers = [number for number, _, _ in events]
        assert numbers == sorted(set(numbers))
        iterations = [progress["iteration"] for _, name, progress in events if name == "progress"]
        assert iterations == sorted(iterations)
        *_, (_, _, done) = events
        assert (done["state"], done["id"]) == ("succeeded", begun.json()["id"])
        *progress, (_, _, done_later) = await events_of(client, path, last=numbers[1])
        assert progress == events[2:-1]
        # Reading a job moves its end on.
        assert done_later == done | {"expires_at": done_later["expires_at"]}
        for wrong in "x", "":
            refused = await client.get(f"{path}/events", headers={"last-event-id": wrong})
            assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")


@on_clock_loop
async def test_a_stream_without_events_is_kept_open(served, no_lane):
    clock = loop_clock()
    async with served(clock=clock, now=clock, job_processes=1) as client:
        for _ in range(3):
            begun = await client.post("/v1/minimize", json=ENDLESS | {"background": True})
        state = client._transport.app.state
        key = Key("jobs", sha256(b"").hexdigest(), begun.json()["id"])
        streams = Events(state.runs, state.capacity, Settings(max_connections=16), clock)
        events = streams.of(key, 0, "one")  # ASGITransport would hold it
        assert (await anext(events)).startswith(b"retry: ")
        for _ in range(2):
            began = clock()
            assert await anext(events) == b":\n\n"
            assert 15 < clock() - began < 17
        other = streams.of(key, 0, "one")
        assert (await anext(other)).startswith(b"retry: ")
        streams.check("another")
        with pytest.raises(RequestError, match="2 streams of events are open"):
            streams.check("one")
        for stream in events, other:
            await stream.aclose()  # type: ignore[attr-defined]
        streams.check("one")


async def test_a_job_that_is_being_deleted_is_unknown(served, kept):
    """Where there is no result any more, there is no job."""
    async with served(**kept) as client:
        begun = await client.post("/v1/minimize", json=ROSEN | {"background": True})
        path = begun.headers["location"]
        assert (await ended(client, path))["state"] == "succeeded"
        key = Key("jobs", sha256(b"").hexdigest(), begun.json()["id"])
        client._transport.app.state.store.remove(part_of(key, "answer"))
        gone = await client.get(path)
        assert (gone.status_code, gone.json()["code"]) == (404, "unknown_job")


async def test_events_of_unknown_jobs_are_problems(served):
    async with served() as client:
        answer = await client.get("/v1/jobs/none/events")
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown_job")


async def test_a_failing_job_has_the_problem_that_a_request_would_get(served):
    wrong = {"program": "y = 1\nsum(z)", "variables": {"x": 1.0}, "wait_ms": 600_000}
    async with served() as client:
        direct = (await client.post("/v1/minimize", json=wrong)).json()
        begun = await client.post("/v1/minimize", json=wrong | {"background": True})
        job = await ended(client, begun.headers["location"])
        assert job["state"] == "failed"
        instance = job["problem"].pop("instance")
        direct.pop("instance")
        assert job["problem"] == direct
        assert instance == f"urn:gradwire:job:{job['id']}"


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="no machine code here")
async def test_exact_runs_have_the_same_bits_before_machine_code_and_after(served):
    pytest.importorskip("llvmlite")
    compiled = re.compile(r'gradwire_kernels_total\{outcome="compiled"\} [1-9]')
    ends: dict[tuple[str, bool], set[str]] = {}
    async with served(processes=1, job_processes=1, machine_code=True) as client:
        for run in range(6):
            for name in "Biggs", "Watson", "Wood", "Osborne 1":
                text, start, data = CLASSICS[name]
                variables = {"x": start} | {
                    each: {"value": np.asarray(value).tolist(), "trainable": False}
                    for each, value in data.items()
                }
                for exact in False, True:
                    request = {"program": text, "variables": variables, "exact": exact}
                    answer = await client.post("/v1/least_squares", json=request)
                    found = answer.json()
                    del found["history"]["seconds"]
                    ends.setdefault((name, exact), set()).add(json.dumps(found))
            while run == 2 and not compiled.search((await client.get("/metrics")).text):
                await asyncio.sleep(0.02)
                await client.post("/v1/least_squares", json=request | {"exact": False})
    assert {len(found) for (_, exact), found in ends.items() if exact} == {1}


async def test_one_idempotency_key_is_one_job(served, kept):
    key = {"idempotency-key": "fit 7"}
    async with served(**kept) as client:
        answers = await asyncio.gather(
            *(client.post("/v1/minimize", json=ROSEN, headers=key) for _ in range(3))
        )
        answers.append(await client.post("/v1/minimize", json=ROSEN, headers=key))
        assert [answer.status_code for answer in answers] == [200] * 4
        assert len({answer.content for answer in answers}) == 1
        assert len((await client.get("/v1/jobs")).json()["jobs"]) == 1
        other = await client.post("/v1/minimize", json=ENDLESS, headers=key)
        assert (other.status_code, other.json()["code"]) == (409, "idempotency_conflict")
        begun = await client.post("/v1/root", json=ROSEN | {"background": True}, headers=key)
        assert (begun.status_code, begun.json()["code"]) == (409, "idempotency_conflict")


@pytest.mark.parametrize(
    ("asked", "headers"), [({"background": True}, {}), ({}, {"prefer": "respond-async"})]
)
async def test_who_asks_for_a_job_again_gets_the_job_however_far_it_is(
    served, kept, asked, headers
):
    headers |= {"idempotency-key": "fit 9"}
    async with served(**kept) as client:
        first = await client.post("/v1/minimize", json=ROSEN | asked, headers=headers)
        await ended(client, first.headers["location"])
        again = await client.post("/v1/minimize", json=ROSEN | asked, headers=headers)
        assert first.status_code == again.status_code == 202
        assert first.headers["location"] == again.headers["location"]


#: Requests that fail, each for another reason: some in their bodies, some in the program, some
#: while they run.
FAILING: dict[str, dict[str, Any]] = {
    "an unknown name": {"program": "y = 1\nsum(z)", "variables": {"x": 1.0}},
    "a syntax error": {"program": "sum(", "variables": {"x": 1.0}},
    "an unknown operation": {"program": "fumble(x)", "variables": {"x": 1.0}},
    "shapes": {"program": "h = x @ w\nsum(h)", "variables": {"x": [1, 2], "w": [1, 2, 3]}},
    "no number": {"program": "x * x", "variables": {"x": [1, 2]}},
    "a complex number": {"program": "x * 1j", "variables": {"x": 1}},
    "no sources": {"program": "x", "variables": {"x": {"value": 1, "trainable": False}}},
    "an unknown source": {"program": "x", "variables": {"x": 1}, "sources": "y"},
    "an unknown method": {"program": "x", "variables": {"x": 1}, "method": "Nelder-Mead"},
    "an unknown option": {"program": "x", "variables": {"x": 1}, "options": {"much": 1}},
    "an unknown field": {"program": "x", "variables": {"x": 1}, "batch": ["x"]},
    "bounds": {"program": "x", "variables": {"x": 1}, "bounds": {"x": [3, 2]}},
    "a malformed array": {"program": "x", "variables": {"x": {"dtype": "float64"}}},
    "an unknown tensor": {"program": "x", "variables": {"x": {"ref": "sha256:" + 64 * "0"}}},
    "an unknown program": {"program": {"ref": "sha256:" + 64 * "0"}, "variables": {"x": 1}},
    "a long text": {"program": "sum(" + 3000 * "x + y * " + "z)", "variables": {"x": 1}},
    "too much": {"program": "sum(zeros((9**9, 9**9)) * x)", "variables": {"x": 1}},
}


@pytest.mark.parametrize("why", FAILING)
async def test_a_failed_request_repeats_its_failure(served, tmp_path, why, monkeypatch):
    """Here, by another replica, and written in another way; who asks for a job gets that."""
    monkeypatch.setattr("gradwire_service.wire.solving.WAIT_MS", 600_000)
    shared = {"store": f"sqlite:{tmp_path / 'jobs.db'}"}
    key = {"idempotency-key": f"{why} again", "content-type": "application/json"}
    turned = dict(reversed(FAILING[why].items()))
    async with served(**shared) as one, served(**shared) as other:
        found = []
        for client, asked in (one, FAILING[why]), (one, FAILING[why]), (other, turned):
            answer = await client.post("/v1/minimize", content=json.dumps(asked), headers=key)
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.status_code == answer.json()["status"]
            found.append(answer.json())
            assert found[-1].pop("instance").startswith("urn:gradwire:request:")
        key |= {"idempotency-key": f"{why} later", "prefer": "respond-async"}
        for client in one, other:
            answer = await client.post(
                "/v1/minimize", content=json.dumps(FAILING[why]), headers=key
            )
            found.append(answer.json())
            assert found[-1].pop("instance").startswith("urn:gradwire:request:")
        assert found == found[:1] * 5
        background = {"background": True, **FAILING[why]}
        headers = {"idempotency-key": f"{why} as a job"}
        jobs = []
        for client in one, other:
            answer = await client.post("/v1/minimize", json=background, headers=headers)
            assert answer.status_code == 202
            jobs.append(answer.json()["id"])
            assert (await ended(client, answer.headers["location"]))["state"] == "failed"
        assert jobs[0] == jobs[1]


async def test_a_deadline_is_exceeded_again(served, kept):
    async with served(**kept, job_seconds=0.2) as client:
        found = []
        for _ in range(3):
            answer = await client.post(
                "/v1/minimize", json=ENDLESS, headers={"idempotency-key": "endless"}
            )
            found.append(answer.json())
            assert (answer.status_code, found[-1]["code"]) == (504, "deadline_exceeded")
            assert found[-1].pop("instance").startswith("urn:gradwire:request:")
        assert found == found[:1] * 3


async def test_what_was_missing_and_is_there_is_computed(served, kept):
    key = {"idempotency-key": "with a tensor"}
    async with served(**kept) as client:
        stored = await client.put("/v1/tensors", json={"value": [1.0, 2.0]})
        request = {"program": "sum((x - 1)**2)", "variables": {"x": {"ref": stored.json()["ref"]}}}
        await client.delete(f"/v1/tensors/{stored.json()['ref']}")
        asked = partial(client.post, "/v1/minimize", json=request, headers=key)
        missing = await asked()
        assert (missing.status_code, missing.json()["code"]) == (404, "unknown_ref")
        await client.put("/v1/tensors", json={"value": [1.0, 2.0]})
        answers = [await asked() for _ in range(2)]
        assert [answer.status_code for answer in answers] == [200, 200]
        assert answers[0].content == answers[1].content


@pytest.mark.parametrize("long", [False, True], ids=["short", "long"])
@pytest.mark.parametrize("coding", [None, "gzip"])
async def test_one_document_is_one_request_however_it_is_written(served, processes, long, coding):
    request = ROSEN | {"options": {"maxiter": 3, "gtol": 1e-9}}
    if long:
        request |= {"variables": {"x": [-1.2, 1.0, 0.5], "unused": [0.5] * 40_000}, "sources": "x"}
    turned = {**dict(reversed(request.items())), "options": {"gtol": 1e-9, "maxiter": 3}}
    bodies = [
        (json.dumps(request), {}),
        (json.dumps(turned, indent=1), {}),
        (msgpack.packb(turned), {"content-type": "application/msgpack"}),
    ]
    key = {"idempotency-key": "one", "accept": "application/json"}
    if coding is not None:
        key["content-encoding"] = coding
    async with served(processes=processes) as client:
        answers = []
        for body, headers in bodies:
            plain = body if isinstance(body, bytes) else body.encode()
            content = plain if coding is None else gzip.compress(plain)
            given = {"content-type": "application/json"} | key | headers
            answers.append(await client.post("/v1/minimize", content=content, headers=given))
        assert [answer.status_code for answer in answers] == [200] * 3
        assert len({answer.content for answer in answers}) == 1
        other = json.dumps(request | {"tol": 0.5}).encode()
        content = other if coding is None else gzip.compress(other)
        given = {"content-type": "application/json"} | key
        refused = await client.post("/v1/minimize", content=content, headers=given)
        assert (refused.status_code, refused.json()["code"]) == (409, "idempotency_conflict")
        given["accept"] = "application/msgpack"
        refused = await client.post("/v1/minimize", content=content, headers=given)
        assert refused.status_code == 409


@pytest.mark.thorough
async def test_an_idempotency_key_is_known_to_all_replicas(served, tmp_path, clock):
    key, long = {"idempotency-key": "fit 8"}, ENDLESS | {"max_seconds": 0.5, "wait_ms": 600_000}
    shared = {"store": f"sqlite:{tmp_path / 'jobs.db'}", "now": clock}
    async with served(**shared) as one, served(**shared) as other:
        clients = one, other, other, one
        asked = [client.post("/v1/minimize", json=long, headers=key) for client in clients]
        answers = await asyncio.gather(*asked)
        assert [answer.status_code for answer in answers] == [200] * 4, answers[0].text
        assert len({answer.content for answer in answers}) == 1


async def test_an_empty_idempotency_key_is_none(served, kept):
    async with served(**kept) as client:
        for asked in (ROSEN, ROSEN | {"method": "BFGS"}):
            answer = await client.post("/v1/minimize", json=asked, headers={"idempotency-key": ""})
            assert answer.status_code == 200
        assert (await client.get("/v1/jobs")).json()["jobs"] == []


@pytest.mark.parametrize(
    ("field", "value"), [("background", "yes"), ("background", 1), ("wait_ms", -1), ("wait_ms", "")]
)
async def test_fields_about_waiting_are_checked(served, field, value):
    async with served() as client:
        answer = await client.post("/v1/minimize", json=ROSEN | {field: value})
        assert (answer.status_code, answer.json()["pointer"]) == (422, f"/{field}")


async def test_the_quota_of_jobs_is_one_of_those_that_run_or_wait(served, kept):
    async with served(**kept, max_jobs_per_tenant=1, job_processes=1) as client:
        begun = await client.post("/v1/minimize", json=ENDLESS | {"background": True})
        for asked, headers in (
            (ENDLESS | {"background": True}, {}),
            (ROSEN, {"idempotency-key": "another"}),
        ):
            refused = await client.post("/v1/minimize", json=asked, headers=headers)
            assert (refused.status_code, refused.json()["code"]) == (413, "over_budget")
            assert "cancel" in refused.json()["hint"]
        await client.delete(begun.headers["location"])
        ids = []
        for number in range(3):
            headers = {"idempotency-key": f"{number}"}
            assert (await client.post("/v1/minimize", json=ROSEN, headers=headers)).is_success
            begun = await client.post("/v1/minimize", json=ROSEN | {"background": True})
            assert begun.status_code == 202
            await ended(client, begun.headers["location"])
            ids.append(begun.json()["id"])
        gone = await client.get(f"/v1/jobs/{ids[0]}")
        assert (gone.status_code, gone.json()["code"]) == (404, "unknown_job")
        assert (await client.get(f"/v1/jobs/{ids[-1]}")).json()["result"]["success"]


async def test_a_run_that_cannot_become_a_job_is_stopped(served):
    async with served(max_jobs_per_tenant=1, job_processes=2) as client:
        begun = await client.post("/v1/minimize", json=ENDLESS | {"background": True})
        refused = await client.post("/v1/minimize", json=ENDLESS | {"wait_ms": 1})
        assert (refused.status_code, refused.json()["code"]) == (413, "over_budget")
        runs = client._transport.app.state.runs
        while runs.running > 1:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        assert (await client.delete(begun.headers["location"])).status_code == 204


@pytest.mark.parametrize("asked", ["answer", "job", "cancelled", "nobody"])
async def test_who_was_sent_a_result_has_taken_it(served, kept, clock, asked):
    async with served(**kept, now=clock) as client:
        headers = {"idempotency-key": "one"}
        request = ENDLESS if asked == "cancelled" else ROSEN
        background = {"background": asked != "answer"}
        answer = await client.post("/v1/minimize", json=request | background, headers=headers)
        (listed,) = (await client.get("/v1/jobs")).json()["jobs"]
        path = f"/v1/jobs/{listed['id']}"
        jobs = client._transport.app.state.runs.transitions.jobs
        key = Key("jobs", sha256(b"").hexdigest(), listed["id"])
        if asked == "cancelled":
            await client.delete(path)
        while not jobs.find(key).job.ended:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        if asked == "job":
            clock.advance(7)
            await client.get(path)
            clock.advance(7)
            await client.get(path)
        expected = {"nobody": None, "job": 1007.0}.get(asked, 1000.0)
        assert jobs.find(key).job.taken_at == expected
        assert answer.is_success


async def test_a_full_queue_refuses(served):
    async with served(job_processes=1, job_queue=1) as client:
        endless = ENDLESS | {"background": True}
        begun = [await client.post("/v1/minimize", json=endless) for _ in range(3)]
        assert [answer.status_code for answer in begun[:2]] == [202, 202]
        jobs = [await client.get(f"/v1/jobs/{answer.json()['id']}") for answer in begun[:2]]
        assert {job.json()["state"] for job in jobs} <= {"queued", "running"}
        assert (begun[2].status_code, begun[2].json()["code"]) == (503, "overloaded")
        assert int(begun[2].headers["retry-after"]) > 0
        assert len((await client.get("/v1/jobs")).json()["jobs"]) == 2


@pytest.mark.thorough
async def test_a_job_may_take_so_long(served):
    async with served(job_seconds=0.2) as client:
        begun = await client.post("/v1/minimize", json=ENDLESS | {"background": True})
        job = await ended(client, begun.headers["location"])
        assert job["problem"]["code"] == "deadline_exceeded"
        assert "max_seconds" in job["problem"]["hint"]


async def test_owners_see_only_their_own(served):
    async with served() as client:
        begun = await client.post("/v1/minimize", json=ROSEN | {"background": True})
        path = begun.headers["location"]
        other = {"authorization": "Bearer another"}
        for method, at in [("GET", path), ("DELETE", path), ("GET", f"{path}/events")]:
            answer = await client.request(method, at, headers=other)
            assert (answer.status_code, answer.json()["code"]) == (404, "unknown_job")
        assert (await client.get("/v1/jobs", headers=other)).json() == {"jobs": []}
        assert (await ended(client, path))["state"] == "succeeded"


@pytest.mark.thorough
async def test_interrupted_jobs_go_on_with_the_next_service(served, tmp_path, clock, monkeypatch):
    """Closing hands a job over; Adam's steps are then the same as without interruption."""
    monkeypatch.setattr("gradwire_service.jobs.solve_handlers.CHECKPOINT_SECONDS", 0.0)
    fit: dict[str, Any] = {
        "program": "mean((x @ w - y)**2)",
        "variables": {"w": [0.0, 0.0], "x": [[1.0, 2.0], [3.0, -1.0]], "y": [1.0, 2.0]},
        "sources": ["w"],
        "method": "adam",
        "options": {"learning_rate": 1e-4, "maxiter": 2000},
        "background": True,
    }
    store: dict[str, Any] = {"store": f"sqlite:{tmp_path / 'jobs.db'}", "machine_code": False}
    kept = open_store(Settings(**store))
    while True:
        async with served(clock=clock, **store) as client:
            begun = await client.post("/v1/minimize", json=fit)
            path = begun.headers["location"]
            await running(client, path, clock)
        (found,) = Jobs(kept).listed(sha256(b"").hexdigest(), "", 2)
        if not found.job.ended:
            break
        Transitions(kept, "", lambda *_: {}).remove(found)
        fit["options"]["maxiter"] *= 2  # it was faster
    assert Jobs(kept).find_part(found.key, "checkpoint") is not None
    kept.close()
    async with served(**store) as client:
        job = await ended(client, path)
        assert (job["state"], job["resumed"]) == ("succeeded", 1)
        whole = (
            await client.post("/v1/minimize", json=fit | {"background": False, "wait_ms": 600_000})
        ).json()
        assert job["result"]["solution"] == whole["solution"]
        assert job["result"]["iterations"] == whole["iterations"] == fit["options"]["maxiter"]
        numbers = [number for number, _, _ in await events_of(client, path)]
        assert numbers == sorted(set(numbers))


@pytest.mark.thorough
async def test_a_dead_client_does_not_end_a_job(served):
    async with served() as client:
        key = {"idempotency-key": "mine"}
        leaving = asyncio.create_task(client.post("/v1/minimize", json=ENDLESS, headers=key))
        jobs: list[Any] = []
        while not jobs:
            await asyncio.sleep(0.02)
            jobs = (await client.get("/v1/jobs")).json()["jobs"]
        path = f"/v1/jobs/{jobs[0]['id']}"
        await running(client, path)
        leaving.cancel()
        await asyncio.gather(leaving, return_exceptions=True)
        for _ in range(2):
            before = job = (await client.get(path)).json()
            while job["progress"] == before["progress"]:
                job = (await client.get(path)).json()
                assert job["state"] == "running"
                await asyncio.sleep(0.02)
        assert (await client.delete(path)).status_code == 204


@pytest.mark.thorough
async def test_tensors_of_a_running_job_do_not_expire(served, clock, monkeypatch):
    monkeypatch.setattr("gradwire_service.jobs.solve_handlers.CHECKPOINT_SECONDS", 0.0)
    x = {"dtype": "float64", "shape": [2], "data": np.array([1.0, 2.0]).tobytes()}
    packed = {"content-type": "application/msgpack", "accept": "application/json"}
    async with served(tensor_ttl_seconds=10, now=clock) as client:

        def expires_at():
            store = client._transport.app.state.store
            (held,) = store.list_records("tensors", sha256(b"").hexdigest(), "", 2)
            return held.expires_at

        put = await client.put("/v1/tensors", content=msgpack.packb(x), headers=packed)
        request = ENDLESS | {
            "program": "sum((x - y)**2)",
            "variables": {"x": [0.0, 0.0], "y": {"ref": put.json()["ref"]}},
            "sources": ["x"],
            "background": True,
        }
        path = (await client.post("/v1/minimize", json=request)).headers["location"]
        for _ in range(3):
            clock.advance(6)
            while expires_at() < clock() + 10:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert (await client.get(path)).json()["state"] == "running"
        assert (await client.head(f"/v1/tensors/{put.json()['ref']}")).status_code == 200


async def test_a_job_whose_tensors_are_gone_fails_when_it_goes_on(served, tmp_path):
    x = {"dtype": "float64", "shape": [2], "data": np.array([1.0, 2.0]).tobytes()}
    packed = {"content-type": "application/msgpack", "accept": "application/json"}
    store = {"store": f"sqlite:{tmp_path / 'jobs.db'}"}
    async with served(**store) as client:
        put = await client.put("/v1/tensors", content=msgpack.packb(x), headers=packed)
        ref = put.json()["ref"]
        request = ENDLESS | {"variables": {"x": {"ref": ref}}, "background": True}
        path = (await client.post("/v1/minimize", json=request)).headers["location"]
        await running(client, path)
        await client.delete(f"/v1/tensors/{ref}")
    async with served(**store) as client:
        job = await ended(client, path)
        assert (job["state"], job["resumed"]) == ("failed", 1)
        assert (job["problem"]["code"], job["problem"]["missing"]) == ("unknown_ref", [ref])
