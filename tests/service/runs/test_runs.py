"""Jobs whose replica is gone: taken over from what is stored, or given up."""

import asyncio
import json
import os
import signal
import sys
import time
from hashlib import sha256
from typing import Any

import pytest
from gradwire_service.jobs import Job, Jobs, Lease
from gradwire_service.settings import Settings
from gradwire_service.store import Key, open_store

from tests.service.workers.processes import computing

REQUEST = {"program": "sum((x - 1)**2)", "variables": {"x": [3.0, 2.0]}}
#: The headers that are stored with it.
HEADERS = {"content-type": "application/json"}
#: Takes some seconds.
LONG: dict[str, Any] = REQUEST | {
    "method": "sgd",
    "options": {"learning_rate": 1e-6, "maxiter": 40_000},
}
in_processes = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture
def left(tmp_path):
    """Leaves a job in a store as a killed replica does; returns the settings, and its path."""
    settings: dict[str, Any] = {"store": f"sqlite:{tmp_path / 'jobs.db'}"}

    def leave(owner, job, lease):
        store = open_store(Settings(**settings))
        jobs, key = Jobs(store), Key("jobs", owner, "one")
        assert jobs.create(key, job)
        jobs.put_part(key, "request", json.dumps(REQUEST).encode(), json.dumps(HEADERS))
        assert jobs.change_lease(None, lease)
        store.close()
        return settings, "/v1/jobs/one"

    return leave


@pytest.fixture
def owner():
    """The owner of requests without a key."""
    return sha256(b"").hexdigest()


async def shown(client, path, wanted):
    """The job as soon as it is as wanted."""
    end = time.monotonic() + 60
    while not wanted(job := (await client.get(path)).json()):
        assert time.monotonic() < end, job
        await asyncio.sleep(0.02)
    return job


async def running(client, path):
    return await shown(client, path, lambda job: job["state"] != "queued")


async def ended(client, path):
    return await shown(client, path, lambda job: job["state"] not in ("queued", "running"))


async def test_a_job_whose_lease_has_passed_is_taken_over(served, left, owner):
    lease = Lease(owner, "one", "a dead replica", time.time() - 1)
    settings, path = left(owner, Job("minimize", time.time(), "digest"), lease)
    async with served(**settings) as client:
        job = await ended(client, path)
        assert (job["state"], job["resumed"]) == ("succeeded", 1)
        assert job["result"]["solution"]["x"] == pytest.approx([1.0, 1.0], abs=1e-6)


async def test_a_job_with_a_lease_is_left_alone(served, left, owner):
    lease = Lease(owner, "one", "a replica", time.time() + 3)
    settings, path = left(owner, Job("minimize", time.time(), "digest"), lease)
    async with served(**settings) as client:
        await shown(client, path, lambda job: job["resumed"])
        assert time.time() >= lease.until


@in_processes
async def test_a_job_goes_on_when_its_process_is_killed(served):
    async with served(processes=1, job_processes=1) as client:
        made = await client.post("/v1/minimize", json=LONG | {"background": True})
        path = made.headers["location"]
        for times in 1, 2:
            killed = await computing()
            await running(client, path)
            os.kill(killed, signal.SIGKILL)
            await shown(
                client, path, lambda job, times=times: job["resumed"] == times or job["problem"]
            )
        job = await ended(client, path)
        assert (job["state"], job["resumed"]) == ("succeeded", 2)
        assert job["result"]["iterations"] == LONG["options"]["maxiter"]


@in_processes
async def test_who_waits_for_a_job_that_goes_on_is_answered_with_it(served):
    async with served(processes=1, job_processes=1) as client:
        headers = {"idempotency-key": "one"}
        waiting = asyncio.create_task(client.post("/v1/minimize", json=LONG, headers=headers))
        killed = await computing()
        (job,) = (await client.get("/v1/jobs")).json()["jobs"]
        await running(client, f"/v1/jobs/{job['id']}")
        os.kill(killed, signal.SIGKILL)
        answer = await waiting
        assert (answer.status_code, answer.json()["id"]) == (202, job["id"])
        assert (await ended(client, answer.headers["location"]))["state"] == "succeeded"


@pytest.mark.parametrize("reached", [7, 5])
async def test_a_job_that_ends_processes_is_given_up(served, left, owner, reached):
    progress = {"iteration": reached, "value": 1.0}
    lease = Lease(owner, "one", "the third", time.time() - 1, iteration=7, attempts=3)
    job = Job("minimize", time.time(), "digest", "running", time.time(), progress=progress)
    settings, path = left(owner, job, lease)
    async with served(**settings) as client:
        job = await ended(client, path)
        assert (job["state"], job["problem"]["code"]) == ("failed", "worker_crashed")
        assert "without any progress" in job["problem"]["detail"]


async def test_progress_is_another_chance(served, left, owner):
    progress = {"iteration": 8, "value": 1.0}
    lease = Lease(owner, "one", "the third", time.time() - 1, iteration=7, attempts=3)
    job = Job("minimize", time.time(), "digest", "running", time.time(), progress=progress)
    settings, path = left(owner, job, lease)
    async with served(**settings) as client:
        assert (await ended(client, path))["state"] == "succeeded"


async def test_the_time_of_a_job_counts_from_its_creation(served, left, owner):
    lease = Lease(owner, "one", "a dead replica", time.time() - 1)
    settings, path = left(owner, Job("minimize", time.time() - 100, "digest"), lease)
    async with served(**settings, job_seconds=60) as client:
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
