"""Counters and histograms lose no observations with concurrent writers and readers."""

import threading
from itertools import pairwise

import pytest
from gradwire_service.telemetry.collectors import SECONDS, Histograms, LabelledCounter
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Histogram


def samples(collector):
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in collector.collect()
        for sample in family.samples
    }


@given(st.lists(st.floats(0, 100), max_size=50))
def test_buckets_equal_those_of_the_client_library(seconds):
    registry = CollectorRegistry()
    theirs = Histogram("waits", "Waits.", buckets=SECONDS, registry=registry)
    ours = Histograms("waits", "Waits.")
    for duration in seconds:
        theirs.observe(duration)
        ours.of().observe((duration,))
    told = samples(ours) or {("waits_count",): 0.0}
    for name, value in told.items():
        expected = registry.get_sample_value(name[0], dict(name[1:]))
        assert value == pytest.approx(expected, rel=1e-12)


def test_several_values_can_be_observed_at_once():
    durations = Histograms("phases", "Phases.", "phase")
    durations.of("read", "write").observe((0.002, 20.0))
    told = samples(durations)
    assert told["phases_sum", ("phase", "read")] == 0.002
    assert told["phases_bucket", ("le", "10.0"), ("phase", "write")] == 0
    assert told["phases_bucket", ("le", "30.0"), ("phase", "write")] == 1


def test_known_values_are_zero_before_they_are_counted():
    counter = LabelledCounter("ended", "Ended.", "state", known=["failed"])
    assert samples(counter) == {("ended_total", ("state", "failed")): 0}
    assert samples(LabelledCounter("lost", "Lost.")) == {("lost_total",): 0}


def test_no_observation_is_lost_with_concurrent_threads():
    durations = Histograms("waits", "Waits.")
    counter = LabelledCounter("asked", "Asked.", "route")
    buckets, each = durations.of(), 5000
    told: list[float] = []

    def write():
        for _ in range(each):
            buckets.observe((0.5,))

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        counter.counts[f"/{len(told)}",] += 1
        told.append(samples(durations)["waits_count",])
        samples(counter)
    for thread in threads:
        thread.join()
    assert samples(durations)["waits_count",] == len(threads) * each
    assert samples(durations)["waits_sum",] == len(threads) * each / 2
    assert all(before <= after for before, after in pairwise(told))
