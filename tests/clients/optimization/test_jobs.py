"""Jobs are followed, interrupted and found again, by both clients."""

import asyncio
import os
import secrets
import signal
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import gradwire
import numpy as np
import pytest
from gradwire.call import BlockingStep, Call, Fetch
from gradwire.optimization import following
from gradwire.optimization.following import Following
from gradwire.optimization.handles import JobHandle, JobProgress

from tests.clients.optimization.problems import LONG, MANY, START, rosenbrock
from tests.clock import Clock

SHORTER: dict[str, Any] = {"method": "adam", "options": {"maxiter": 300}}
#: What takes minutes is a job at once: its first answer need not wait for a result.
AT_ONCE: dict[str, Any] = {**LONG, "wait_ms": 1, "progress": False}


def states(client) -> list[str]:
    return [job.state for job in client.jobs.list()]


@pytest.fixture
def job(client):
    """A job that takes minutes."""
    job = client.minimize(rosenbrock, MANY, background=True, **LONG)
    yield job
    job.delete()


def test_a_job_is_described_and_found(client, job):
    assert job.kind == "minimize"
    assert job.state in ("queued", "running")
    found = client.jobs.get(job.id)
    assert (found.id, found.kind) == (job.id, job.kind)
    assert job.id in [each.id for each in client.jobs.list()]
    assert job.id in repr(job)
    assert found.document.created_at == job.document.created_at


def test_progress_comes_while_the_job_runs(client, job):
    seen = []
    for progress in job:
        seen.append(progress)
        if len(seen) == 2:
            break
    assert [each.iteration for each in seen] == sorted({each.iteration for each in seen})
    assert seen[-1].value < rosenbrock(MANY)
    assert seen[-1].gradient_norm > 0
    assert job.progress == seen[-1]
    assert job.state == "running"
    assert next(client.jobs.events(job.id)).iteration > 0


def test_results_are_waited_for(client):
    job = client.minimize(rosenbrock, MANY, background=True, **SHORTER)
    found = job.result(timeout=3600)
    assert job.state == "succeeded"
    assert found.nit == 300
    assert np.shape(found.x) == np.shape(MANY)
    again = client.jobs.result(job.id)
    np.testing.assert_array_equal(again.x[0], found.x)
    client.jobs.wait(job.id)
    job.cancel()  # it is done
    assert client.jobs.get(job.id).state == "succeeded"
    client.jobs.delete(job)
    with pytest.raises(gradwire.UnknownJob):
        job.refresh()


def test_waiting_may_end_before_the_job(client, job):
    with pytest.raises(gradwire.RequestTimeout, match=f"{job.id} is not done"):
        job.result(timeout=0.1)
    with pytest.raises(gradwire.RequestTimeout):
        client.jobs.wait(job, timeout=0.01)
    job.refresh()
    assert not job.done


def test_cancelled_jobs_have_no_result(client, job):
    client.jobs.cancel(job.id)
    with pytest.raises(gradwire.JobCancelled, match=job.id):
        job.result()
    assert job.state == "cancelled"


def test_failed_jobs_have_their_error(client):
    job = client.minimize("h = x @ w\nsum(h)", {"x": np.ones(2), "w": np.ones(3)}, background=True)
    with pytest.raises(gradwire.ShapeMismatch, match="line 1: h = x @ w"):
        job.result()
    assert job.state == "failed"
    assert "matmul needs equal inner sizes" in repr(job)

    def wrong(x):
        return np.sum(np.linalg.inv(0.0 * np.outer(x, x)))

    with pytest.raises(gradwire.APIError) as caught:
        client.minimize(wrong, START, background=True).result()
    assert any("test_jobs.py" in note for note in caught.value.__notes__)


def test_an_interrupt_cancels_the_job(client):
    before = {job.id for job in client.jobs.list()}
    is_followed = threading.Event()

    def interrupt() -> None:
        is_followed.wait()
        os.kill(os.getpid(), signal.SIGINT)

    interrupting = threading.Thread(target=interrupt)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
    interrupting.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            client.minimize(rosenbrock, MANY, callback=lambda _: is_followed.set(), **AT_ONCE)
    finally:
        signal.signal(signal.SIGINT, handler)
        is_followed.set()
        interrupting.join()
    assert {job.id for job in client.jobs.list()} <= before


async def test_cancelling_a_task_cancels_the_job(service_url):
    async with gradwire.AsyncClient(service_url) as client:
        before = {job.id for job in await client.jobs.list()}
        is_followed = asyncio.Event()
        asked = client.minimize(rosenbrock, MANY, callback=lambda _: is_followed.set(), **AT_ONCE)
        task = asyncio.ensure_future(asked)
        await is_followed.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert {job.id for job in await client.jobs.list()} <= before


async def test_jobs_are_awaited_too(service_url):
    async with gradwire.AsyncClient(service_url) as client:
        job = await client.minimize(rosenbrock, MANY, background=True, **SHORTER)
        seen = [progress.iteration async for progress in job]
        assert seen == sorted(seen)
        assert (await job.result()).nit == 300
        assert (await client.jobs.get(job.id)).state == "succeeded"
        assert [each async for each in client.jobs.events(job.id)] == []
        long = await client.minimize(rosenbrock, MANY, background=True, **LONG)
        await long.cancel()
        with pytest.raises(gradwire.JobCancelled):
            await long.result()
        await client.jobs.delete(long)
        await job.delete()


@pytest.mark.parametrize("wait_ms", [1, None])
def test_callbacks_hear_of_the_result(client, wait_ms):
    seen: list[gradwire.OptimizeResult] = []
    found = client.minimize(rosenbrock, MANY, callback=seen.append, wait_ms=wait_ms, **SHORTER)
    assert seen[-1] is found


@pytest.mark.thorough
def test_callbacks_hear_of_progress_and_end_the_job(client):
    class Own(Exception):
        pass

    seen: list[gradwire.OptimizeResult] = []

    def wrong(_):
        raise Own

    def stop(progress):
        seen.append(progress)
        if len(seen) == 2:
            raise StopIteration

    with pytest.raises(Own):
        client.minimize(rosenbrock, MANY, callback=wrong, **AT_ONCE)
    with pytest.raises(gradwire.JobCancelled):
        client.minimize(rosenbrock, MANY, callback=stop, **AT_ONCE)
    assert all(each.fun < 1e6 and "x" not in each for each in seen)
    assert seen[0].nit < seen[1].nit
    assert not {"queued", "running"}.intersection(states(client))


def test_one_key_is_one_job(client):
    key = secrets.token_hex()
    options = {**SHORTER, "idempotency_key": key}
    first = client.minimize(rosenbrock, MANY, background=True, **options)
    second = client.minimize(rosenbrock, MANY, background=True, **options)
    assert first.id == second.id
    np.testing.assert_array_equal(first.result().x, second.result().x)
    with pytest.raises(gradwire.IdempotencyConflict):
        client.minimize(rosenbrock, START, background=True, idempotency_key=key)


@pytest.mark.parametrize("wait_ms", [None, 0])
@pytest.mark.parametrize("kind", ["minimize", "least_squares", "root"])
def test_runs_that_were_waited_for_leave_no_job(client, kind, wait_ms):
    before = {job.id for job in client.jobs.list()}
    f = rosenbrock if kind == "minimize" else np.sin
    found = getattr(client, kind)(f, START, wait_ms=wait_ms)
    assert found.success
    with pytest.raises(gradwire.APIError):
        getattr(client, kind)("h = x @ w\nsum(h)", {"x": START, "w": 1.0}, wait_ms=wait_ms)
    assert {job.id for job in client.jobs.list()} <= before


async def test_awaited_runs_leave_no_job_either(service_url):
    async with gradwire.AsyncClient(service_url) as client:
        before = {job.id for job in await client.jobs.list()}
        found = await client.minimize(rosenbrock, START, wait_ms=0)
        assert found.success
        assert {job.id for job in await client.jobs.list()} <= before


def test_a_run_with_a_key_leaves_the_job_that_answers_the_key_again(client):
    key = secrets.token_hex()
    first, second = (
        client.minimize(rosenbrock, START, wait_ms=0, idempotency_key=key) for _ in range(2)
    )
    np.testing.assert_array_equal(first.x, second.x)
    assert first.history["seconds"].tolist() == second.history["seconds"].tolist()


@pytest.mark.parametrize("kind", ["minimize", "least_squares", "root"])
def test_exact_runs_are_the_same_each_time(client, kind):
    f = rosenbrock if kind == "minimize" else np.sin
    found = [getattr(client, kind)(f, START, exact=True, wait_ms=wait) for wait in (None, 0, None)]
    assert len({np.asarray(each.x).tobytes() for each in found}) == 1
    assert (
        len({np.asarray(each.fun if "fun" in each else each.cost).tobytes() for each in found}) == 1
    )
    with pytest.raises(gradwire.APIError, match="exact"):
        getattr(client, kind)(f, START, exact="yes")


@pytest.mark.thorough
def test_no_fit_of_many_in_a_row_is_refused(monkeypatch):
    """More than twice as many jobs as a tenant may have."""
    monkeypatch.setenv("GRADWIRE_MAX_JOBS_PER_TENANT", "4")
    with gradwire.Client.local() as client:
        job = client.minimize(rosenbrock, START, background=True)
        for _ in range(10):
            assert client.minimize(rosenbrock, START, wait_ms=0).success
        assert [each.id for each in client.jobs.list()] == [job.id]
        for _ in range(4):
            client.minimize(rosenbrock, MANY, background=True, **LONG)
        with pytest.raises(gradwire.APIError, match="jobs"):
            client.minimize(rosenbrock, MANY, background=True, **LONG)


def test_a_local_service_streams_events():
    with gradwire.Client.local() as client:
        job = client.minimize(rosenbrock, MANY, background=True, **LONG)
        first = next(iter(job))
        assert first.iteration > 0
        job.cancel()
        assert job.state == "cancelled"


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n"


def described(state: str, iteration: int | None) -> bytes:
    progress = (
        "null"
        if iteration is None
        else f'{{"iteration": {iteration}, "value": 1.0, "gradient_norm": null, "seconds": 1.0, '
        f'"rate": 1.0, "seconds_left": null}}'
    )
    return (
        f'{{"id": "j", "kind": "minimize", "state": "{state}", "resumed": 0, '
        f'"created_at": "2026-01-01T00:00:00Z", "progress": {progress}}}'
    ).encode()


def json_reply(body: bytes) -> bytes:
    return HEAD % (b"application/json", len(body)) + body


def stream(*events: bytes) -> bytes:
    body = b"".join(events)
    return HEAD % (b"text/event-stream", len(body)) + body


def progress(number: int) -> bytes:
    document = (
        f'{{"iteration": {number}, "value": 1.0, "gradient_norm": 0.5, "seconds": 1.0, '
        f'"rate": 1.0, "seconds_left": null}}'
    )
    return f"id: {number}\nevent: progress\ndata: {document}\n\n".encode()


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(following, "POLL_SECONDS", 0.01)


def test_streams_go_on_where_they_ended(script, impatient):
    server = script(
        json_reply(described("running", None)),
        stream(progress(1), progress(2)),
        json_reply(described("running", 2)),
        None,  # the connection is lost
        json_reply(described("running", 3)),
        stream(progress(4), b"id: 5\nevent: done\ndata: {}\n\n"),
        json_reply(described("cancelled", 4)),
    )
    with gradwire.Client(server.url, max_retries=0) as client:
        job = client.jobs.get("j")
        assert [each.iteration for each in job] == [1, 2, 2, 3, 4, 4]
    streams = [request for request in server.requests if b"/events" in request]
    assert [b"last-event-id: 2" in request.lower() for request in streams] == [False, True, True]
    assert all(b"accept: text/event-stream" in request.lower() for request in streams)


async def test_without_streams_the_job_is_asked_about(script, impatient):
    refused = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
    server = script(
        json_reply(described("running", None)),
        refused,
        json_reply(described("running", 1)),
        json_reply(b"{}"),  # not a stream
        json_reply(described("cancelled", 2)),
    )
    async with gradwire.AsyncClient(server.url, max_retries=0) as client:
        job = await client.jobs.get("j")
        assert [each.iteration async for each in job] == [1, 2]


def test_errors_that_stay_are_raised(script, impatient):
    gone = b'{"code": "unknown_job", "title": "Unknown job"}'
    refusal = b"HTTP/1.1 404 Not Found\r\nContent-Type: application/problem+json\r\n"
    refusal += b"Content-Length: %d\r\n\r\n" % len(gone) + gone
    server = script(json_reply(described("running", None)), refusal, refusal)
    with gradwire.Client(server.url, max_retries=0) as client, pytest.raises(gradwire.UnknownJob):
        client.jobs.result("j")


class FollowedJob:
    """A job that no service has: its state, and what was asked about it."""

    def __init__(self) -> None:
        self.id = "j"
        self.state, self.done = "running", False
        self.progress: JobProgress | None = None
        self.document = SimpleNamespace(state="running", progress=None)
        self.refreshes = 0

    def refreshed(self) -> Iterator[Call[None]]:
        self.refreshes += 1
        return iter(())


def test_waiting_ends_when_its_time_has_passed_and_the_job_is_asked_about_once_more():
    clock, job = Clock(), FollowedJob()
    following_it = Following(cast("JobHandle[Any]", job), 100.0, clock=clock)
    assert following_it.stream().timeout_seconds == following.SILENCE_SECONDS
    clock.advance(70.0)
    assert following_it.stream().timeout_seconds == 30.0
    clock.advance(29.5)
    assert not following_it.is_late()
    clock.advance(0.5)
    assert following_it.is_late()
    with pytest.raises(gradwire.RequestTimeout, match="it is running, and goes on"):
        list(following_it.checked())
    assert job.refreshes == 1


def test_a_job_without_events_is_asked_about_once_a_second():
    pauses: list[float] = []
    following_it = Following(cast("JobHandle[Any]", FollowedJob()), sleep=pauses.append)
    for step in following_it.checked():
        assert isinstance(step, BlockingStep)
        step.function(cast("Fetch", None))
    assert pauses == [1.0]


def test_large_data_are_a_job_in_the_background_too(client):
    def loss(w, x):
        return (w - 1) ** 2 + 0 * np.mean(x)

    job = client.minimize(loss, 0.0, np.zeros(2_500_000), background=True)
    assert isinstance(job, gradwire.Job)
    assert job.result().x == pytest.approx(1)
    job.delete()
