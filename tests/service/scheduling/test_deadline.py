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


def test_inline_work_that_takes_too_long_is_interrupted():
    poll = InlineDeadline()
    poll()
    time.sleep(0.01)
    with pytest.raises(TooLongInline):
        poll()


def test_a_deadline_is_the_same_in_another_process():
    deadline = Deadline(1000)
    time.sleep(0.01)
    same = pickle.loads(pickle.dumps(deadline))
    assert abs(same.remaining_seconds() - deadline.remaining_seconds()) < 0.005
    assert same.allowed_ms == 1000


def test_a_cancelled_deadline_cannot_be_extended():
    """The client disconnects while a thread parses the timeout."""
    deadline = Deadline(1000)
    deadline.cancel()
    deadline.allow(60_000)
    with pytest.raises(DeadlineExceeded):
        deadline()
