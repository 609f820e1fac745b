"""The garbage collector takes a small part of the time, and finds what is garbage."""

import gc
import weakref

import pytest
from gradwire_service.garbage import Collector

from tests.clock import Clock


@pytest.fixture(autouse=True)
def _as_before():
    yield
    gc.enable()
    gc.unfreeze()


@pytest.mark.parametrize(
    ("new_objects", "least", "most"), [(0, 0.0035, 0.0041), (1_000_000, 0.05, 0.11)]
)
@pytest.mark.parametrize("seconds", [0.01, 0.3])
def test_it_takes_a_small_part_of_the_time(seconds, new_objects, least, most):
    clock, taken = Clock(), []

    def collect():
        clock.advance(seconds)
        taken.append(seconds)

    collector, began = Collector(clock, collect, lambda: new_objects), clock()
    while clock() < began + 2000:
        collector.look()
        clock.advance(0.05)
    assert least <= sum(taken) / (clock() - began) <= most


class Cycle:
    def __init__(self):
        self.own = self


def test_cycles_are_freed_by_it_alone():
    clock = Clock()
    collector = Collector(clock)
    Collector.begin()
    collector.look()
    cycles = [weakref.ref(Cycle()) for _ in range(1000)]
    kept = [Cycle() for _ in range(300_000)]
    assert all(one() for one in cycles)
    clock.advance(3600)
    collector.look()
    assert not any(one() for one in cycles)
    assert all(one.own is one for one in kept)


def test_what_it_has_left_is_looked_at_when_memory_has_grown():
    clock = Clock()
    collector = Collector(clock)
    Collector.begin()
    old = Cycle()
    seen = weakref.ref(old)
    collector.look()
    del old
    clock.advance(3600)
    collector.look()
    assert seen() is not None  # it was left out, as what stays is
    collector._most_blocks = 1
    clock.advance(3600)
    collector.look()
    assert seen() is None
