"""Objectives by shards on a cluster of two processes: parts add up to the whole."""

import os
import shutil
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf
from gradwire_engine.answer import Limits
from gradwire_engine.errors import EngineError
from gradwire_service.access.keyring import owner_of
from gradwire_service.cluster.cluster import Cluster
from gradwire_service.problems import RemoteError, RequestError, problem_of
from gradwire_service.scheduling import Deadline
from gradwire_service.settings import Settings
from gradwire_service.wire.bfloat16 import BFLOAT16
from gradwire_service.wire.chunked import ChunkedReference
from gradwire_solvers.local import LocalProblem
from scipy.optimize import minimize

from tests.processes import until
from tests.service.cluster.conftest import LOGISTIC

ZARR = ChunkedReference("zarr", "X.zarr"), ChunkedReference("zarr", "y.zarr")
COLUMNS = tuple(f"x{i}" for i in range(5))
PARQUET = ChunkedReference("parquet", "rows", COLUMNS), ChunkedReference("parquet", "rows", "y")
X_AT = np.array([0.3, -0.2, 0.5, 0.1, -0.4])
V = np.array([1.0, 0.5, -0.25, 2.0, 0.0])


@pytest.fixture(scope="module")
def published(dask, data):
    """The same rows as datasets, in chunks that differ."""
    import dask.array as da

    client = dask.client
    client.publish_dataset(X=client.persist(da.from_array(data.X, chunks=(900, 5))))
    client.publish_dataset(y=client.persist(da.from_array(data.y, chunks=(400,))))
    return ChunkedReference("dask", "X"), ChunkedReference("dask", "y")


@pytest.fixture(params=["zarr", "parquet", "dask", "mixed"])
def references(request):
    if request.param in ("zarr", "parquet"):
        return {"zarr": ZARR, "parquet": PARQUET}[request.param]
    X, y = request.getfixturevalue("published")
    return (X, y) if request.param == "dask" else (X, PARQUET[1])


def formula(data, w):
    """Value, gradient and Hessian of the logistic objective, by NumPy."""
    X, y = data.X.astype(float), data.y.astype(float)
    z = X @ w
    p = 1 / (1 + np.exp(-z))
    value = np.sum(np.logaddexp(0, z) - y * z) + 0.5 * w @ w
    return value, X.T @ (p - y) + w, X.T @ (X * (p * (1 - p))[:, None]) + np.eye(len(w))


def whole(data, text=LOGISTIC):
    """The objective of all rows in one engine, with no shards."""
    variables = {
        "X": Leaf(data.X, trainable=False),
        "y": Leaf(data.y, trainable=False),
        "w": Leaf(np.zeros(5)),
    }
    return LocalProblem(Engine(), Engine().parse(text), variables, ["w"])


@pytest.mark.thorough
def test_parts_add_up_to_the_formula(logistic, references, data, small_shards):
    objective = logistic(*references)
    assert len(objective.shards) > 8  # more than one level of the sum
    value, gradient, hessian = formula(data, X_AT)
    found, found_gradient = objective.value_and_gradient(X_AT)
    np.testing.assert_allclose(found, value, rtol=1e-12)
    np.testing.assert_allclose(found_gradient, gradient, rtol=1e-9)
    np.testing.assert_allclose(objective.hessian_product(X_AT, V), hessian @ V, rtol=1e-9)


@pytest.mark.thorough
def test_they_are_those_of_one_engine(logistic, data, small_shards):
    objective, local = logistic(*ZARR), whole(data)
    value, gradient = local.value_and_gradient(X_AT)
    found, found_gradient = objective.value_and_gradient(X_AT)
    np.testing.assert_allclose(found, value, rtol=1e-12)
    np.testing.assert_allclose(found_gradient, gradient, rtol=1e-10)
    np.testing.assert_allclose(
        objective.hessian_product(X_AT, V), local.hessian_product(X_AT, V), rtol=1e-10
    )


def test_means_are_of_all_rows(logistic, data, small_shards):
    text = "return mean((X @ w - y) ** 2) + 0.1 * sum(w ** 2)"
    residuals = data.X.astype(float) @ X_AT - data.y
    found, gradient = logistic(*ZARR, text=text).value_and_gradient(X_AT)
    np.testing.assert_allclose(found, np.mean(residuals**2) + 0.1 * X_AT @ X_AT, rtol=1e-10)
    expected = 2 * data.X.T.astype(float) @ residuals / 3000 + 0.2 * X_AT
    np.testing.assert_allclose(gradient, expected, rtol=1e-9)


def test_residuals_have_a_cost(logistic, data, small_shards):
    objective = logistic(*ZARR, text="return X @ w - y", of_residuals=True)
    X = data.X.astype(float)
    residuals = X @ X_AT - data.y
    cost, gradient = objective.value_and_gradient(X_AT)
    np.testing.assert_allclose(cost, residuals @ residuals / 2, rtol=1e-12)
    np.testing.assert_allclose(gradient, X.T @ residuals, rtol=1e-9)
    np.testing.assert_allclose(objective.gauss_newton_product(X_AT, V), X.T @ (X @ V), rtol=1e-9)


def test_residuals_have_curvature_and_a_triangular_factor(logistic, data, small_shards):
    objective = logistic(*ZARR, text="return tanh(X @ w) - y", of_residuals=True)
    X, t = data.X.astype(float), np.tanh(data.X.astype(float) @ X_AT)
    r, slope = t - data.y, 1 - t * t
    curved = X.T @ ((slope**2 - 2 * r * t * slope) * (X @ V))
    np.testing.assert_allclose(objective.hessian_product(X_AT, V), curved, rtol=1e-9)
    triangle, whole = objective.triangle(X_AT), np.column_stack([slope[:, None] * X, r])
    np.testing.assert_allclose(triangle.T @ triangle, whole.T @ whole, rtol=1e-9)
    np.testing.assert_array_equal(triangle, np.triu(triangle))


def test_rows_that_do_not_fit_are_read_each_time(logistic, data, small_shards, monkeypatch):
    monkeypatch.setattr("gradwire_service.cluster.division._KEPT_SHARE", 0.0)
    found, gradient = logistic(*ZARR).value_and_gradient(X_AT)
    value, expected, _ = formula(data, X_AT)
    np.testing.assert_allclose(found, value, rtol=1e-12)
    np.testing.assert_allclose(gradient, expected, rtol=1e-9)


@pytest.mark.thorough
def test_a_worker_that_is_killed_changes_nothing(dask, logistic, data, small_shards):
    objective = logistic(*ZARR)
    evaluations = 0

    def fun(w):
        nonlocal evaluations
        evaluations += 1
        if evaluations == 3:
            victim = next(iter(dask.client.run(os.getpid).values()))
            threading.Timer(0.01, os.kill, (victim, signal.SIGKILL)).start()
        return objective.value_and_gradient(w)

    found = minimize(fun, np.zeros(5), jac=True, method="L-BFGS-B", tol=1e-10)
    expected = minimize(
        whole(data).value_and_gradient, np.zeros(5), jac=True, method="L-BFGS-B", tol=1e-10
    )
    assert evaluations > 3
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-6)
    np.testing.assert_allclose(found.fun, expected.fun, rtol=1e-12)


@pytest.mark.thorough
def test_data_that_kill_their_workers_are_a_problem(dask, logistic):
    import dask.array as da

    deadly = da.zeros((3000, 5), dtype="f4").map_blocks(
        lambda _: os.kill(os.getpid(), signal.SIGKILL), meta=np.empty((0, 0), "f4")
    )
    dask.client.publish_dataset(deadly=deadly)
    objective = logistic(ChunkedReference("dask", "deadly"), ZARR[1])
    error = refused(lambda: objective.value_and_gradient(X_AT))
    assert (error.code, error.status) == ("worker_crashed", 500)
    assert "2 workers" in error.detail
    dask.client.wait_for_workers(2)  # other tests need them again


@pytest.mark.thorough
def test_no_shard_needs_more_memory_than_a_worker_has(logistic):
    text = "return sum(sort((X @ w)[:, None] * ones((1, 40000)), axis=1))"
    error = refused(lambda: logistic(*ZARR, text=text).value_and_gradient(X_AT))
    assert error.code == "over_budget"
    assert "more than the 1,073,741,824 allowed" in error.detail


def test_a_deadline_stops_the_workers(dask, logistic, small_shards):
    slow = "s = 0.0\nfor i in range(200000000):\n    s = s + sin(s + i)\nreturn sum(X @ w) * s"
    deadline = Deadline(3_600_000)
    objective = logistic(*ZARR, text=slow, poll=deadline)

    def computing():
        return any(dask.client.processing().values())

    def cancel():
        until(computing)
        deadline.cancel()

    with ThreadPoolExecutor(1) as other:
        cancelling = other.submit(cancel)
        with pytest.raises(EngineError, match="deadline"):
            objective.value_and_gradient(X_AT)
        cancelling.result()
    until(lambda: not computing())


def test_errors_of_a_program_are_the_engines(logistic):
    error = refused(lambda: logistic(*ZARR, text="return sum(w @ X)").value_and_gradient(X_AT))
    assert (error.code, error.node.op) == ("shape_mismatch", "matmul")
    error = refused(lambda: logistic(*ZARR, text="return X @ w").value_and_gradient(X_AT))
    assert (error.code, error.node.op) == ("not_a_sum", "matmul")
    error = refused(lambda: logistic(*ZARR, text="return [sum(X @ w)]").value_and_gradient(X_AT))
    assert "one real number" in error.detail


def refused(ask):
    with pytest.raises((RequestError, RemoteError)) as caught:
        ask()
    return problem_of(caught.value)


@pytest.mark.thorough
def test_rows_of_bfloat16(dask, data, logistic, small_shards):
    import dask.array as da

    X = data.X.astype(BFLOAT16)
    dask.client.publish_dataset(narrow=dask.client.persist(da.from_array(X, chunks=(900, 5))))
    objective = logistic(ChunkedReference("dask", "narrow"), ZARR[1])
    rounded = SimpleNamespace(X=X.astype(float), y=data.y)
    value, gradient, _ = formula(rounded, X_AT)
    found, found_gradient = objective.value_and_gradient(X_AT)
    np.testing.assert_allclose(found, value, rtol=1e-12)
    np.testing.assert_allclose(found_gradient, gradient, rtol=1e-10, atol=1e-10)


def test_unequal_rows(dask, logistic):
    import dask.array as da

    dask.client.publish_dataset(short=da.zeros((2999, 5), dtype="f4", chunks=1000))
    error = refused(lambda: logistic(ChunkedReference("dask", "short"), ZARR[1]))
    assert (error.code, error.pointer) == ("shape_mismatch", "/variables/y")
    assert "2999" in error.detail
    assert "3000" in error.detail


@pytest.mark.thorough
def test_chunks_of_unequal_dtypes(dask, logistic, small_shards):
    import dask.array as da

    zeros, like = da.zeros((1500, 5), dtype="f4"), np.empty((0, 0), "f4")
    doubles = da.map_blocks(lambda block: block.astype("f8"), zeros, meta=like)
    dask.client.publish_dataset(unequal=da.concatenate([zeros, doubles]))
    objective = logistic(ChunkedReference("dask", "unequal"), ZARR[1])
    error = refused(lambda: objective.value_and_gradient(X_AT))
    assert (error.code, error.pointer) == ("dtype_mismatch", "/variables/X")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("reference", "code", "detail"),
    [
        (ChunkedReference("dask", "unknown"), "invalid_request", "no dataset unknown"),
        (ChunkedReference("zarr", "unknown.zarr"), "invalid_request", "no file or folder"),
        (ChunkedReference("zarr", "../X.zarr"), "invalid_request", "not below"),
        (ChunkedReference("zarr", "rows"), "invalid_request", "rows"),
        (ChunkedReference("parquet", "X.zarr", "a"), "invalid_request", "no rows"),
        (ChunkedReference("parquet", "rows", "z"), "invalid_request", "no column z"),
    ],
)
def test_references_that_lead_nowhere(logistic, reference, code, detail):
    error = refused(lambda: logistic(reference, ZARR[1]))
    assert error.code == code
    assert detail in error.detail
    assert error.pointer == f"/variables/X/{reference.kind}"


@pytest.mark.thorough
def test_tenants_name_only_what_is_theirs(dask, data, logistic, published):
    import dask.array as da

    (data.root / "acme").mkdir()
    for name in ("X.zarr", "y.zarr"):
        shutil.copytree(data.root / name, data.root / "acme" / name)
    (data.root / "acme" / "link").symlink_to(data.root / "X.zarr")
    dask.client.publish_dataset(**{"acme/X": dask.client.persist(da.from_array(data.X))})
    settings = Settings(dask=dask.address, data_root=str(data.root))
    cluster = Cluster(settings, Limits(), isolated=True)
    asked = {"cluster": cluster, "owner": owner_of("acme")}
    y = ChunkedReference("zarr", "acme/y.zarr")
    value, _, _ = formula(data, X_AT)
    for X in (ChunkedReference("dask", "acme/X"), ChunkedReference("zarr", "acme/X.zarr")):
        found, _ = logistic(X, y, **asked).value_and_gradient(X_AT)
        np.testing.assert_allclose(found, value, rtol=1e-12)
    for X in (ChunkedReference("dask", "X"), ChunkedReference("zarr", "X.zarr")):
        assert refused(lambda X=X: logistic(X, y, **asked)).code == "forbidden"
    other = asked | {"owner": owner_of("other")}
    assert (
        refused(lambda: logistic(ChunkedReference("dask", "acme/X"), y, **other)).code
        == "forbidden"
    )
    error = refused(lambda: logistic(ChunkedReference("zarr", "acme/link"), y, **asked))
    assert "symbolic link" in error.detail
    cluster.close()
