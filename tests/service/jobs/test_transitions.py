"""Jobs in a store: records that are swapped, their parts, and leases."""

import json
from typing import Any

import pytest
from gradwire_service.jobs import (
    ENDED,
    PARTS,
    Cancelled,
    Interrupted,
    Job,
    Report,
    Transitions,
    Unknown,
    new_id,
)
from gradwire_service.jobs.records import part_of
from gradwire_service.jobs.transitions import MOST_EVENTS, events_in
from gradwire_service.problems import RequestError
from gradwire_service.settings import Settings
from gradwire_service.store import STORED_JOBS, Key, Record, open_store
from gradwire_service.store.memory import MemoryStore
from gradwire_service.store.quotas import Amount, OverQuota, OverShare, Policy
from gradwire_service.store.records import Change
from gradwire_service.store.sqlite import SqliteStore
from hypothesis import given
from hypothesis import strategies as st

from tests.clock import Clock
from tests.effort import examples
from tests.service.store.given import in_redis

KEY = Key("jobs", "me", "first")
JOB = Job("minimize", 1000.5, "digest")
STORES = ["memory", "sqlite", "redis"]


@pytest.fixture(scope="module")
def store_of(request):
    """Opens an empty store of the kind that a test asks for, with this policy of jobs."""

    def open_one(policy: Policy, clock: Clock) -> Any:
        parts = policy._replace(
            per_owner=policy.per_owner._replace(records=4 * policy.per_owner.records),
            total=policy.total._replace(records=4 * policy.total.records),
        )
        policies = {"jobs": policy, "job_parts": parts, "job_leases": parts, "used": policy}
        if request.param == "memory":
            return MemoryStore(policies, clock)  # type: ignore[arg-type]
        if request.param == "sqlite":
            return SqliteStore(":memory:", policies, clock)  # type: ignore[arg-type]
        return in_redis(request.getfixturevalue("redis_url"), policies, clock)

    return open_one


@pytest.fixture
def store(kept):
    store = open_store(Settings(**kept))
    yield store
    store.close()


def machine(store, replica="replica", now=lambda: 2000.25):
    return Transitions(store, replica, lambda _, error: {"code": error.code}, now)


@pytest.fixture
def jobs(store):
    return machine(store)


def created(jobs, key=KEY, job=JOB, request=b"{}"):
    held = jobs.create(key, job, request, "{}")
    assert held is not None
    return held


def reported(number, **more):
    return Report([(number, json.dumps({"iteration": number}))], 1001.0, **more)


SUCCEEDED = {"state": "succeeded", "finished_at": 1002.0}
FAILED = {"state": "failed", "finished_at": 1003.0, "problem": {}}
ANSWER = Record("application/json", b"2")


def ended(jobs, held, state):
    """End a job in each way there is."""
    if state == "cancelled":
        jobs.cancel(held.stored.key)
    elif state == "failed":
        jobs.end(held, FAILED, reported(1), None)
    else:
        jobs.end(held, SUCCEEDED, reported(1), ANSWER)


def test_a_job_is_created_once_with_its_request_and_lease(jobs):
    with pytest.raises(Unknown):
        jobs.jobs.find(KEY)
    held = created(jobs)
    assert jobs.create(KEY, JOB._replace(kind="root"), b"", "") is None
    assert jobs.jobs.find(KEY)[:2] == (KEY, JOB) == held.stored[:2]
    assert jobs.jobs.find_part(KEY, "request")[:2] == ("{}", b"{}")
    assert [*jobs.leases()] == [held.lease]
    assert held.lease[:4] == ("me", "first", "replica", 2012.25)


@pytest.mark.parametrize("state", sorted(ENDED))
@pytest.mark.parametrize("late", ["report", "succeeded", "failed", "cancelled", "claim"])
def test_an_end_is_never_left(jobs, store, state, late):
    """However late another comes: one that lost its lease, or took the job over just before."""
    held = created(jobs)
    claim = machine(store, "other", lambda: 3000.0).claim(held.lease)
    assert claim is not None
    ended(machine(store, "other"), claim.held, state)
    before = [jobs.jobs.find(KEY), jobs.jobs.find_part(KEY, "answer")]
    assert before[0].job.state == state
    assert [*jobs.leases()] == []
    for replica, stale in ("replica", held), ("other", claim.held):
        again = machine(store, replica)
        if late == "report":
            with pytest.raises(Cancelled):
                again.report(stale, reported(2), renew=True)
        elif late == "claim":
            assert again.claim(stale.lease) is None
        elif late == "cancelled":
            continue  # deletes what has ended
        else:
            other = ANSWER._replace(body=b"3") if late == "succeeded" else None
            fields = SUCCEEDED if other else FAILED
            found = again.end(stale, fields, reported(2), other).job
            assert found._replace(taken_at=before[0].job.taken_at) == before[0].job
        again.take(KEY)
    after = [jobs.jobs.find(KEY), jobs.jobs.find_part(KEY, "answer")]
    assert after[0].job._replace(taken_at=None) == before[0].job._replace(taken_at=None)
    assert (after[1] and after[1][:2]) == (before[1] and before[1][:2])


def test_what_a_job_needed_goes_with_its_end(jobs):
    held, _ = jobs.report(created(jobs), reported(1, checkpoint=b"half"), renew=False)
    assert jobs.jobs.find_part(KEY, "checkpoint").content == b"half"
    ended(jobs, held, "succeeded")
    found = {part: jobs.jobs.find_part(KEY, part) for part in PARTS}
    assert [part for part in PARTS if found[part] is not None] == ["events", "answer"]
    assert found["answer"][:2] == ANSWER
    assert jobs.remove(jobs.jobs.find(KEY))
    assert [jobs.jobs.find_part(KEY, part) for part in PARTS] == [None] * len(PARTS)


def test_a_result_counts_from_whoever_has_it_and_a_failure_from_the_holder(jobs, store):
    held = created(jobs)
    claim = machine(store, "other", lambda: 3000.0).claim(held.lease)
    with pytest.raises(Interrupted):
        jobs.report(held, reported(1), renew=True)
    with pytest.raises(Interrupted):
        ended(jobs, held, "failed")
    ended(jobs, held, "succeeded")
    with pytest.raises(Cancelled):
        machine(store, "other").report(claim.held, reported(2), renew=True)
    assert jobs.jobs.find(KEY).job.state == "succeeded"


def test_a_lease_has_one_holder_and_is_handed_over(jobs, store):
    held = created(jobs)
    others = [machine(store, name, lambda: 3000.0) for name in ("one", "two")]
    first, second = [other.claim(held.lease) for other in others]
    assert first is not None
    assert second is None
    assert first.held.stored.job.resumed == 1
    assert first.request[:2] == ("{}", b"{}")
    held, _ = others[0].report(first.held, reported(7), renew=True)
    others[0].hand_over(held, b"seven", counted=False, announced=True)
    (lease,) = jobs.leases()
    assert lease.until == 0
    claim = jobs.claim(lease)
    assert (claim.checkpoint, claim.events) == (b"seven", [(7, '{"iteration": 7}')])
    assert (claim.held.lease.iteration, claim.held.lease.attempts) == (7, 1)


def test_a_job_without_its_request_fails(jobs, store):
    held = created(jobs)
    store.remove(part_of(KEY, "request"))
    assert jobs.claim(held.lease) is None
    assert jobs.jobs.find(KEY).job.problem == {"code": "store_unavailable"}
    assert [*jobs.leases()] == []


def test_events_are_added_one_by_one_and_now_and_then_written_anew(jobs, store):
    held, events, logs = created(jobs), list[tuple[int, str]](), set()
    key = part_of(KEY, "events")
    for number in range(1, 3 * MOST_EVENTS):
        events = [*events[1 - MOST_EVENTS :], (number, f'{{"iteration": {number}}}')]
        held, _ = jobs.report(held, Report(events, 1001.0), renew=False)
        logs.add(store.peek([key])[0].head)
    assert len(logs) == 2
    found = events_in(jobs.jobs.find_part(KEY, "events"))
    assert found[-MOST_EVENTS:] == events
    before = len(store.find(key).body)
    jobs.report(held, Report([(1000, "{}")], 1001.0), renew=False)
    assert store.peek([key], before)[0].tail == b"1000 {}\n"


def test_jobs_are_listed_by_owner_and_page(jobs):
    ids = sorted(new_id("me", None) for _ in range(5))
    for id in ids:
        created(jobs, Key("jobs", "me", id))
    created(jobs, Key("jobs", "you", "other"))
    assert [each.key.id for each in jobs.jobs.listed("me", "", 3)] == ids[:3]
    assert [each.key.id for each in jobs.jobs.listed("me", ids[2], 3)] == ids[3:]


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
    jobs, model = machine(store, now=clock), Model()
    others = Key("jobs", "other", "theirs")
    ended(jobs, created(jobs, others), "succeeded")
    held = {}
    for number, (what, which, seconds) in enumerate(given_steps):
        model.expire(clock())
        ids = sorted(model.jobs)
        chosen = ids[which % len(ids)] if ids else None
        if what == "begin":
            new = Key("jobs", owner, f"{number:02}")
            if model.begin(new.id, clock()):
                held[new.id] = created(jobs, new)
            else:
                with pytest.raises(RequestError, match="run or wait"):
                    jobs.create(new, JOB, b"", "")
        elif what == "wait":
            clock.advance(seconds)
        elif chosen is not None:
            key = Key("jobs", owner, chosen)
            finished, taken, expires_at = model.jobs[chosen]
            if expires_at - clock() <= 0.9 * TTL:
                model.jobs[chosen][2] = clock() + TTL
            if what == "remove" or (what == "cancel" and finished is not None):
                assert jobs.remove(jobs.jobs.find(key))
                del model.jobs[chosen]
            elif what == "take":
                jobs.take(key)
                if finished is not None and taken is None:
                    model.jobs[chosen][1] = clock()
            else:
                state = {"succeed": "succeeded", "fail": "failed", "cancel": "cancelled"}[what]
                fields = {"state": state, "finished_at": clock()}
                if what == "cancel":
                    jobs.cancel(key)
                    model.jobs[chosen][1] = clock()
                else:
                    jobs.end(held[chosen], fields, Report([], None), ANSWER)
                if finished is None:
                    model.jobs[chosen][0] = clock()
        model.expire(clock())
        assert [each.key.id for each in jobs.jobs.listed(owner, "", 100)] == sorted(model.jobs)
        jobs.jobs.find(others)  # used again: it does not expire
    store.close()


@pytest.mark.parametrize("store_of", STORES, indirect=True)
def test_parts_need_no_more_jobs_deleted_than_is_enough(store_of):
    clock = Clock(1000.0)
    store = store_of(Policy(Amount(10, 1000), Amount(100, 10_000), TTL), clock)
    jobs = machine(store, now=clock)
    keys = [Key("jobs", "me", id) for id in "abcd"]
    held = [
        jobs.create(key, JOB._replace(kind="root", digest=""), b"x" * nbytes, "")
        for key, nbytes in zip(keys, (0, 0, 400, 0), strict=True)
    ]
    *_, running, empty = keys
    for one, nbytes in zip(held, (300, 200), strict=False):
        fields = {"state": "succeeded", "finished_at": clock()}
        jobs.end(one, fields, Report([], None), Record("", b"x" * nbytes))
        clock.advance(1)
    jobs.end(held[3], FAILED, Report([], None), None)
    now = held[2]
    for number, (nbytes, stored, left) in enumerate(
        [(601, None, keys), (300, 300, keys[1:]), (580, 580, [running, empty])]
    ):
        report = Report([(number, "{}")], None, b"x" * nbytes)
        now, _ = jobs.report(now, report, renew=False)
        part = jobs.jobs.find_part(running, "checkpoint")
        assert (part and len(part.content)) == stored
        assert [each.key for each in jobs.jobs.listed("me", "", 10)] == left
    with pytest.raises(OverQuota) as refused:
        jobs.end(now, SUCCEEDED, Report([], None), Record("", b"x" * 1001))
    assert "cancel" in str(refused.value.hint)
    assert [each.key for each in jobs.jobs.listed("me", "", 10)] == [running, empty]
    store.close()


def test_of_jobs_that_are_created_at_once_the_first_are_within_the_quota(jobs, store):
    """However their creation interleaves: each looks again once it is stored."""
    most = store.policies["jobs"].per_owner.records // STORED_JOBS
    for number in range(most - 1):
        created(jobs, Key("jobs", "me", f"old {number}"), JOB._replace(created_at=1.0))
    late, early = (Key("jobs", "me", id) for id in ("late", "early"))
    created(jobs, early, JOB._replace(created_at=2.0))
    # As if it had been stored before the other one was, by a replica whose clock is ahead.
    store.put(late, Record(JOB._replace(created_at=3.0).to_json(), b""))
    jobs._quotas.check(early)
    with pytest.raises(RequestError, match="run or wait"):
        jobs._quotas.check(late)


@pytest.mark.parametrize("store_of", STORES, indirect=True)
def test_a_job_that_runs_is_not_held_to_a_share_that_others_reduce(store_of):
    """It is reported and ends, and evicts none of its owner's results, whatever others store."""
    clock = Clock(1000.0)
    policy = Policy(Amount(10, 5000), Amount(20, 10_000), TTL, shares_fairly=True)
    store = store_of(policy, clock)
    jobs = machine(store, now=clock)
    finished, running = (Key("jobs", "me", id) for id in ("finished", "running"))
    jobs.end(created(jobs, finished), SUCCEEDED, Report([], None), Record("", bytes(2500)))
    held = created(jobs, running, request=bytes(800))
    for number in range(3):
        created(jobs, Key("jobs", f"owner {number}", "theirs"), request=bytes(1500))
    with pytest.raises(OverShare) as refused:
        store.commit([Change(part_of(running, "checkpoint"), "", bytes(300))])
    assert refused.value.excess.nbytes > 0
    held, _ = jobs.report(held, reported(1, checkpoint=bytes(300)), renew=True)
    assert len(jobs.jobs.find_part(running, "checkpoint").content) == 300
    jobs.hand_over(held, bytes(400), counted=False, announced=True)
    (lease,) = (each for each in jobs.leases() if each.id == "running")
    claim = jobs.claim(lease)
    assert len(claim.checkpoint) == 400
    end = jobs.end(claim.held, SUCCEEDED, reported(2), Record("", bytes(1500)))
    assert end.job.state == "succeeded"
    assert len(jobs.jobs.find_part(finished, "answer").content) == 2500
    store.close()
