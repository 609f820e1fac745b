"""Minimum rates of bodies, and limits on unread responses."""

import pytest
from gradwire_service.http.limiter import ConnectionLimiter
from gradwire_service.http.rates import BodyRate, RateWindow, WriteRate
from gradwire_service.problems import RequestError
from gradwire_service.settings import Settings
from gradwire_service.telemetry import Metrics, RequestRecorder
from hypothesis import given
from hypothesis import strategies as st

SETTINGS = Settings(
    body_timeout_seconds=10,
    send_timeout_seconds=10,
    min_bytes_per_second=100,
    max_arriving_bytes=10_000_000,
)


@pytest.fixture
def limiter():
    return ConnectionLimiter(SETTINGS, RequestRecorder(Metrics()))


@given(st.lists(st.integers(0, 300), min_size=60, max_size=60))
def test_too_few_bytes_in_a_window_are_too_slow(bytes_of_seconds):
    window = RateWindow(10, 100)
    window.begin(0, 0)
    moved, late = 0, []
    for second, arrived in enumerate(bytes_of_seconds, 1):
        moved += arrived
        if window.is_late(second, moved):
            late.append(second)
    windows = [sum(bytes_of_seconds[start : start + 10]) for start in range(0, 60, 10)]
    assert late == [10 * number for number, brought in enumerate(windows, 1) if brought < 1000]


def test_without_a_minimum_rate_one_byte_is_enough():
    window = RateWindow(10, 0)
    window.begin(0, 5)
    assert not window.is_late(10, 6)
    assert window.is_late(20, 6)


def test_body_bytes_are_counted_until_the_body_is_complete(limiter):
    body, other = BodyRate(limiter), BodyRate(limiter)
    for one in body, other, body:
        one.add(0, 1000)
    assert limiter.arriving_bytes == 3000
    body.end()
    body.end()
    assert limiter.arriving_bytes == 1000
    with pytest.raises(RequestError) as refused:
        other.add(0, 10_000_000)
    assert refused.value.code == "overloaded"
    other.end()
    assert limiter.arriving_bytes == 0


def test_each_body_is_measured_separately(limiter):
    body = BodyRate(limiter)
    for start in range(0, 40, 10):
        body.add(start, 10)
        assert not body.is_late(start + 9, awaited=True)
        body.end()


def test_a_body_that_the_service_does_not_read_is_not_too_slow(limiter):
    body = BodyRate(limiter)
    body.add(0, 10)
    assert not body.is_late(9, awaited=True)
    assert not body.is_late(15, awaited=False)
    assert not body.is_late(24, awaited=True)
    assert body.is_late(25, awaited=True)


def test_slow_readers_of_responses_are_detected(limiter):
    rate = WriteRate(limiter)
    assert not rate.is_late(0, 0)
    assert not rate.is_late(100, 50_000)
    assert not rate.is_late(109, 49_000)
    assert (rate.unsent_bytes, rate.taken_bytes) == (49_000, 1000)
    assert not rate.is_late(110, 49_000)
    assert rate.taken_bytes == 0
    assert rate.is_late(120, 48_500)
    assert not rate.is_late(121, 0)
    assert not rate.is_late(122, 5000)
    assert not rate.is_late(133, 6000)  # more was written in the meantime
    assert not rate.is_late(142, 6000)
    assert rate.is_late(143, 6000)
