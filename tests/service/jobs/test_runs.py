"""Jobs whose replica is gone: taken over from what is stored, or given up."""

import asyncio
import json
import os
import re
import signal
import sys
from hashlib import sha256
from typing import Any

import pytest
from gradwire_service.jobs import Job, Jobs, Lease, Transitions
from gradwire_service.jobs.records import part_of
from gradwire_service.settings import Settings
from gradwire_service.store import Key, Record, open_store
from gradwire_service.store.quotas import Amount, OverQuota

from tests.clock import ClockLoop, loop_clock
from tests.service.workers.processes import computing

REQUEST = {"program": "sum((x - 1)**2)", "variables": {"x": [3.0, 2.0]}}
#: The headers that are stored with it.
HEADERS = {"content-type": "application/json"}
#: Goes on until it is cancelled.
ENDLESS: dict[str, Any] = REQUEST | {
    "method": "sgd",
    "options": {"learning_rate": 1e-9, "maxiter": 10**9},
}
#: The time where a test does not move it.
NOW = 1000.0
#: Time moves as soon as the event loop only waits for it.
on_clock_loop = pytest.mark.parametrize(
    "anyio_backend", [("asyncio", {"loop_factory": ClockLoop})], ids=["clock"]
)
in_processes = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture
def left(tmp_path):
    """Leaves a job in a store as a killed replica does; returns the settings, and its path."""
    settings: dict[str, Any] = {"store": f"sqlite:{tmp_path / 'jobs.db'}"}

    def leave(owner, job, lease, request=REQUEST):
        store = open_store(Settings(**settings))
        key = Key("jobs", owner, "one")
        store.put(key, Record(job.to_json(), b""))
        sent = Record(json.dumps(HEADERS), json.dumps(request).encode())
        store.put(part_of(key, "request"), sent)
        store.put(lease.key, Record(lease.to_json(), b""))
        store.close()
        return settings, "/v1/jobs/one"

    return leave


@pytest.fixture
def owner():
    """The owner of requests without a key."""
    return sha256(b"").hexdigest()


async def shown(client, path, wanted):
    """The job as soon as it is as wanted."""
    while not wanted(job := (await client.get(path)).json()):  # noqa: ASYNC110
        await asyncio.sleep(0.02)
    return job


async def progressed(client, path, before):
    """The job once it reports other progress than before."""
    return await shown(client, path, lambda job: job["progress"] != before)


async def ended(client, path):
    return await shown(client, path, lambda job: job["state"] not in ("queued", "running"))


async def test_a_job_whose_lease_has_passed_is_taken_over(served, left, owner):
    lease = Lease(owner, "one", "a dead replica", NOW - 1)
    settings, path = left(owner, Job("minimize", NOW, "digest"), lease)
    async with served(now=lambda: NOW, **settings) as client:
        job = await ended(client, path)
        assert (job["state"], job["resumed"]) == ("succeeded", 1)
        assert job["result"]["solution"]["x"] == pytest.approx([1.0, 1.0], abs=1e-6)


@on_clock_loop
async def test_a_job_with_a_lease_is_left_alone(served, left, owner):
    now = loop_clock()
    lease = Lease(owner, "one", "a replica", now() + 6)
    settings, _ = left(owner, Job("minimize", now(), "digest"), lease)
    store = open_store(Settings(**settings), now)

    def resumed():
        return Jobs(store).find(Key("jobs", owner, "one")).job.resumed

    async with served(clock=now, now=now, **settings):
        await asyncio.sleep(6)  # replicas look at 0, 5 and 10 s
        assert not resumed()
        await asyncio.sleep(4.5)
        assert resumed() == 1
    store.close()


@pytest.mark.thorough
@on_clock_loop
async def test_a_replica_renews_its_leases(served, left, owner):
    now = loop_clock()
    lease = Lease(owner, "one", "a dead replica", now() - 1)
    settings, _ = left(owner, Job("minimize", now(), "digest"), lease, ENDLESS)
    store = open_store(Settings(**settings), now)
    left_seconds = []
    async with served(clock=now, now=now, **settings):
        for _ in range(25):  # without renewal, it would end after 20
            await asyncio.sleep(0.5)
            (lease,) = Transitions(store, "", lambda *_: {}).leases()
            left_seconds.append(lease.until - now())
        assert Jobs(store).find(Key("jobs", owner, "one")).job.resumed == 1
    assert min(left_seconds) > 6
    assert max(left_seconds) <= 12
    store.close()


@pytest.mark.thorough
@in_processes
async def test_a_job_goes_on_when_its_process_is_killed(served):
    async with served(processes=1, job_processes=1) as client:
        made = await client.post("/v1/minimize", json=ENDLESS | {"background": True})
        path = made.headers["location"]
        job = await progressed(client, path, None)
        for times in 1, 2:
            os.kill(await computing(), signal.SIGKILL)
            job = await shown(client, path, lambda job, times=times: job["resumed"] == times)
            assert job["problem"] is None
            job = await progressed(client, path, job["progress"])
        assert (job["state"], job["resumed"]) == ("running", 2)
        assert (await client.delete(path)).status_code == 204


@in_processes
async def test_who_waits_for_a_job_that_goes_on_is_answered_with_it(served):
    async with served(processes=1, job_processes=1, job_wait_ms=600_000) as client:
        headers = {"idempotency-key": "one"}
        request = ENDLESS | {"wait_ms": 600_000}
        waiting = asyncio.create_task(client.post("/v1/minimize", json=request, headers=headers))
        killed = await computing()
        (job,) = (await client.get("/v1/jobs")).json()["jobs"]
        await progressed(client, f"/v1/jobs/{job['id']}", None)
        os.kill(killed, signal.SIGKILL)
        answer = await waiting
        assert (answer.status_code, answer.json()["id"]) == (202, job["id"])
        job = await shown(client, answer.headers["location"], lambda job: job["resumed"])
        assert job["state"] == "running"
        assert (await client.delete(answer.headers["location"])).status_code == 204


@pytest.mark.parametrize("reached", [7, 5])
async def test_a_job_that_ends_processes_is_given_up(served, left, owner, reached):
    progress = {"iteration": reached, "value": 1.0}
    lease = Lease(owner, "one", "the third", NOW - 1, iteration=7, attempts=3)
    job = Job("minimize", NOW, "digest", "running", NOW, progress=progress)
    settings, path = left(owner, job, lease)
    async with served(now=lambda: NOW, **settings) as client:
        job = await ended(client, path)
        assert (job["state"], job["problem"]["code"]) == ("failed", "worker_crashed")
        assert "without any progress" in job["problem"]["detail"]


async def test_progress_is_another_chance(served, left, owner):
    progress = {"iteration": 8, "value": 1.0}
    lease = Lease(owner, "one", "the third", NOW - 1, iteration=7, attempts=3)
    job = Job("minimize", NOW, "digest", "running", NOW, progress=progress)
    settings, path = left(owner, job, lease)
    async with served(now=lambda: NOW, **settings) as client:
        assert (await ended(client, path))["state"] == "succeeded"


async def test_the_time_of_a_job_counts_from_its_creation(served, left, owner):
    lease = Lease(owner, "one", "a dead replica", NOW - 1)
    settings, path = left(owner, Job("minimize", NOW - 60, "digest"), lease)
    async with served(now=lambda: NOW, **settings, job_seconds=60) as client:
        job = await ended(client, path)
        assert (job["state"], job["problem"]["code"]) == ("failed", "deadline_exceeded")


async def test_an_answer_beyond_the_quota_is_a_problem(served):
    long = REQUEST | {
        "method": "sgd",
        "options": {"learning_rate": 1e-6, "maxiter": 990},
        "background": True,
    }
    async with served(max_jobs_bytes_per_tenant=20_000) as client:
        job = await ended(
            client, (await client.post("/v1/minimize", json=long)).headers["location"]
        )
        assert (job["state"], job["problem"]["code"]) == ("failed", "over_budget")
        listed = (await client.get("/v1/jobs")).json()["jobs"]
        assert [each["state"] for each in listed] == ["failed"]


async def test_a_job_whose_end_has_no_room_is_stored_as_soon_as_there_is_some(served, monkeypatch):
    monkeypatch.setattr("gradwire_service.jobs.run._RETRY_SECONDS", 0.01)
    end, ends = Transitions.end, list[Any]()

    def ends_later(self, held, fields, report, answer):
        ends.append((fields["state"], bool(report.events)))
        if len(ends) < 6:
            raise OverQuota.of("all", "jobs", Amount(2, 2000), Amount(1, 1000))
        return end(self, held, fields, report, answer)

    monkeypatch.setattr(Transitions, "end", ends_later)
    async with served() as client:
        made = await client.post("/v1/minimize", json=REQUEST | {"background": True})
        job = await ended(client, made.headers["location"])
    assert ends == 2 * [("succeeded", True), ("failed", True), ("failed", False)]
    assert (job["state"], job["problem"]["code"]) == ("failed", "over_budget")
    assert job["progress"] is not None
    assert job["resumed"] == 0, "stored by the run itself, not by one after it"


async def test_who_has_heard_of_more_than_was_stored_hears_all_of_the_next_run(served, left, owner):
    """Events that were only published have numbers, too: those of the next run are greater."""
    progress = {"iteration": 41, "value": 1.0}
    lease = Lease(owner, "one", "a dead replica", NOW - 1)
    job = Job("minimize", NOW, "digest", "running", NOW, progress=progress)
    settings, path = left(owner, job, lease)
    store = open_store(Settings(**settings))
    stored = f"41 {json.dumps(progress)}\n".encode()
    store.put(part_of(Key("jobs", owner, "one"), "events"), Record("a dead replica 41", stored))
    store.close()
    async with served(now=lambda: NOW, **settings) as client:
        await ended(client, path)
        stream = await client.get(f"{path}/events")
        later = await client.get(f"{path}/events", headers={"last-event-id": "57"})
    first, *others = [int(id) for id in re.findall(r"^id: (\d+)$", stream.text, re.MULTILINE)]
    assert first == 41
    assert others[0] == 1_000_000_001
    assert len(others) >= 2, "progress, and the end"
    assert [int(id) for id in re.findall(r"^id: (\d+)$", later.text, re.MULTILINE)] == others


@pytest.mark.thorough
async def test_a_replica_that_has_lost_its_lease_leaves_the_job(served, tmp_path):
    """As after a store that hung: one of both goes on with it, and only one."""
    shared: dict[str, Any] = {"store": f"sqlite:{tmp_path / 'jobs.db'}", "job_processes": 1}
    store = open_store(Settings(**shared))
    async with served(**shared) as one, served(**shared) as other:
        request = ENDLESS | {"background": True}
        path = (await one.post("/v1/minimize", json=request)).headers["location"]
        await progressed(one, path, None)
        (lease,) = Transitions(store, "", lambda *_: {}).leases()
        store.put(lease.key, Record(lease._replace(replica="another", until=0.0).to_json(), b""))
        await shown(one, path, lambda job: job["resumed"] == 1)
        runs = [client._transport.app.state.runs for client in (one, other)]
        while sum(each.running for each in runs) > 1:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        job = (await one.get(path)).json()
        job = await progressed(one, path, job["progress"])
        assert (job["state"], job["resumed"]) == ("running", 1)
        assert (await one.delete(path)).status_code == 204
        while any(each.running for each in runs):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        assert (await other.get(path)).json()["state"] == "cancelled"
    store.close()
