"""The state machine of jobs: the transitions that there are, each one commit of the store.

    (none) ──create──► queued ──report──► running ──end──► succeeded | failed
                         │ ▲                │ ▲      cancel ► cancelled
                         └─┘ claim,         └─┘ claim, report, hand over
                             renew

A commit is made if the job is as it was seen, and with it the lease where that counts; so of all
replicas that change a job at once one does, and the others look again. The result is part of the
commit that ends a job. An end is never left: what has ended is only marked as taken, and deleted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from time import time
from typing import Any, NamedTuple

from gradwire_service.jobs.quotas import Quotas
from gradwire_service.jobs.records import (
    ENDED,
    PARTS,
    SERVICE,
    Job,
    Lease,
    State,
    StoredJob,
    Unknown,
    lease_of,
    part_of,
)
from gradwire_service.jobs.stored import Jobs
from gradwire_service.problems import RequestError
from gradwire_service.store import Key, Record, SharedStore, StoredRecord, Unavailable
from gradwire_service.store.quotas import OverQuota
from gradwire_service.store.records import Change, Content, Notice

#: The states that follow each state; None is a job that is not stored.
TRANSITIONS: Mapping[State | None, frozenset[State | None]] = {
    None: frozenset({"queued"}),
    "queued": frozenset({"queued", "running", *ENDED, None}),
    "running": frozenset({"running", *ENDED, None}),
    **{end: frozenset({end, None}) for end in ENDED},
}
#: Time that a lease lasts.
LEASE_SECONDS = 12.0
#: Events that are stored, for listeners that come late or again.
MOST_EVENTS = 256
#: A job that ends its process so often in a row, without any progress, is not tried again.
MOST_ATTEMPTS = 3
#: Leases that a replica looks through at once.
_MOST_LEASES = 10_000
#: Changes where a lease was given up: replicas watch it to go on with jobs at once.
LEASES = Key("job_leases", SERVICE, "")


class Cancelled(Exception):
    """The job is cancelled, or was deleted, or has ended otherwise."""


class Interrupted(Exception):
    """The job ends here but is not over: this replica stops, or another has taken it over."""


class Held(NamedTuple):
    """A job as the replica that runs it has last written it, with its lease.

    ``log`` names the record of its events, which has so many lines, the last one of the event
    ``last``; None if that is not known.
    """

    stored: StoredJob
    lease: Lease
    log: str | None = None
    lines: int = 0
    last: int = 0


class Report(NamedTuple):
    """The news of a job: its last events, numbered, the last of which is its progress."""

    events: Sequence[tuple[int, str]]
    started_at: float | None
    checkpoint: bytes | None = None


class Claim(NamedTuple):
    """A job that was taken over, with what is needed to go on."""

    held: Held
    request: StoredRecord
    checkpoint: bytes
    events: Sequence[tuple[int, str]]


class Transitions:
    """All that changes jobs. Every method may block, and raises ``Unavailable``.

    ``problem`` makes the document of an error that ends a job.
    """

    def __init__(
        self,
        store: SharedStore,
        replica: str,
        problem: Callable[[Key, RequestError], Mapping[str, Any]],
        now: Callable[[], float] = time,
    ) -> None:
        self.jobs = Jobs(store)
        self._store, self._replica, self._problem, self._now = store, replica, problem, now
        self._quotas = Quotas(store, now, self.remove)

    def create(self, key: Key, job: Job, request: Content, headers: str) -> Held | None:
        """Store a new job with its request, leased; None if there is one of this id.

        Raises: ``RequestError`` (over_budget).
        """
        self._quotas.check(key)
        lease = Lease(key.owner, key.id, self._replica, self._until())
        beside = [
            Change(lease.key, lease.to_json(), b""),
            Change(part_of(key, "request"), headers, request),
            *(Change(part_of(key, part), None) for part in PARTS if part != "request"),
        ]
        stored = StoredJob(key, job, 0.0, job.to_json())
        try:
            if self._commit(key, None, job, beside) is None:
                return None
            self._quotas.check(key)  # others may have been created at the same time
        except BaseException:
            with suppress(Unavailable):
                self.remove(stored)
            raise
        return Held(stored, lease)

    def claim(self, lease: Lease) -> Claim | None:
        """Take over a job; None if there is nothing left to do, or another replica was faster."""
        key = Key("jobs", lease.owner, lease.id)
        try:
            stored = self.jobs.find(key)
        except Unknown:
            stored = None
        if stored is not None and stored.is_later:
            return None
        if stored is None or stored.job.ended:
            self._store.commit([Change(lease.key, None, seen=lease.to_json())], admitted=True)
            return None
        job = stored.job
        iteration = None if job.progress is None else int(job.progress["iteration"])
        attempts = 1
        if iteration is not None and iteration <= lease.iteration:
            attempts = lease.attempts + (lease.until > 0)  # one that was handed over is not counted
        request = self.jobs.find_part(key, "request")
        error = None
        if request is None:
            error = RequestError("store_unavailable", "the store has lost the request of this job")
        elif attempts > MOST_ATTEMPTS:
            error = RequestError(
                "worker_crashed",
                f"{MOST_ATTEMPTS} processes ended while they ran this job, without any progress",
                hint="use smaller arrays if memory is short; else report it with the program",
            )
        mine = lease._replace(
            replica=self._replica,
            until=self._until(),
            iteration=max(iteration or 0, lease.iteration),
            attempts=attempts,
        )
        if error is not None:
            problem = self._problem(key, error)
            failed = job._replace(state="failed", finished_at=self._now(), problem=problem)
            self._commit(key, stored, failed, _over(key, lease))
            return None
        assert request is not None
        resumed = job._replace(resumed=job.resumed + 1)
        beside = [Change(lease.key, mine.to_json(), seen=lease.to_json())]
        if self._commit(key, stored, resumed, beside) is None:
            return None
        stored = stored._replace(job=resumed, head=resumed.to_json())
        checkpoint = self.jobs.find_part(key, "checkpoint")
        return Claim(
            Held(stored, mine),
            request,
            b"" if checkpoint is None else bytes(checkpoint.content),
            events_in(self.jobs.find_part(key, "events")),
        )

    def report(self, held: Held, report: Report | None, *, renew: bool) -> tuple[Held, int]:
        """Store what is new, and renew the lease; also returns how many replicas get a notice.

        Raises: ``Cancelled``, ``Interrupted``.
        """
        while True:
            key, job, lease = held.stored.key, held.stored.job, held.lease
            if renew:
                lease = lease._replace(until=self._until())
            leased = Change(lease.key, lease.to_json(), seen=held.lease.to_json())
            after, beside = held._replace(lease=lease), [leased]
            if report is not None:
                progress = json.loads(report.events[-1][1])
                job = job._replace(state="running", started_at=report.started_at, progress=progress)
                after, logged = _logged(after, report.events)
                beside += logged
                if report.checkpoint is not None:
                    beside.append(Change(part_of(key, "checkpoint"), "", report.checkpoint))
            after = after._replace(stored=held.stored._replace(job=job, head=job.to_json()))
            try:
                heard = self._commit(key, held.stored, job, beside)
            except OverQuota:  # then it cannot be taken over, but goes on here
                after = after._replace(log=None)
                heard = self._commit(key, held.stored, job, [leased])
            if heard is not None:
                return after, heard
            held = self._again(held)

    def publish(self, held: Held, event: tuple[int, str]) -> int:
        """Send an event to those who follow a job, without storing it; returns how many get it."""
        number, said = event
        return self._store.publish(Notice(held.stored.key, self._replica, f"{number} {said}"))

    def end(
        self, held: Held, fields: Mapping[str, Any], report: Report, answer: Record | None
    ) -> StoredJob:
        """End a job, with its answer if it has succeeded; returns it as it has ended, by anyone.

        Now the events are all that the replica has, also those that were not worth a command each.
        A result counts whoever has it first, a failure only from the replica with the lease.
        Raises: ``Unknown``, ``Interrupted``, ``OverQuota``.
        """
        while True:
            stored, key = held.stored, held.stored.key
            ended = stored.job._replace(started_at=report.started_at, **fields)
            beside = _over(key, held.lease if answer is None else None)
            if report.events:
                ended = ended._replace(progress=json.loads(report.events[-1][1]))
                log = part_of(key, "events"), f"{held.lease.replica} end", _text(report.events)
                beside.append(Change(*log))
            if answer is not None:
                beside[0] = Change(part_of(key, "answer"), *answer)
            if self._commit(key, stored, ended, beside) is not None:
                return stored._replace(job=ended, head=ended.to_json())
            try:
                held = self._again(held, needs_lease=answer is None)
            except Cancelled:
                found = self.jobs.find(key)
                if found.job.created_at != stored.job.created_at:
                    raise Unknown from None
                return found

    def hand_over(
        self, held: Held, checkpoint: bytes | None, *, counted: bool, announced: bool
    ) -> None:
        """End a lease, so that a replica goes on from here; ``counted`` as an attempt.

        It does so at once if that is ``announced``, else when it looks for such jobs.
        """
        lease = held.lease._replace(until=self._now() if counted else 0.0)
        changes = [Change(lease.key, lease.to_json(), seen=held.lease.to_json())]
        kept = Change(part_of(held.stored.key, "checkpoint"), "", checkpoint)
        notice = Notice(LEASES, self._replica) if announced else None
        commit = partial(self._store.commit, notice=notice, admitted=True)
        try:
            ended = commit(changes + [kept] * (checkpoint is not None))
        except OverQuota:
            ended = commit(changes)
        if ended is None:  # else another one has it already
            with suppress(Cancelled, Interrupted):
                again = self._again(held)
                self.hand_over(again, checkpoint, counted=counted, announced=announced)

    def cancel(self, key: Key) -> None:
        """Cancel a job; delete one that has ended.

        Raises: ``Unknown``.
        """
        while True:
            stored = self.jobs.find(key)
            if stored.job.ended:
                if self.remove(stored):
                    return
                continue
            now = self._now()
            cancelled = stored.job._replace(state="cancelled", finished_at=now, taken_at=now)
            if self._commit(key, stored, cancelled, _over(key)) is not None:
                return

    def take(self, key: Key) -> None:
        """Note that the end of a job is sent to its owner, if it has ended."""
        with suppress(Unknown, OverQuota, Unavailable):  # it is sent in any case
            stored = self.jobs.find(key)
            if stored.job.ended and stored.job.taken_at is None:
                self._commit(key, stored, stored.job._replace(taken_at=self._now()), [])

    def remove(self, stored: StoredJob) -> bool:
        """Delete a job with all its parts, if it is as it was; whether it was."""
        key = stored.key
        beside = [Change(part_of(key, "events"), None), *_over(key)]
        return self._commit(key, stored, None, beside) is not None

    def use(self, key: Key) -> None:
        """Move the expiry of a job on, and that of what is needed to go on with it.

        Raises: ``Unknown``.
        """
        self.jobs.find(key)
        for part in "request", "checkpoint":
            self._store.find(part_of(key, part), body=False)

    def leases(self) -> Iterator[Lease]:
        """The leases of all jobs that have not ended."""
        for each in self._store.list_records("job_leases", SERVICE, "", _MOST_LEASES):
            lease = Lease.from_json(each.head)
            if lease is not None:
                yield lease

    def _commit(
        self, key: Key, seen: StoredJob | None, job: Job | None, beside: Sequence[Change]
    ) -> int | None:
        """Change a job that is as it was seen, with what is beside it; None if it is not.

        One that was seen is admitted: only a new one is held to the share of its owner.
        Raises: ``OverQuota``, ``Unavailable``.
        """
        if seen is not None and seen.is_later:
            raise Unavailable("a later version of the service has written this job")
        before, after = None if seen is None else seen.job.state, None if job is None else job.state
        assert after in TRANSITIONS[before], f"a job that is {before} cannot become {after}"
        body = None if seen is not None and job is not None else b""
        head = None if job is None else job.to_json()
        change = Change(key, head, body, None if seen is None else seen.head)
        changes, notice = [change, *beside], Notice(key, self._replica)
        commit = partial(self._store.commit, changes, notice, admitted=seen is not None)
        return self._quotas.with_room(key, commit)

    def _again(self, held: Held, *, needs_lease: bool = True) -> Held:
        """The job that a replica runs, as it is now.

        Raises: ``Cancelled``, ``Interrupted``.
        """
        key, lease = held.stored.key, held.lease
        found, leased = self._store.peek([key, lease.key])
        if found is None:
            raise Cancelled
        stored = StoredJob.of(key, found)
        if stored.job.ended or stored.job.created_at != held.stored.job.created_at:
            raise Cancelled
        now = None if leased is None else Lease.from_json(leased.head)
        if now is not None and now.replica == self._replica:
            lease = now
        elif needs_lease:
            raise Interrupted
        return Held(stored, lease)

    def _until(self) -> float:
        """When a lease ends that begins now."""
        return self._now() + LEASE_SECONDS


def _over(key: Key, lease: Lease | None = None) -> list[Change]:
    """The deletions when a job ends: first its answer, last its lease, which has to be this."""
    parts = [Change(part_of(key, part), None) for part in ("answer", "request", "checkpoint")]
    return [*parts, Change(lease_of(key.id), None, seen=... if lease is None else lease.to_json())]


def events_in(part: StoredRecord | None) -> list[tuple[int, str]]:
    """The events in a record: their numbers, and what they say as JSON."""
    return [] if part is None else events_of(bytes(part.content))


def events_of(text: bytes) -> list[tuple[int, str]]:
    """The events of whole lines."""
    return [event_of(line) for line in text.decode().splitlines()]


def event_of(line: str) -> tuple[int, str]:
    """The event of a line."""
    number, _, said = line.partition(" ")
    return int(number), said


def _logged(held: Held, events: Sequence[tuple[int, str]]) -> tuple[Held, list[Change]]:
    """Add the last event to the record of all, or write that anew when it has become too long."""
    key, (last, _) = part_of(held.stored.key, "events"), events[-1]
    if held.log is not None and last <= held.last:
        return held, []
    if held.log is None or held.lines >= 2 * MOST_EVENTS:
        # The name of the new record says who has written it, and from where on.
        log, lines = f"{held.lease.replica} {last}", events[-MOST_EVENTS:]
        change = Change(key, log, _text(lines))
        return held._replace(log=log, lines=len(lines), last=last), [change]
    change = Change(key, held.log, _text(events[-1:]), held.log, appends=True)
    return held._replace(lines=held.lines + 1, last=last), [change]


def _text(events: Sequence[tuple[int, str]]) -> bytes:
    return "".join(f"{number} {said}\n" for number, said in events).encode()
