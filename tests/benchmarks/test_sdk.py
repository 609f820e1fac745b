"""Both sides of the SDK benchmark give right results, and no point is repeated."""

import numpy as np
import pytest
import sdk
from peers import sdks
from peers.by_hand import rosenbrock
from wire.others import PEERS, SERVERS


def test_each_round_measures_both_latencies():
    asked = []

    def ask(x):
        asked.append(x.tobytes())
        return rosenbrock(x)

    for side in sdk.alternate(3, 10, 4, ask, ask):
        assert [len(side.latency), len(side.cpu)] == [3, 3]
        assert min(side.latency) > 0
    assert len(set(asked)) == len(asked) - 1 == 2 * 3 * 4 + 1


def test_a_wrong_result_stops_the_benchmark():
    def wrong(x):
        value, gradient = rosenbrock(x)
        return value, gradient + 1e-3

    with pytest.raises(AssertionError):
        sdk.alternate(1, 10, 1, rosenbrock, wrong)


def test_the_sdk_is_compared_with_handwritten_requests(server):
    import gradwire

    with gradwire.Client(sdk._url(server)) as client:
        rows = [*sdk._waiting(server, client, 1), *sdk._awaiting(server, 1), sdk._again(server, 1)]
    assert len({row.what for row in rows}) == len(rows)
    for row in rows:  # of one round
        assert row.ratio == pytest.approx(row.figure / row.reference)


def test_the_gradwire_sdk_runs_in_its_own_process(server):
    assert all(figure > 0 for figure in sdk._asked_there("gradwire", server, 5))


@pytest.mark.asked("BENCHMARK_PEERS")
@pytest.mark.parametrize("name", PEERS)
def test_sdks_of_other_services_work(name):
    with SERVERS[name]() as server:
        assert all(figure > 0 for figure in sdk._asked_there(name, server, 5))


def test_latency_is_measured_for_right_results():
    assert sdks.latency(rosenbrock, 10, 3) > 0
    with pytest.raises(AssertionError):
        sdks.latency(lambda x: (0.0, np.zeros_like(x)), 10, 3)
