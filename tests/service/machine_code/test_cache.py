"""Machine code by tenant, and what tenants may have compiled."""

import pytest
from gradwire_engine.shared_budget import SharedBudget
from gradwire_service.machine_code import CodeCache, CodeFiles, Found
from gradwire_service.telemetry import Metrics
from hypothesis import given
from hypothesis import strategies as st

CODE = b"code" * 1000


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def metrics():
    return Metrics()


def value(metrics, name, **labels):
    return metrics.registry.get_sample_value(name, labels) or 0


def test_each_tenant_finds_its_own(metrics):
    codes = CodeCache(SharedBudget(1 << 20), metrics)
    codes.put("alice", {b"one": CODE}, 0.1)
    assert codes.get("alice", [b"one", b"two"]) == Found({b"one": CODE}, 0)
    assert codes.get("bob", [b"one"]) == Found({}, 0)


def test_the_budget_is_kept_and_nobody_loses_to_one_who_has_more(metrics):
    budget = SharedBudget(50_000)
    codes = CodeCache(budget, metrics)
    codes.put("bob", {b"his": CODE}, 0.1)
    for number in range(100):
        codes.put("alice", {b"%d" % number: CODE}, 0.1)
        codes.get("alice", [b"0"])
        assert budget.taken <= budget.most
    assert codes.get("bob", [b"his"]).objects
    assert codes.get("alice", [b"0", b"99"]).objects.keys() == {b"0", b"99"}
    assert not codes.get("alice", [b"1"]).objects


def test_a_restart_finds_what_is_in_the_folder(metrics, tmp_path):
    def opened():
        return CodeCache(SharedBudget(1 << 20), metrics, CodeFiles(tmp_path, 1 << 20))

    opened().put("alice", {b"one": CODE}, 0.1)
    codes = opened()
    assert codes.get("alice", [b"one"]).objects == {b"one": CODE}
    for path in tmp_path.glob("*/*"):
        path.unlink()
    assert codes.get("alice", [b"one"]).objects == {b"one": CODE}
    assert not codes.get("bob", [b"one"]).objects


def test_what_a_tenant_compiles_is_bounded(metrics):
    clock = Clock()
    codes = CodeCache(SharedBudget(1 << 20), metrics, seconds_per_minute=20, clock=clock)
    assert codes.get("alice", [b"one"]).wait_seconds == 0
    codes.put("alice", {b"one": CODE}, 15)
    assert codes.get("alice", [b"two"]).wait_seconds == 0
    codes.put("alice", {}, 15)  # a failure counts, too
    wait = codes.get("alice", [b"two"]).wait_seconds
    assert wait == pytest.approx(30 + 3)  # ten seconds beyond, of twenty a minute
    assert codes.get("alice", [b"one"]) == Found({b"one": CODE}, 0)
    assert codes.get("bob", [b"two"]).wait_seconds == 0
    clock.now += wait + 0.01
    assert codes.get("alice", [b"two"]).wait_seconds == 0
    clock.now += 3600
    codes.put("alice", {}, 20.5)
    assert codes.get("alice", [b"two"]).wait_seconds > 0


@given(
    costs=st.lists(st.floats(0, 5), max_size=60),
    pauses=st.lists(st.floats(0, 40), min_size=60, max_size=60),
)
def test_no_minute_has_more_than_twice_what_is_allowed(costs, pauses):
    clock = Clock()
    codes = CodeCache(SharedBudget(1 << 20), Metrics(), seconds_per_minute=20, clock=clock)
    spent: list[tuple[float, float]] = []
    for cost, pause in zip(costs, pauses, strict=False):
        clock.now += pause
        if not codes.get("alice", [b"key"]).wait_seconds:
            codes.put("alice", {}, cost)
            spent.append((clock.now, cost))
    for began, _ in spent:
        within = sum(cost for at, cost in spent if began <= at < began + 60)
        assert within <= 20 + 20 + 5


def test_what_happens_is_counted(metrics):
    codes = CodeCache(SharedBudget(1 << 20), metrics, seconds_per_minute=1, clock=Clock())
    codes.get("alice", [b"one", b"two"])
    codes.put("alice", {b"one": CODE, b"two": CODE}, 0.75)
    codes.get("alice", [b"one", b"two"])
    codes.put("alice", {}, 0.5)
    codes.get("alice", [b"one", b"three"])
    assert value(metrics, "gradwire_machine_code_seconds_total") == 1.25
    outcomes = ("compiled", "failed", "cached", "postponed")
    found = [value(metrics, "gradwire_kernels_total", outcome=each) for each in outcomes]
    assert found == [2, 1, 3, 1]
