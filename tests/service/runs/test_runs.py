"""Jobs whose replica is gone: taken over from what is stored, or given up."""

import asyncio
import json
import time
from hashlib import sha256
from typing import Any

import pytest
from gradwire_service.jobs import Job, Jobs, Lease
from gradwire_service.settings import Settings
from gradwire_service.store import Key, open_store

REQUEST = {"program": "sum((x - 1)**2)", "variables": {"x": [3.0, 2.0]}}
#: The headers that are stored with it.
HEADERS = {"content-type": "application/json"}


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


async def ended(client, path):
    end = time.monotonic() + 30
    while (job := (await client.get(path)).json())["state"] in ("queued", "running"):
        assert time.monotonic() < end, job
        await asyncio.sleep(0.02)
    return job


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
        await asyncio.sleep(2.2)  # one more look at least
        assert (await client.get(path)).json()["resumed"] == 0
        assert (await ended(client, path))["resumed"] == 1


async def test_a_job_that_ends_replicas_is_given_up(served, left, owner):
    progress = {"iteration": 7, "value": 1.0}
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
