"""Long queries about many examples, divided among workers."""

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf
from gradwire_engine.answer import Query
from gradwire_engine.polling import no_deadline
from gradwire_service.cluster import batches
from gradwire_service.cluster.cluster import Cluster
from gradwire_service.problems import RemoteError
from gradwire_service.settings import Settings

#: Decides for each example.
BRANCHES = "if x[0] > 0:\n    s = sum(sin(x) * w)\nelse:\n    s = sum(x**2) * w[0]\ns"


@pytest.fixture
def all_divided(monkeypatch):
    """Divide however short a query is."""
    monkeypatch.setattr(batches, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(batches, "_BYTES_PER_SECOND", 1e30)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("query", "vectors"),
    [
        (Query("evaluate", batch={"x": 0}), None),
        (Query("gradient", batch={"x": 0}), None),
        (Query("hessian", sources=["x"], batch={"x": 0}), None),
        (Query("jvp", sources={"x": "x"}, batch={"x": 0, "tangents.x": 1}), {"x": np.ones((3, 7))}),
    ],
)
def test_pieces_make_the_whole(connected, all_divided, query, vectors):
    x = np.random.default_rng(0).standard_normal((7, 3))
    engine = Engine()
    variables = {"x": Leaf(x), "w": Leaf(np.array([1.0, 2.0, 3.0]))}
    call = engine.call(engine.parse(BRANCHES), variables, query, vectors)
    call.compile(no_deadline)
    found, whole = connected.batch(call, "", no_deadline), call.replay(no_deadline)
    assert found is not None
    np.testing.assert_allclose(found.value, whole.value, rtol=1e-13)
    assert found.derivatives.keys() == whole.derivatives.keys()
    for name, nested in whole.derivatives.items():
        compared(found.derivatives[name], nested)


def compared(found, expected):
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
    if isinstance(expected, dict | list):
        for key in expected if isinstance(expected, dict) else range(len(expected)):
            compared(found[key], expected[key])
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.thorough
def test_errors_are_those_of_a_worker(connected, all_divided):
    engine = Engine()
    variables = {"A": Leaf(np.zeros((4, 2, 2)))}
    call = engine.call(engine.parse("inv(A)"), variables, Query("evaluate", batch={"A": 0}))
    call.compile(no_deadline)
    with pytest.raises(RemoteError) as caught:
        connected.batch(call, "", no_deadline)
    assert caught.value.problem.code == "domain_error"


@pytest.mark.thorough
def test_short_queries_and_those_without_a_cluster_stay(connected, monkeypatch):
    engine = Engine()
    variables = {"x": Leaf(np.ones((7, 3)))}
    call = engine.call(engine.parse("sum(x)"), variables, Query("evaluate", batch={"x": 0}))
    call.compile(no_deadline)
    assert connected.batch(call, "", no_deadline) is None
    monkeypatch.setattr(batches, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(batches, "_BYTES_PER_SECOND", 1.0)
    assert connected.batch(call, "", no_deadline) is None  # moving the rows takes longer
    monkeypatch.setattr(batches, "_BYTES_PER_SECOND", 1e30)
    monkeypatch.setattr("gradwire_service.cluster.connection._CONNECT_SECONDS", 0.3)
    for settings in (Settings(), Settings(dask="tcp://127.0.0.1:1")):
        away = Cluster(settings, engine.limits, isolated=False)
        assert away.batch(call, "", no_deadline) is None
        away.close()


@pytest.mark.thorough
async def test_a_request_is_answered_by_workers(served, dask, all_divided):
    x = np.random.default_rng(1).standard_normal((7, 3))
    request = {
        "program": BRANCHES,
        "variables": {"x": x.tolist(), "w": [1, 2, 3]},
        "batch": ["x"],
        "sources": ["x"],
    }
    async with served(dask=dask.address) as client:
        answer = (await client.post("/v1/gradient", json=request)).json()
    positive = x[:, :1] > 0
    expected = np.where(positive, np.cos(x) * [1, 2, 3], 2 * x)
    np.testing.assert_allclose(answer["gradients"][0], expected, rtol=1e-12)

    def computed(dask_scheduler):
        return dask_scheduler.task_prefixes["gradwire-answer"].state_counts["memory"]

    assert dask.client.run_on_scheduler(computed) >= 4
