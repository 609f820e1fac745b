"""Threads that take turns: so many run at a time, whoever's work it is.

A job runs for a slice of time; then, where it polls, it lets others go first: those of other
owners, those that are paused themselves, and those that are expected to be much shorter. So a
short job never waits for all of a long one, and no owner for all of another's jobs.
"""

from __future__ import annotations

import threading
from collections import Counter
from queue import SimpleQueue
from time import monotonic

from gradwire_service.capacity.jobs import Job, Line, State

#: How long a job runs before it looks whether others should go first.
SLICE_SECONDS = 0.02
#: A job goes before one of the same owner's that has run for so many times as long as it will.
_MUCH_LONGER = 4
#: Jobs of one owner that have begun, for each that may run, and where there are much shorter ones.
#: Those that do not run are paused, with what they hold.
_OF_OWNER, _OF_OWNER_WITH_SHORT = 1, 2


class Pool:
    """Runs jobs, ``most_running`` at a time. Thread-safe.

    None begins in place of another where paused ones would hold more than ``most_paused_bytes``.
    """

    def __init__(self, most_running: int, most_paused_bytes: int, begun: int) -> None:
        self._most_running = most_running
        self._most_begun = begun * most_running
        self._most_paused_bytes = most_paused_bytes
        self._lock = threading.Lock()
        self._line = Line()
        self._free = most_running
        self._begun = Counter[str]()
        self._given: SimpleQueue[Job | None] = SimpleQueue()
        self._idle = 0
        self._threads: list[threading.Thread] = []
        self._closed = False

    def submit(self, job: Job) -> None:
        """Have ``job`` run when it is its turn."""
        with self._lock:
            if self._closed:
                raise RuntimeError("the pool is closed")
            job.deadline.take_turns(_Turns(self, job), monotonic() + SLICE_SECONDS)
            self._line.add(job)
            self._go_on()

    def withdraw(self, job: Job) -> None:
        """Let ``job`` neither begin nor go on; one that runs is to be stopped by its deadline."""
        with self._lock:
            if not self._take_out(job):
                return
        if not job.thread:
            job.finish()

    def longest_line(self) -> tuple[str, Job] | None:
        """Who has most jobs waiting, and the one that came last of them."""
        with self._lock:
            return self._line.longest()

    def waiting_of(self, owner: str) -> int:
        """How many jobs of an owner's wait."""
        with self._lock:
            return self._line.waiting_of(owner)

    def close(self) -> None:
        """Let what has begun end, and drop what waits."""
        with self._lock:
            self._closed = True
            dropped = self._line.waiting()
        for job in dropped:
            self.withdraw(job)
        for _ in self._threads:
            self._given.put(None)
        for thread in self._threads:
            thread.join()

    def pause(self, job: Job) -> None:
        """Called by ``job`` itself: wait while others are to go first."""
        with self._lock:
            other = self._before(job) if job.state is State.RUNNING else None
            if other is None:
                return
            paused_at = monotonic()
            job.state, job.resumed = State.PAUSED, threading.Event()
            self._line.add(job)
            self._start(self._line.take(other))
            resumed = job.resumed
        if job.held_up is not None:
            job.held_up(True)
        if not resumed.wait(max(job.deadline.remaining_seconds(), 0)):
            with self._lock:
                self._take_out(job)
        if job.held_up is not None:
            job.held_up(False)
        job.ran_since += monotonic() - paused_at

    def _take_out(self, job: Job) -> bool:
        """Withdraw a job that is in line; whether it was."""
        if job.state not in (State.WAITING, State.PAUSED):
            return False
        self._line.remove(job)
        job.state = State.WITHDRAWN
        if job.resumed is not None:
            job.resumed.set()
        return True

    def _before(self, job: Job) -> Job | None:
        """Who is to go before a job that has run for its slice."""
        most = self._most_running
        paused_bytes = self._line.paused_bytes() + job.deadline.held_bytes
        room = self._begun.total() < self._most_begun and paused_bytes <= self._most_paused_bytes
        for owner, paused, waiting in self._line.heads():
            begun = self._begun[owner]
            if owner != job.owner:
                first = paused or (waiting if room and begun < _OF_OWNER * most else None)
            else:
                first = paused
                if room and waiting is not None and begun < _OF_OWNER_WITH_SHORT * most:
                    shortest = self._line.shortest(owner)
                    if shortest.expected_seconds * _MUCH_LONGER < job.ran_seconds:
                        first = shortest
            if first is not None:
                return first
        return None

    def _go_on(self) -> None:
        """Let run as many as may."""
        while self._free and self._line:
            _, paused, waiting = next(self._line.heads())
            job = paused or waiting
            assert job is not None
            self._free -= 1
            self._start(self._line.take(job))

    def _start(self, job: Job) -> None:
        """Have a job run that was in line, in a thread that is idle, or in its own."""
        resumed, job.state = job.resumed, State.RUNNING
        if resumed is not None:
            resumed.set()
            return
        self._begun[job.owner] += 1
        self._given.put(job)
        if self._idle:
            self._idle -= 1
        else:
            name = f"gradwire-{len(self._threads)}"
            thread = threading.Thread(target=self._serve, name=name, daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self) -> None:
        """What each thread does."""
        while (job := self._given.get()) is not None:
            job.run()
            with self._lock:
                self._begun[job.owner] -= 1
                if not self._begun[job.owner]:
                    del self._begun[job.owner]
                self._free += job.state is State.RUNNING
                self._idle += 1
                self._go_on()
            job.finish()
            del job


class _Turns:
    """How a job's deadline has it take turns; polls of other threads do not."""

    __slots__ = ("_job", "_pool")

    def __init__(self, pool: Pool, job: Job) -> None:
        self._pool = pool
        self._job = job

    def pass_on(self) -> float:
        if threading.get_ident() == self._job.thread:
            self._pool.pause(self._job)
        return monotonic() + SLICE_SECONDS
