"""Random histories of jobs: replicas, lost leases, hung stores, cancels and restarts, interleaved.

A model test of ``gradwire_service.jobs.transitions`` over any store, in time that it moves itself.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, cast

from gradwire_service.jobs import (
    Cancelled,
    Held,
    Interrupted,
    Job,
    Jobs,
    Report,
    State,
    Transitions,
    Unknown,
)
from gradwire_service.jobs.records import part_of
from gradwire_service.jobs.transitions import TRANSITIONS
from gradwire_service.store import Key, Record, SharedStore, Unavailable
from gradwire_service.store.records import Change, Notice
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from tests.clock import Clock

KEY = Key("jobs", "me", "one")
#: Which of three replicas.
WHICH = st.integers(0, 2)
#: Longer than any history: what expires is no part of these.
TTL = 1e9


class Faulty:
    """A connection to a store whose next commits may be lost, or come late: both look alike."""

    def __init__(self, store: SharedStore) -> None:
        self._store = store
        self.faults: list[str] = []
        #: Commits that the store has not made yet, though nobody waits for them any more.
        self.late: list[Callable[[], object]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def commit(
        self, changes: Sequence[Change], notice: Notice | None = None, *, admitted: bool = False
    ) -> int | None:
        commit = partial(self._store.commit, changes, notice, admitted=admitted)
        if self.faults:
            match self.faults.pop(0):
                case "late":
                    self.late.append(commit)
                case "answer lost":
                    commit()
            raise Unavailable("the store does not answer")
        return commit()


class Replica:
    """Runs a job as ``jobs.runs`` does: what it holds, and an end yet to be stored."""

    def __init__(self, store: Faulty, name: str, clock: Clock) -> None:
        problem: Any = lambda _, error: {"code": error.code}  # noqa: E731
        self.transitions = Transitions(cast("SharedStore", store), name, problem, clock)
        self.name = name
        self.held: Held | None = None
        self.ends = False
        self.answer: bytes | None = None
        self.iteration = 0


class Histories(RuleBasedStateMachine):
    """Checks after each step what clients could see.

    Of what runs a job, a step takes one that does, while any does.
    """

    def __init__(self, opened: Callable[[Clock], SharedStore]) -> None:
        super().__init__()
        self.clock = Clock()
        self.store = opened(self.clock)
        self.jobs = Jobs(self.store)
        self.faulty = Faulty(self.store)
        self.number = 0
        self.replicas = [self.new_replica() for _ in range(3)]
        #: What was seen last of the job: None, or its creation, state and answer.
        self.seen: tuple[float, State, bytes | None] | None = None
        #: The answers that were computed for the job created then.
        self.computed: dict[float, set[bytes]] = {}

    def teardown(self) -> None:
        self.goes_on_to_an_end()
        self.store.close()

    def new_replica(self) -> Replica:
        self.number += 1
        return Replica(self.faulty, f"replica {self.number}", self.clock)

    def holder(self, which: int) -> Replica | None:
        """One of those that run the job, or have not heard that they do not any more."""
        holders = [each for each in self.replicas if each.held is not None]
        return holders[which % len(holders)] if holders else None

    @initialize()
    def begin(self) -> None:
        self.create(0)

    @rule(which=WHICH)
    def restart(self, which: int) -> None:
        """A killed replica forgets all that it holds."""
        self.replicas[which] = self.new_replica()

    @rule(seconds=st.sampled_from([1.0, 4.0]))
    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @rule(faults=st.lists(st.sampled_from(["lost", "late", "answer lost"]), min_size=1, max_size=3))
    def hang(self, faults: list[str]) -> None:
        self.faulty.faults += faults

    @rule()
    def catch_up(self) -> None:
        """The store makes what it was asked for long ago."""
        if self.faulty.late:
            self.faulty.late.pop(0)()

    @rule(which=WHICH)
    def create(self, which: int) -> None:
        replica = self.replicas[which]
        if replica.held is not None:
            return
        self.clock.advance(0.001)
        job = Job("minimize", self.clock(), f"request {self.clock()}")
        self.computed[job.created_at] = set()
        with suppress(Unavailable):
            replica.held = replica.transitions.create(KEY, job, job.digest.encode(), "{}")

    @rule(which=WHICH)
    def claim(self, which: int) -> None:
        """A replica looks for jobs whose leases have passed, just when they have."""
        replica = self.replicas[which]
        for lease in [] if replica.held else [*replica.transitions.leases()]:
            self.clock.advance(max(0.0, lease.until + 1 - self.clock()))
            with suppress(Unavailable):
                claim = replica.transitions.claim(lease)
                if claim is not None:
                    created = claim.held.stored.job.created_at
                    assert bytes(claim.request.content).decode() == f"request {created}"
                    replica.held, replica.ends = claim.held, False

    @rule(which=WHICH, checkpoint=st.sampled_from([None, b"x"]))
    def report(self, which: int, checkpoint: bytes | None) -> None:
        replica = self.holder(which)
        if replica is None or replica.held is None or replica.ends:
            return
        replica.iteration += 1
        progress = json.dumps({"iteration": replica.iteration})
        report = Report([(replica.iteration, progress)], self.clock(), checkpoint)
        try:
            replica.held, _ = replica.transitions.report(
                replica.held, report, renew=checkpoint is None
            )
        except (Cancelled, Interrupted):
            replica.held = None
        except Unavailable:
            pass

    @rule(which=WHICH, succeeds=st.booleans())
    def end(self, which: int, succeeds: bool) -> None:
        replica = self.holder(which)
        if replica is None or replica.held is None:
            return
        if not replica.ends:  # else it tries to store the same end again
            replica.ends, replica.answer = True, None
            if succeeds:
                replica.answer = f"{replica.name} {self.clock()}".encode()
                self.computed[replica.held.stored.job.created_at].add(replica.answer)
        self.store_end(replica, replica.held)

    def store_end(self, replica: Replica, held: Held) -> None:
        now, record = self.clock(), None
        fields: dict[str, Any] = {"state": "failed", "finished_at": now, "problem": {}}
        if replica.answer is not None:
            fields = {"state": "succeeded", "finished_at": now}
            record = Record("application/json", replica.answer)
        try:
            ended = replica.transitions.end(held, fields, Report([], now), record).job
            assert ended.ended
            found = self.jobs.find(KEY).job
            assert found._replace(taken_at=None) == ended._replace(taken_at=None), "a lost end"
        except (Unknown, Interrupted):
            pass
        except Unavailable:
            return
        replica.held, replica.ends = None, False

    @rule(which=WHICH)
    def hand_over(self, which: int) -> None:
        replica = self.holder(which)
        if replica is not None and replica.held is not None and not replica.ends:
            with suppress(Unavailable):
                replica.transitions.hand_over(replica.held, b"l", counted=False, announced=True)
                replica.held = None

    @rule(which=WHICH)
    def cancel(self, which: int) -> None:
        with suppress(Unknown, Unavailable):
            self.replicas[which].transitions.cancel(KEY)

    @rule(which=WHICH)
    def take(self, which: int) -> None:
        self.replicas[which].transitions.take(KEY)

    @invariant()
    def what_clients_see_is_a_history_of_jobs(self) -> None:
        before, self.seen = self.seen, None
        with suppress(Unknown):
            job = self.jobs.find(KEY).job
            part = self.store.find(part_of(KEY, "answer"))
            answer = None if part is None else bytes(part.content)
            self.seen = job.created_at, job.state, answer
            if job.state == "succeeded":
                assert answer in self.computed[job.created_at], "a result of another request"
            else:
                assert answer is None, "a result without success"
            if before is not None and before[0] == job.created_at:
                assert reaches(before[1], job.state), f"{before[1]} became {job.state}"
                if before[1] == job.state:
                    assert before[2] == answer, "two results"

    def goes_on_to_an_end(self) -> None:
        """With a store that works again, every job comes to its end, and leaves only that."""
        self.faulty.faults.clear()
        while self.faulty.late:
            self.catch_up()
            self.what_clients_see_is_a_history_of_jobs()
        self.replicas = [self.new_replica()]
        for _ in range(3):
            self.claim(0)
            self.report(0, None)
            self.end(0, succeeds=True)
            self.what_clients_see_is_a_history_of_jobs()
        assert [*self.replicas[0].transitions.leases()] == []
        with suppress(Unknown):
            assert self.jobs.find(KEY).job.ended
        for part in "request", "checkpoint":
            assert self.store.find(part_of(KEY, part)) is None


def reaches(before: State, after: State) -> bool:
    """Whether one state may follow another within some steps."""
    found, new = {before}, {before}
    while new:
        new = {state for each in new for state in TRANSITIONS[each] if state} - found
        found |= new
    return after in found


def check_histories(opened: Callable[[Clock], SharedStore], number: int, steps: int = 30) -> None:
    """Try so many histories, the same in each run."""
    machine: Any = lambda: Histories(opened)  # noqa: E731
    run_state_machine_as_test(
        machine,
        settings=settings(max_examples=number, stateful_step_count=steps, derandomize=True),
    )
