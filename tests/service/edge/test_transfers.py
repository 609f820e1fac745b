"""What is too slow, and what is too much, whoever sends it."""

import pytest
from gradwire_service.edge.transfers import FRAMING_BYTES, Arrival, Departure, Pace
from gradwire_service.problems import Refusal
from gradwire_service.settings import Settings
from hypothesis import given
from hypothesis import strategies as st

SETTINGS = Settings(
    body_timeout_seconds=10,
    send_timeout_seconds=10,
    min_bytes_per_second=100,
    max_head_bytes=5000,
    max_arriving_bytes=10_000_000,
)


class All:
    arriving_bytes = 0


@pytest.fixture
def total():
    return All()


class Body:
    """A body that arrives."""

    def __init__(self, total):
        self.arrival = Arrival(SETTINGS, total)
        self.bytes = 0

    def read(self, added, framing=0, now=0):
        self.bytes += added
        self.arrival.see(now, self.bytes, added + framing)


@pytest.fixture
def body(total):
    return Body(total)


@given(st.lists(st.integers(0, 300), min_size=60, max_size=60))
def test_a_pace_is_late_where_a_window_brought_too_little(bytes_of_seconds):
    pace = Pace(10, 100)
    pace.begin(0, 0)
    moved, late = 0, []
    for second, arrived in enumerate(bytes_of_seconds, 1):
        moved += arrived
        if pace.is_late(second, moved):
            late.append(second)
    windows = [sum(bytes_of_seconds[start : start + 10]) for start in range(0, 60, 10)]
    assert late == [10 * number for number, window in enumerate(windows, 1) if window < 1000]


def test_without_a_least_speed_a_byte_is_enough():
    pace = Pace(10, 0)
    pace.begin(0, 5)
    assert not pace.is_late(10, 6)
    assert pace.is_late(20, 6)


def test_bodies_are_counted_until_they_are_whole(body, total):
    other = Body(total)
    for one in body, other, body:
        one.read(1000)
    assert total.arriving_bytes == 3000
    body.arrival.end()
    body.arrival.end()
    assert total.arriving_bytes == 1000
    with pytest.raises(Refusal) as refused:
        other.read(10_000_000)
    assert refused.value.code == "overloaded"
    other.arrival.end()
    assert total.arriving_bytes == 0


@pytest.mark.parametrize("piece", [1, 10, 20])
def test_small_chunks_are_taken_of_small_bodies_only(body, piece):
    framing = 0

    def send():
        nonlocal framing
        while framing < 3 * FRAMING_BYTES:
            framing += 600
            body.read(100 * piece, 600)

    with pytest.raises(Refusal) as refused:
        send()
    assert refused.value.code == "malformed_request"
    assert framing > FRAMING_BYTES


def test_chunks_of_some_size_are_taken_without_end(body):
    for _ in range(5000):
        body.read(999, 7)


def test_what_is_no_body_is_bounded(body):
    for _ in range(4):
        body.read(0, 4000)
        body.read(1)
    body.read(0, 4000)
    with pytest.raises(Refusal):
        body.read(0, 4000)


def test_each_body_begins_anew(body):
    for _ in range(4):
        body.bytes = 0
        body.read(0, 4000)
        body.arrival.end()
        assert not body.arrival.begun


def test_nobody_is_late_for_whom_we_do_not_wait(body):
    body.read(10)
    assert not body.arrival.is_late(9, waited_for=True)
    assert not body.arrival.is_late(15, waited_for=False)
    assert not body.arrival.is_late(24, waited_for=True)
    assert body.arrival.is_late(25, waited_for=True)


def test_departures():
    departure = Departure(SETTINGS)
    assert not departure.is_late(0, 0)
    assert not departure.is_late(100, 50_000)
    assert not departure.is_late(109, 49_000)
    assert (departure.unsent_bytes, departure.moved_bytes) == (49_000, 1000)
    assert not departure.is_late(110, 49_000)
    assert departure.moved_bytes == 0
    assert departure.is_late(120, 48_500)
    assert not departure.is_late(121, 0)
    assert not departure.is_late(122, 5000)
    assert not departure.is_late(133, 6000)  # more was written meanwhile
    assert not departure.is_late(142, 6000)
    assert departure.is_late(143, 6000)
