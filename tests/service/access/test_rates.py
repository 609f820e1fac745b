"""Rate limits: never exceeded in any interval, with exact retry times."""

import pytest
from gradwire_service.access.rates import RateLimiter, RateLimits
from gradwire_service.problems import RequestError
from hypothesis import given
from hypothesis import strategies as st

PAUSES = st.lists(st.floats(0, 3), max_size=60)


def admitted(limiter):
    """True if a request is admitted; it ends immediately."""
    return wait_told(limiter) is None


def wait_told(limiter):
    """The Retry-After of a request; None if it is admitted."""
    try:
        limiter.enter()
    except RequestError as refusal:
        return refusal.retry_after_seconds
    limiter.leave()
    return None


@given(st.floats(0.1, 50), st.integers(1, 20), PAUSES)
def test_no_interval_admits_more_than_the_burst_plus_the_rate(new_clock, rate, burst, pauses):
    clock = new_clock()
    limiter = RateLimiter(RateLimits(rate, burst), clock)
    times = []
    for pause in pauses:
        clock.now += pause
        if admitted(limiter):
            times.append(clock.now)
    for first in range(len(times)):
        for last in range(first, len(times)):
            within = times[last] - times[first]
            assert last - first + 1 <= burst + rate * within + 1e-6


@given(st.floats(0.1, 50), st.integers(1, 20), PAUSES)
def test_retry_after_is_sufficient_and_nearly_minimal(new_clock, rate, burst, pauses):
    clock = new_clock()
    limiter = RateLimiter(RateLimits(rate, burst), clock)
    for pause in pauses:
        clock.now += pause
        admitted(limiter)
    while (wait := wait_told(limiter)) is None:
        pass
    assert wait >= 1
    start = clock.now
    if wait > 1:
        clock.now = start + wait - 1 - 1e-6
        assert not admitted(limiter)
    clock.now = start + wait
    assert admitted(limiter)


@given(st.floats(0.1, 50), st.integers(0, 20))
def test_after_a_long_pause_one_burst_is_admitted(new_clock, rate, burst):
    clock = new_clock()
    limiter = RateLimiter(RateLimits(rate, burst), clock)
    clock.now += 1000
    most = burst or max(1, -int(-rate // 1))
    assert [admitted(limiter) for _ in range(most + 1)] == [True] * most + [False]


@pytest.mark.parametrize("concurrent", [1, 3])
def test_concurrent_requests_are_limited(concurrent):
    limiter = RateLimiter(RateLimits(concurrent=concurrent))
    for _ in range(concurrent):
        limiter.enter()
    with pytest.raises(RequestError) as raised:
        limiter.enter()
    assert (raised.value.code, raised.value.retry_after_seconds) == ("rate_limited", 1)
    assert limiter.in_flight == concurrent
    limiter.leave()
    limiter.enter()


def test_without_limits_nothing_is_refused():
    limiter = RateLimiter(RateLimits())
    for _ in range(1000):
        limiter.enter()
    assert limiter.in_flight == 1000


def test_new_limits_do_not_refund_used_requests(clock):
    limiter = RateLimiter(RateLimits(1, 5), clock)
    assert [admitted(limiter) for _ in range(6)] == [True] * 5 + [False]
    limiter.limits = RateLimits(2, 50)
    assert not admitted(limiter)
    clock.now += 1
    assert [admitted(limiter) for _ in range(3)] == [True, True, False]
