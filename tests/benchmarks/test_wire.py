"""Every form gives right results before it is timed, and rounds are counted."""

from itertools import islice
from statistics import median

import numpy as np
import pytest
from peers.by_hand import rosenbrock
from peers.workloads import ROSENBROCK
from servers import http_request
from wire import forms, others, peak, residents
from wire.loads import Load, alternate, ask, check, load, rows
from wire.sizes import points

SIZES = (2, 10, 1000)


@pytest.mark.parametrize("form", [forms.LISTS, forms.OCTETS], ids=["lists", "octets"])
def test_the_bare_endpoint_gives_the_handwritten_gradient(bare, form):
    for size in SIZES:
        (x,) = points(size, 1)
        check(form, ask(bare, form.write(x)), rosenbrock(x))


def test_gradwire_gives_right_results_in_every_form(server):
    by_id = forms.in_json(forms.registered(server, ROSENBROCK))
    for form in (forms.LISTS, forms.BINARY, by_id):
        for size in SIZES:
            (x,) = points(size, 1)
            check(form, ask(server, form.write(x)), rosenbrock(x))


def test_new_programs_have_the_same_result_and_different_texts(server):
    asked = points(10, 2)
    questions = list(islice(forms.new_programs(asked), 4))
    assert len({question[0] for question in questions}) == 4
    for x, question in zip(asked * 2, questions, strict=True):
        check(forms.LISTS, ask(server, question), rosenbrock(x))


@pytest.mark.parametrize("wrong", [(1.0, 0.0), (0.0, 1e-3)])
def test_a_wrong_result_stops_the_benchmark(bare, wrong):
    def off(x):
        value, gradient = rosenbrock(x)
        return value + wrong[0], gradient + wrong[1]

    with pytest.raises(AssertionError):
        load(bare, forms.LISTS, points(10, 1), 1, by_hand=off)


def test_rounds_measure_latency_cpu_and_throughput(bare):
    # Some systems count CPU time in ticks of 10 ms: a round takes several.
    ours, theirs = (
        load(bare, form, points(10, 3), 200, 40) for form in (forms.LISTS, forms.OCTETS)
    )
    alternate(4, ours, theirs)
    for found in (ours, theirs):
        for figures in (found.p50_us, found.cpu_us, found.per_second):
            assert len(figures) == 4
            assert min(figures) > 0
    latency, cpu = rows("what", ours, theirs, 1.5)
    assert latency.figure == median(ours.p50_us)
    assert cpu.reference == median(theirs.cpu_us)
    assert latency.bar == cpu.bar == "ratio <= 1.5"


def test_a_round_sends_each_request_once(bare):
    """In sequence, after one uncounted request, then on all connections concurrently."""
    asked = []

    def questions():
        for number in range(1000):
            asked.append(number)
            yield [http_request("/v1/gradient", b'{"variables": {"x": [%d, 2]}}' % number)] * 2

    Load(bare, questions(), 7, 30).round()
    assert asked == list(range(1 + 7 + 30))


def test_resident_observations_give_the_same_gradient_as_sent_ones(server):
    draw = np.random.default_rng(0)
    values = {"x": draw.normal(size=(9, 4)), "y": np.sign(draw.normal(size=9))}
    sent, kept = residents.rows(server, values, [draw.normal(size=4) for _ in range(2)], 2)
    assert sent.figure == kept.figure > 0
    assert sent.reference > 0


@pytest.mark.parametrize("kind", ["evaluate", "gradient"])
def test_memory_growth_is_at_least_the_request_size(kind):
    x = np.random.default_rng(0).normal(size=1 << 20)
    assert peak.growth_mib(kind, x) > 7


ASKED = pytest.mark.asked("BENCHMARK_PEERS")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[ASKED] if name in others.PEERS else []) for name in others.FORMS],
)
def test_other_services_give_the_handwritten_gradient(name):
    """In all their forms; those of others, which have to be installed, if asked for."""
    with others.SERVERS[name]() as server:
        for form in others.FORMS[name].values():
            for x in points(10, 2):
                check(form, ask(server, form.write(x)), rosenbrock(x))
