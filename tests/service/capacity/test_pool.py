"""Threads that take turns: who runs, who waits, and for how long."""

import threading
import time
from collections import Counter
from functools import partial

import pytest
from gradwire_engine.errors import DeadlineExceeded
from gradwire_service.capacity.deadline import Deadline
from gradwire_service.capacity.jobs import Job, State
from gradwire_service.capacity.pool import Pool


class Waited(Job):
    """A job that can be waited for."""

    __slots__ = ("over",)

    def __init__(self, work, deadline, owner, expected):
        self.over = threading.Event()
        super().__init__(work, deadline, owner, expected, lambda _: self.over.set())


class Running:
    """Jobs given to a pool, and which of them run at a time."""

    def __init__(self, threads, most_paused_bytes=0):
        self.pool = Pool(threads, most_paused_bytes, begun=8)
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()

    def submit(self, seconds, owner="", allowed_ms=60_000, expected=None):
        """A job that computes for so long, and polls every millisecond."""
        deadline = Deadline(allowed_ms)

        def work():
            ran = 0.0
            while ran < seconds:
                with self._lock:
                    self._at_once += 1
                    self.most_at_once = max(self.most_at_once, self._at_once)
                time.sleep(0.001)
                ran += 0.001
                with self._lock:
                    self._at_once -= 1
                deadline()
            return owner

        expected = seconds if expected is None else expected
        job = Waited(work, deadline, owner, expected)
        self.pool.submit(job)
        return job


@pytest.fixture(params=[1, 2])
def running(request):
    running = Running(request.param)
    yield running
    running.pool.close()


def test_no_more_run_at_a_time_than_may(running):
    threads = running.pool._most_running
    jobs = [running.submit(0.05, owner=str(i % 3)) for i in range(8)]
    assert all(job.over.wait(10) for job in jobs)
    assert running.most_at_once == threads
    assert [job.result for job in jobs] == [str(i % 3) for i in range(8)]


def test_one_owners_long_jobs_leave_anothers_soon_done(running):
    long = [running.submit(30, "long") for _ in range(10)]
    time.sleep(0.05)
    start = time.monotonic()
    for _ in range(5):
        assert running.submit(0.01, "short").over.wait(5)
    assert time.monotonic() - start < 2
    assert not any(job.over.is_set() for job in long)
    for job in long:
        job.deadline.cancel()
        running.pool.withdraw(job)
    assert all(job.over.wait(1) for job in long)


def test_a_much_shorter_job_of_the_same_owner_goes_first(running):
    long = [running.submit(30) for _ in range(4)]
    time.sleep(0.3)
    assert running.submit(0.01).over.wait(2)
    similar = running.submit(1, expected=20)
    assert not similar.over.wait(0.2)
    assert similar.state is State.WAITING
    for job in [*long, similar]:
        job.deadline.cancel()
        running.pool.withdraw(job)


def test_owners_get_equal_time(running):
    counts, end = Counter[str](), time.monotonic() + 1
    stop = threading.Event()

    def spin(owner, deadline):
        def work():
            while not stop.is_set():
                counts[owner] += 1
                time.sleep(0.001)
                deadline()

        return work

    jobs = []
    for owner in ["a"] * 6 + ["b"] * 2 + ["c"]:
        deadline = Deadline(60_000)
        job = Waited(spin(owner, deadline), deadline, owner, 60)
        jobs.append(job)
        running.pool.submit(job)
    time.sleep(end - time.monotonic())
    stop.set()
    assert all(job.over.wait(5) for job in jobs)
    assert min(counts.values()) > 0.5 * sum(counts.values()) / 3


def test_paused_jobs_stop_at_their_deadlines():
    running = Running(1)
    paused = running.submit(30, "paused", allowed_ms=150)
    time.sleep(0.03)

    def busy():  # does not poll, so the other one cannot go on
        time.sleep(0.4)

    other = Waited(busy, Deadline(60_000), "busy", 1)
    running.pool.submit(other)
    assert paused.over.wait(0.3)
    assert isinstance(paused.error, DeadlineExceeded)
    assert other.over.wait(2)
    assert running.submit(0.01).over.wait(1)
    running.pool.close()


def test_who_waits_for_a_lock_lets_its_paused_holder_go_on():
    running = Running(1)
    lock = threading.Lock()
    order = []

    def holding(deadline):
        with lock:
            for _ in range(60):
                time.sleep(0.001)
                deadline()
        order.append("holder")

    def waiting(deadline):
        while not lock.acquire(timeout=0.001):
            deadline()
        lock.release()
        order.append("waiter")

    jobs = []
    for owner, work in ("one", holding), ("other", waiting):
        deadline = Deadline(5000)
        jobs.append(Waited(partial(work, deadline), deadline, owner, 1))
        running.pool.submit(jobs[-1])
        time.sleep(0.005)
    assert all(job.over.wait(3) for job in jobs)
    assert order == ["holder", "waiter"]
    running.pool.close()


def test_what_holds_much_is_not_paused_for_what_has_not_begun():
    running = Running(1, most_paused_bytes=100)
    large = running.submit(0.5, "large")
    large.deadline.held_bytes = 101
    time.sleep(0.05)
    other = running.submit(0.01, "other")
    assert not other.over.wait(0.2)
    assert large.over.wait(3)
    assert other.over.wait(3)
    small = running.submit(30, "small")
    small.deadline.held_bytes = 100
    time.sleep(0.05)
    assert running.submit(0.01, "other").over.wait(3)
    small.deadline.cancel()
    running.pool.withdraw(small)
    running.pool.close()


def test_closing_lets_what_has_begun_end_and_drops_the_rest():
    running = Running(1)
    begun = running.submit(0.1)
    time.sleep(0.02)
    waits = running.submit(0.1)
    running.pool.close()
    assert begun.over.is_set()
    assert waits.over.is_set()
    assert (begun.result, waits.thread) == ("", 0)
    with pytest.raises(RuntimeError):
        running.submit(0.1)
