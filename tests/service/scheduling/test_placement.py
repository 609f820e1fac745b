"""Computations run where they are expected to take less time."""

import pytest
from gradwire_engine import Engine
from gradwire_engine.answer import Query
from gradwire_gpu import Crossover, GpuDevice
from gradwire_service.scheduling.placement import (
    Cost,
    Device,
    Known,
    Placement,
    is_faster_moved,
    is_faster_on_gpu,
    predicted_seconds,
)
from gradwire_solvers import Work

DEVICE = Device(
    GpuDevice("a GPU", 80 << 30, 79 << 30, "9.0", "float32"),
    Crossover(20e-6, 10e9, 5e9, 1e12, 30_000),
    room_bytes=70 << 30,
)


def cost(flops, input_bytes=0, answer_bytes=0, peak_bytes=0):
    return Cost(flops, input_bytes, answer_bytes, peak_bytes)


def test_predicted_seconds_are_those_of_launch_transfers_and_arithmetic():
    asked = cost(flops=10**9, input_bytes=10**7, answer_bytes=10**7)
    assert predicted_seconds(asked, DEVICE.crossover) == pytest.approx(
        20e-6 + 1e-3 + 2e-3 + 1e-3, rel=1e-12
    )


@pytest.mark.parametrize(("nbytes", "on_gpu"), [(0, False), (239_999, False), (240_000, True)])
def test_an_unknown_computation_is_placed_by_the_bytes_of_its_inputs(nbytes, on_gpu):
    assert is_faster_on_gpu(Known(), nbytes, DEVICE) == on_gpu


@pytest.mark.parametrize(
    ("known", "on_gpu"),
    [
        # Short on the CPU: the launch alone takes longer.
        (Known(cost(100), cpu_seconds=10e-6, cpu_replays=2), False),
        (Known(cost(100), cpu_seconds=30e-6, cpu_replays=2), True),
        # Transfers take longer than computing here.
        (Known(cost(10**6, input_bytes=10**8), cpu_seconds=5e-3, cpu_replays=2), False),
        (Known(cost(10**6, answer_bytes=10**8), cpu_seconds=15e-3, cpu_replays=2), False),
        (Known(cost(10**6, input_bytes=10**8), cpu_seconds=15e-3, cpu_replays=2), True),
        # The first replay is longer than later ones.
        (Known(cost(100), cpu_seconds=1e-3, cpu_replays=1, next_seconds=10e-6), False),
        (Known(cost(100), cpu_seconds=1e-3, cpu_replays=2, next_seconds=10e-6), True),
        # It has never run on the CPU: as if that did an operation in a nanosecond.
        (Known(cost(10**4)), False),
        (Known(cost(10**6)), True),
        # Measured there: that counts, and not the prediction.
        (Known(cost(100), cpu_seconds=1e-3, cpu_replays=2, gpu_seconds=2e-3), False),
        (Known(cost(10**12), cpu_seconds=1e-3, cpu_replays=2, gpu_seconds=1e-4), True),
        # It does not fit.
        (Known(cost(10**12, peak_bytes=71 << 30), cpu_seconds=100, cpu_replays=2), False),
        (Known(cost(10**12), cpu_seconds=100, cpu_replays=2, too_large=True), False),
    ],
)
def test_a_known_computation_is_placed_by_its_expected_time(known, on_gpu):
    assert is_faster_on_gpu(known, 10**9, DEVICE) == on_gpu


def test_what_did_not_fit_before_any_replay_stays_on_the_cpu():
    assert not is_faster_on_gpu(Known(too_large=True), 10**9, DEVICE)


def test_the_shortest_replays_are_remembered_on_the_gpu_from_the_third_on():
    known = Known()
    for seconds in 0.3, 0.2, 0.4:
        known.learn(cost(7), seconds, 2 * seconds, on_gpu=False)
    assert (known.expected_seconds(on_gpu=False), known.cost) == (0.2, cost(7))
    assert (known.cpu_replays, known.next_seconds) == (3, 0.8)
    for seconds, expected in (9.0, None), (8.0, None), (0.5, 0.5), (0.7, 0.5), (0.1, 0.1):
        known.learn(None, seconds, 1.0, on_gpu=True)
        assert known.expected_seconds(on_gpu=True) == expected
    assert known.cost == cost(7)


def test_everything_is_on_the_cpu_while_no_gpu_is_ready():
    placement = Placement(always=True)
    assert not placement.is_on_gpu(Known(), 10**9)
    assert not placement.always_gpu
    ready = Placement(always=True)
    ready.device = DEVICE
    assert ready.is_on_gpu(Known(), 0)
    assert ready.always_gpu
    assert not Placement().always_gpu


def test_computations_are_remembered_by_their_entry_or_by_their_key():
    engine, placement = Engine(), Placement()
    entry = engine.call(engine.parse("1 + 1"), {}, Query("evaluate")).entry
    assert placement.known(entry, "a") is placement.known(entry, "b")
    assert placement.known(None, "a") is placement.known(None, "a")
    assert placement.known(None, "a") is placement.known(entry, "b")
    assert placement.known(None, "c") is not placement.known(None, "a")
    first = placement.known(None, "first")
    for number in range(10_000):
        placement.known(None, number)
    assert placement.known(None, "first") is not first


def test_what_takes_too_long_on_the_event_loop_is_tried_ever_more_seldom():
    known = Known()
    tried = []
    for number in range(1000):
        if known.may_try():
            tried.append(number)
            known.fail()
    assert tried == [0, 3, 8, 17, 34, 67, 132, 261, 518]


def test_what_is_known_of_a_computation_holds_whether_or_not_its_entry_is_at_hand():
    engine, placement = Engine(), Placement()
    one, other = (
        engine.call(engine.parse(text), {}, Query("evaluate")).entry for text in ("1 + 1", "2 + 2")
    )
    placement.known(one, "a").learn(cost(7), 0.5, 0.5, on_gpu=False)
    assert placement.known(None, "a") is placement.known(one, "a")
    beside = placement.known(other, "a")
    assert (beside.cost, beside.expected_seconds(on_gpu=False)) == (cost(7), 0.5)
    beside.learn(cost(8), 0.1, 0.1, on_gpu=False)
    assert placement.known(one, "a").cost == cost(7)


@pytest.mark.parametrize(
    ("work", "moves"),
    [
        (Work(), False),
        # A launch of 20 microseconds for each evaluation.
        (Work(replays=1000, seconds=0.019), False),
        (Work(replays=1000, seconds=0.021), True),
        # What is sent and answered, at 10 and 5 GB a second.
        (Work(replays=1, seconds=0.29, input_bytes=10**9, answer_bytes=10**9), False),
        (Work(replays=1, seconds=0.31, input_bytes=10**9, answer_bytes=10**9), True),
        # Arithmetic, a thousand a nanosecond.
        (Work(replays=1, seconds=0.9, flops=10**12), False),
        (Work(replays=1, seconds=1.1, flops=10**12), True),
        # It does not fit.
        (Work(replays=1, seconds=100.0, peak_bytes=71 << 30), False),
    ],
)
def test_an_optimisation_moves_where_its_evaluations_take_less_time(work, moves):
    assert is_faster_moved(work, DEVICE) == moves
