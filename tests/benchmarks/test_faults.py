"""Faults are made, and what others notice is measured."""

import shutil

import faults
import pytest
from servers import GRADWIRE, running


def test_a_full_queue_refuses(server):
    with running(GRADWIRE, environment=faults._FULL) as full:
        row = faults._refused(full, server, 2)
    assert min(row.figure, row.reference) > 0


def test_clients_that_leave_were_at_work(server):
    assert faults._left(server, 1).reference > 0


def test_bombs_are_refused(server):
    assert faults._bomb(server, 1).figure > 0


def test_one_client_is_answered_with_and_without_batching(server):
    with running(GRADWIRE, environment=faults._BATCHING) as batching:
        row = faults._alone(batching, server, 2)
    assert min(row.figure, row.reference) > 0


def test_a_new_service_answers():
    row = faults._start(1)
    assert row.figure > row.reference > 0


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
def test_records_are_stored_again_after_redis_is_back():
    assert faults._recovery(1).figure > 0
