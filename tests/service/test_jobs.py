"""Jobs in a store: records that are swapped, their parts, and leases."""

import pytest
from gradwire_service.jobs import ENDED, PARTS, Job, Jobs, Lease, Unknown, new_id
from gradwire_service.settings import Settings
from gradwire_service.store import Key, open_store

KEY = Key("jobs", "me", "first")
JOB = Job("minimize", 1000.5, "digest")
LEASE = Lease("me", "first", "replica", 2000.25)


@pytest.fixture
def jobs(kept):
    store = open_store(Settings(**kept))
    yield Jobs(store)
    store.close()


def test_a_job_is_created_once(jobs):
    with pytest.raises(Unknown):
        jobs.find(KEY)
    assert jobs.create(KEY, JOB)
    assert not jobs.create(KEY, JOB._replace(kind="root"))
    assert jobs.find(KEY)[:2] == (KEY, JOB)


def test_a_change_needs_to_know_what_it_changes(jobs):
    jobs.create(KEY, JOB)
    progress = {"iteration": 1, "value": 0.1, "gradient_norm": 1e-300, "rate": None}
    running = JOB._replace(state="running", started_at=1001.0, progress=progress)
    assert jobs.change(KEY, JOB, running)
    assert not jobs.change(KEY, JOB, JOB)
    assert jobs.find(KEY).job == running
    assert jobs.change(KEY, jobs.find(KEY).job, JOB)


@pytest.mark.parametrize("state", sorted(ENDED))
def test_the_first_end_of_a_job_stays(jobs, state):
    jobs.create(KEY, JOB)
    ended = jobs.end(KEY, state=state, finished_at=1002.0)
    assert ended.ended
    assert jobs.end(KEY, state="failed", finished_at=1003.0) == ended == jobs.find(KEY).job


def test_removing_a_job_removes_its_parts(jobs):
    jobs.create(KEY, JOB)
    for part in PARTS:
        jobs.put_part(KEY, part, part.encode(), "about it")
        assert jobs.find_part(KEY, part)[:2] == ("about it", part.encode())
    jobs.remove(KEY)
    with pytest.raises(Unknown):
        jobs.find(KEY)
    assert [jobs.find_part(KEY, part) for part in PARTS] == [None] * len(PARTS)


def test_jobs_are_listed_by_owner_and_page(jobs):
    ids = sorted(new_id("me", None) for _ in range(5))
    for id in ids:
        jobs.create(Key("jobs", "me", id), JOB)
    jobs.create(Key("jobs", "you", "other"), JOB)
    assert [each.key.id for each in jobs.listed("me", "", 3)] == ids[:3]
    assert [each.key.id for each in jobs.listed("me", ids[2], 3)] == ids[3:]


def test_events_are_read_as_they_were_written(jobs):
    assert jobs.events(KEY) == []
    jobs.put_part(KEY, "events", b'1 {"value": 0.5}\n2 {}')
    assert jobs.events(KEY) == [(1, '{"value": 0.5}'), (2, "{}")]


def test_a_lease_has_one_holder(jobs):
    assert jobs.change_lease(None, LEASE)
    assert not jobs.change_lease(None, LEASE._replace(replica="another"))
    taken = LEASE._replace(replica="another", until=3000.0)
    assert jobs.change_lease(LEASE, taken)
    assert not jobs.change_lease(LEASE, LEASE._replace(until=4000.0))
    assert [*jobs.leases()] == [taken]
    jobs.remove_lease(taken)
    assert [*jobs.leases()] == []


def test_ids_follow_from_idempotency_keys_of_an_owner():
    assert new_id("me", b"key") == new_id("me", b"key")
    found = {new_id(owner, key) for owner, key in [("me", b"key"), ("you", b"key"), ("me", b"k")]}
    assert len(found) == 3
    assert len({new_id("me", None) for _ in range(100)}) == 100
