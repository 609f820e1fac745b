"""Deadlines, and how work that polls takes turns."""

import time

import pytest
from gradwire_engine.errors import DeadlineExceeded
from gradwire_service.capacity import Deadline, InlineDeadline, TooLongInline


def test_a_deadline_raises_only_when_it_has_passed():
    deadline = Deadline(1000)
    deadline()
    deadline.allow(0.001)
    time.sleep(0.001)
    with pytest.raises(DeadlineExceeded, match=r"0\.001 ms") as caught:
        deadline()
    assert "timeout_ms" in str(caught.value.hint)


def test_the_event_loop_is_not_held():
    poll = InlineDeadline()
    poll()
    time.sleep(0.01)
    with pytest.raises(TooLongInline):
        poll()


class Turns:
    """Counts how often others might have gone first."""

    def __init__(self):
        self.passed = 0

    def pass_on(self):
        self.passed += 1
        return time.monotonic() + 1000


def test_turns_are_taken_once_a_slice_and_never_after_the_deadline():
    deadline, turns = Deadline(1000), Turns()
    deadline.take_turns(turns, time.monotonic())
    for _ in range(3):
        deadline()
    assert turns.passed == 1
    deadline.allow(0.001)
    time.sleep(0.001)
    with pytest.raises(DeadlineExceeded):
        deadline()
    assert turns.passed == 1


def test_what_is_cancelled_stops_at_its_next_poll_and_cannot_be_allowed_more_by_turns():
    deadline = Deadline(1000)

    class Cancelling(Turns):
        def pass_on(self):
            deadline.cancel()
            return super().pass_on()

    deadline.take_turns(Cancelling(), time.monotonic())
    with pytest.raises(DeadlineExceeded):
        deadline()
    with pytest.raises(DeadlineExceeded):
        deadline()
    assert deadline.remaining_seconds() < 0


def test_what_is_cancelled_is_allowed_no_more():
    """The client goes while a thread reads how long it would have waited."""
    deadline = Deadline(1000)
    deadline.cancel()
    deadline.allow(60_000)
    with pytest.raises(DeadlineExceeded):
        deadline()
