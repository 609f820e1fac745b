"""Deadlines of requests, and of the event loop."""

import pickle
import time

import pytest
from gradwire_engine.errors import DeadlineExceeded
from gradwire_service.scheduling import Deadline, InlineDeadline, TooLongInline


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


def test_another_process_has_the_same_deadline():
    deadline = Deadline(1000)
    time.sleep(0.01)
    same = pickle.loads(pickle.dumps(deadline))
    assert abs(same.remaining_seconds() - deadline.remaining_seconds()) < 0.005
    assert same.allowed_ms == 1000


def test_what_is_cancelled_is_allowed_no_more():
    """The client disconnects while a thread reads the timeout."""
    deadline = Deadline(1000)
    deadline.cancel()
    deadline.allow(60_000)
    with pytest.raises(DeadlineExceeded):
        deadline()
