"""Jobs in a store: records that are swapped, their parts, and leases."""

from typing import Any

import pytest
from gradwire_service.jobs import ENDED, PARTS, Job, Jobs, Lease, Unknown, new_id
from gradwire_service.problems import RequestError
from gradwire_service.settings import Settings
from gradwire_service.store import STORED_JOBS, Key, Record, open_store
from gradwire_service.store.memory import MemoryStore
from gradwire_service.store.records import Amount, OverQuota, Policy
from gradwire_service.store.sqlite import SqliteStore
from hypothesis import given
from hypothesis import strategies as st

from tests.clock import Clock
from tests.effort import examples
from tests.service.store.given import in_redis

KEY = Key("jobs", "me", "first")
JOB = Job("minimize", 1000.5, "digest")
LEASE = Lease("me", "first", "replica", 2000.25)
STORES = ["memory", "sqlite", "redis"]


@pytest.fixture(scope="module")
def store_of(request):
    """Opens an empty store of the kind that a test asks for, with this policy of jobs."""

    def open_one(policy: Policy, clock: Clock) -> Any:
        policies = {"jobs": policy, "job_parts": policy, "job_leases": policy, "used": policy}
        if request.param == "memory":
            return MemoryStore(policies, clock)  # type: ignore[arg-type]
        if request.param == "sqlite":
            return SqliteStore(":memory:", policies, clock)  # type: ignore[arg-type]
        return in_redis(request.getfixturevalue("redis_url"), policies, clock)

    return open_one


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


MOST, TTL = 2, 500.0
steps = st.lists(
    st.tuples(
        st.sampled_from(["begin", "begin", "succeed", "fail", "cancel", "take", "wait", "remove"]),
        st.integers(0, 9),
        st.sampled_from([1.0, 30.0, 61.0, 200.0]),
    ),
    max_size=40,
)


class Model:
    """What is stored of an owner's jobs, by the rules as the reference states them."""

    def __init__(self) -> None:
        self.jobs: dict[str, list[Any]] = {}  # [finished, taken, expires] by id

    def expire(self, now: float) -> None:
        self.jobs = {id: job for id, job in self.jobs.items() if job[2] > now}

    def begin(self, id: str, now: float) -> bool:
        """Whether there is room for one more, which is made."""
        ended = [each for each, (finished, *_) in self.jobs.items() if finished is not None]
        if len(self.jobs) - len(ended) == MOST:
            return False
        if len(self.jobs) == STORED_JOBS * MOST:
            old = [each for each in ended if self.taken(each) and self.jobs[each][1] + 60 <= now]
            first = min(old or ended, key=lambda each: (self.jobs[each][0], each))
            del self.jobs[first]
        self.jobs[id] = [None, None, now + TTL]
        return True

    def taken(self, id: str) -> bool:
        return self.jobs[id][1] is not None


@examples(200)
@given(steps, st.sampled_from(["me", "you"]))
@pytest.mark.parametrize("store_of", STORES, indirect=True)
def test_jobs_that_have_ended_make_room_for_others(store_of, given_steps, owner):
    """Only jobs that wait or run are refused another, and none of another owner is lost."""
    clock = Clock(1000.0)
    store = store_of(
        Policy(Amount(STORED_JOBS * MOST, 10_000), Amount(10 * MOST, 100_000), TTL), clock
    )
    jobs, model = Jobs(store, clock), Model()
    others = Key("jobs", "other", "theirs")
    assert jobs.create(others, JOB)
    jobs.end(others, state="succeeded", finished_at=clock(), taken_at=0.0)
    for number, (what, which, seconds) in enumerate(given_steps):
        model.expire(clock())
        ids = sorted(model.jobs)
        chosen = ids[which % len(ids)] if ids else None
        if what == "begin":
            new = Key("jobs", owner, f"{number:02}")
            if model.begin(new.id, clock()):
                assert jobs.create(new, JOB)
            else:
                with pytest.raises(RequestError, match="run or wait"):
                    jobs.create(new, JOB)
        elif what == "wait":
            clock.advance(seconds)
        elif chosen is not None:
            key = Key("jobs", owner, chosen)
            finished, taken, _ = model.jobs[chosen]
            if what == "remove":
                jobs.remove(key)
                del model.jobs[chosen]
            elif what == "take":
                jobs.take(key)
                if finished is not None and taken is None:
                    model.jobs[chosen][1] = clock()
                model.jobs[chosen][2] = clock() + TTL
            else:
                state = {"succeed": "succeeded", "fail": "failed", "cancel": "cancelled"}[what]
                jobs.end(key, state=state, finished_at=clock())
                if finished is None:
                    model.jobs[chosen][0] = clock()
                model.jobs[chosen][2] = clock() + TTL
        model.expire(clock())
        assert [each.key.id for each in jobs.listed(owner, "", 100)] == sorted(model.jobs)
        jobs.find(others)  # used again: it does not expire
    store.close()


@pytest.mark.parametrize("store_of", STORES, indirect=True)
def test_parts_need_no_more_jobs_deleted_than_is_enough(store_of):
    clock = Clock(1000.0)
    store = store_of(Policy(Amount(10, 1000), Amount(100, 10_000), TTL), clock)
    jobs = Jobs(store, clock)
    keys = [Key("jobs", "me", id) for id in "abcd"]
    for key, nbytes in zip(keys, (300, 200, 400, 0), strict=True):
        assert jobs.create(key, JOB._replace(kind="root", digest=""))
        jobs.put_part(key, "answer", b"x" * nbytes)
        clock.advance(1)
    *ended, running, empty = keys
    for key in ended:
        jobs.end(key, state="succeeded", finished_at=clock())
        clock.advance(1)
    jobs.end(empty, state="failed", finished_at=0.0)
    with pytest.raises(OverQuota) as refused:
        jobs.put_part(running, "checkpoint", b"x" * 601)
    assert "cancel" in str(refused.value.hint)
    assert [each.key for each in jobs.listed("me", "", 10)] == keys
    jobs.put_part(running, "checkpoint", b"x" * 350)
    assert [each.key for each in jobs.listed("me", "", 10)] == keys[1:]
    jobs.put_part(running, "checkpoint", b"x" * 600)
    assert [each.key for each in jobs.listed("me", "", 10)] == [running, empty]
    answer = jobs.find_part(running, "answer")
    assert answer is not None
    assert len(answer.content) == 400
    store.close()


def test_of_jobs_that_are_created_at_once_the_first_are_within_the_quota(jobs):
    """However their creation interleaves: each looks again once it is stored."""
    most = jobs._store.policies["jobs"].per_owner.records // STORED_JOBS
    for number in range(most - 1):
        assert jobs.create(Key("jobs", "me", f"old {number}"), JOB._replace(created_at=1.0))
    late, early = (Key("jobs", "me", id) for id in ("late", "early"))
    assert jobs.create(early, JOB._replace(created_at=2.0))
    # As if it had been stored before the other one was, by a replica whose clock is ahead.
    jobs._store.swap(late, Record(JOB._replace(created_at=3.0).head, b""), None)
    jobs._check_quota(early)
    with pytest.raises(RequestError, match="run or wait"):
        jobs._check_quota(late)
