"""Deadlines of requests, and of the event loop."""

import pickle
from time import monotonic

import pytest
from gradwire_engine.errors import DeadlineExceeded
from gradwire_service.scheduling import Deadline, InlineDeadline, TooLongInline
from gradwire_service.scheduling.deadline import INLINE_SECONDS

from tests.clock import Clock


@pytest.fixture
def clock():
    return Clock()


def test_a_deadline_raises_only_when_it_has_passed(clock):
    deadline = Deadline(1000, clock)
    deadline()
    clock.advance(1)
    deadline()
    assert deadline.remaining_seconds() == 0
    clock.advance(0.5)
    with pytest.raises(DeadlineExceeded, match="1000 ms"):
        deadline()
    assert deadline.remaining_seconds() == -0.5
    deadline.allow(1500)
    deadline()
    deadline.allow(0.001)
    with pytest.raises(DeadlineExceeded, match=r"0\.001 ms") as caught:
        deadline()
    assert "timeout_ms" in str(caught.value.hint)


def test_inline_work_that_takes_too_long_is_interrupted(clock):
    poll = InlineDeadline(clock)
    clock.advance(INLINE_SECONDS * 0.99)
    poll()
    clock.advance(INLINE_SECONDS * 0.02)
    with pytest.raises(TooLongInline):
        poll()


def test_a_deadline_is_the_same_in_another_process():
    deadline = Deadline(1000)
    same = pickle.loads(pickle.dumps(deadline))
    assert same._end == deadline._end
    assert same.allowed_ms == 1000


def test_a_deadline_by_another_clock_has_passed_as_much_of_its_time_in_another_process(clock):
    deadline = Deadline(60_000, clock)
    clock.advance(45)
    before = monotonic()
    same = pickle.loads(pickle.dumps(deadline))
    assert before <= same._end - 15 <= monotonic()
    assert same.allowed_ms == 60_000


def test_a_cancelled_deadline_cannot_be_extended(clock):
    """The client disconnects while a thread parses the timeout."""
    deadline = Deadline(1000, clock)
    deadline.cancel()
    deadline.allow(60_000)
    with pytest.raises(DeadlineExceeded):
        deadline()
