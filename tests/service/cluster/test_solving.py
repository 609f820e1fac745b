"""Optimisations over chunked data, from the bytes of a request to those of its answer."""

import json
from pathlib import Path

import numpy as np
import pytest
from gradwire_service.cluster.cluster import check_installed
from gradwire_service.problems import KINDS
from gradwire_service.settings import Settings
from gradwire_service.settings.errors import StartupError

from tests.processes import until

PAGE = Path(__file__).parents[3] / "docs/how-to/large-data.md"
#: The request that the page shows, to more digits.
REQUEST = {
    **json.loads(PAGE.read_text(encoding="utf-8").partition("```json\n")[2].partition("```")[0]),
    "options": {"gtol": 1e-5, "ftol": 1e-14},
}
#: The same optimum by scikit-learn 1.9.1: ``LogisticRegression(C=1.0, fit_intercept=False,
#: tol=1e-10, max_iter=1000).fit(data.X.astype(float), data.y).coef_``.
FITTED = [
    *(1.0181251986533055, 1.064833739682287, 1.037888596736901),
    *(1.0034403303355115, 0.8857444377815176),
]


def test_data_of_a_cluster_have_no_exact_runs(solve):
    refused = solve("minimize", {**REQUEST, "exact": True})
    assert (refused.code, refused.pointer) == ("invalid_request", "/exact")
    assert "send the data" in refused.hint


@pytest.mark.thorough
@pytest.mark.parametrize("method", ["L-BFGS-B", "trust-ncg"])
def test_logistic_regression_is_scikit_learns(solve, small_shards, method):
    options = REQUEST["options"] if method == "L-BFGS-B" else {"gtol": 1e-5}
    answer = solve("minimize", {**REQUEST, "method": method, "options": options})
    assert answer["success"], answer["message"]
    np.testing.assert_allclose(answer["solution"]["w"], FITTED, rtol=1e-5)


@pytest.mark.thorough
def test_a_nested_variable(solve):
    variables = {"data": REQUEST["variables"], "w": REQUEST["variables"]["w"]}
    variables["data"] = {name: variables["data"][name] for name in ("X", "y")}
    program = REQUEST["program"].replace("X", "data.X").replace("y *", "data.y *")
    answer = solve("minimize", {**REQUEST, "program": program, "variables": variables})
    np.testing.assert_allclose(answer["solution"]["w"], FITTED, rtol=1e-5)


@pytest.mark.parametrize(
    ("change", "code", "pointer"),
    [
        ({"X": {"zarr": "unknown.zarr"}}, "invalid_request", "/variables/X/zarr"),
        ({"X": {"zarr": "X.zarr", "columns": []}}, "malformed_tensor", "/variables/X"),
        ({"y": {"parquet": "rows"}}, "malformed_tensor", "/variables/y/columns"),
        ({"y": {"parquet": "rows", "columns": "z"}}, "invalid_request", "/variables/y/parquet"),
    ],
)
def test_problems_have_their_place(solve, change, code, pointer):
    problem = solve("minimize", {**REQUEST, "variables": {**REQUEST["variables"], **change}})
    assert (problem.code, problem.pointer) == (code, pointer)
    assert problem.status == KINDS[code].status


def test_a_source_cannot_be_chunked(solve):
    problem = solve("minimize", {**REQUEST, "sources": ["X"]})
    assert problem.pointer == "/sources"


@pytest.mark.thorough
def test_least_squares_by_triangular_factors(solve, data, small_shards):
    program = {"program": "return X @ w - y", "method": "gauss-newton", "options": {}}
    answer = solve("least_squares", {**REQUEST, **program})
    assert answer["success"], answer["message"]
    expected, *_ = np.linalg.lstsq(data.X.astype(float), data.y, rcond=None)
    np.testing.assert_allclose(answer["solution"]["w"], expected, rtol=1e-6)


def test_what_needs_all_data_says_so(solve):
    asked = {"program": "return X @ w - y", "options": {}, "method": "lm"}
    problem = solve("least_squares", {**REQUEST, **asked})
    assert "one machine" in problem.detail


@pytest.mark.parametrize("program", [REQUEST["program"], "return log(sum(X @ w))"])
def test_workers_forget_the_shards_of_a_run_that_has_ended(solve, dask, program):
    def kept():
        keys = dask.client.run_on_scheduler(lambda dask_scheduler: [*dask_scheduler.tasks])
        return [key for key in keys if str(key).startswith("gradwire-")]

    solve("minimize", {**REQUEST, "program": program})
    until(lambda: kept() == [])


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("further", "code"),
    [({"shape": [3000, 6]}, "shape_mismatch"), ({"dtype": "int32"}, "dtype_mismatch")],
)
def test_data_are_what_references_expect(solve, further, code):
    expected = {"zarr": "X.zarr", "shape": [3000, 5], "dtype": "float32"}
    variables = {**REQUEST["variables"], "X": expected}
    assert solve("minimize", {**REQUEST, "variables": variables})["success"]
    variables["X"] = {**expected, **further}
    problem = solve("minimize", {**REQUEST, "variables": variables})
    place = "shape" if "shape" in further else "zarr"
    assert (problem.code, problem.pointer) == (code, f"/variables/X/{place}")


@pytest.mark.thorough
async def test_a_worker_process_asks_the_cluster(served, dask, data):
    """With its limits of memory, and over HTTP."""
    settings = {"dask": dask.address, "data_root": str(data.root), "process_bytes": 400 << 20}
    settings["job_wait_ms"] = 600_000
    async with served(processes=1, job_processes=1, **settings) as client:
        answer = await client.post("/v1/minimize", json=REQUEST | {"wait_ms": 600_000})
        assert answer.status_code == 200, answer.text
        np.testing.assert_allclose(answer.json()["solution"]["w"], FITTED, rtol=1e-5)


@pytest.mark.thorough
def test_a_service_without_dask_does_not_start(monkeypatch):
    monkeypatch.setattr("gradwire_service.cluster.cluster.find_spec", lambda _: None)
    check_installed(Settings())
    with pytest.raises(StartupError, match=r"gradwire-server\[dask\]"):
        check_installed(Settings(dask="tcp://127.0.0.1:8786"))
