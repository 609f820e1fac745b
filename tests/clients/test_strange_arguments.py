"""Whatever a public function is given: it answers, or raises an error of the SDK."""

import warnings
from collections.abc import Callable
from typing import Any

import gradwire
import numpy as np
import pytest

from tests.clients.strange import STRANGE, Broken, Refusing

X = {"x": 1.0}
XS = {"x": [1.0]}
TWO = np.zeros(2)


def total(x, *_):
    """A sum, of what has one: a function's own errors are its user's."""
    try:
        return np.sum(x)
    except gradwire.GradwireError:
        raise
    except Exception:  # noqa: BLE001 - of what has no sum
        return 0.0


TAKING: dict[str, Callable[[Any, Any], Any]] = {
    "evaluate": lambda c, v: c.evaluate("x", {"x": v}),
    "variables": lambda c, v: c.evaluate("x", v),
    "program": lambda c, v: c.evaluate(v, X),
    "gradient": lambda c, v: c.gradient("sum(x)", {"x": v}),
    "sources": lambda c, v: c.gradient("sum(x)", X, sources=v),
    "target": lambda c, v: c.gradient("y = sum(x)", X, target=v),
    "output_gradients": lambda c, v: c.gradient("x", X, output_gradients=v),
    "nested output_gradients": lambda c, v: c.gradient(
        "y = x\nz = x", X, target=["y", "z"], output_gradients=v
    ),
    "batch": lambda c, v: c.gradient("sum(x)", XS, batch=v),
    "timeout_ms": lambda c, v: c.gradient("sum(x)", XS, timeout_ms=v),
    "an unknown option": lambda c, v: c.gradient("sum(x)", XS, whatever=v),
    "tangents": lambda c, v: c.jvp("sum(x)", XS, v),
    "vectors": lambda c, v: c.hvp("sum(x)", XS, {"x": v}),
    "mode": lambda c, v: c.jacobian("x", XS, mode=v),
    "step": lambda c, v: c.check("sum(x**2)", XS, step=v),
    "explain": lambda c, v: c.explain("sum(x**2)", {"x": v}),
    "a document": lambda c, v: c.request("POST", "/v1/evaluate", v),
    "a path": lambda c, v: c.request("GET", v),
    "a method": lambda c, v: c.request(v, "/v1/limits"),
    "a point": lambda c, v: c.map("x", [v]),
    "a variable of a point": lambda c, v: c.map("x", [{"x": v}]),
    "a point of a function": lambda c, v: c.map(total, [v]),
    "chunk": lambda c, v: c.map("x", [X], chunk=v),
    "draw": lambda c, v: c.draw("sum(x)", {"x": v}),
    "what is drawn": lambda c, v: None if callable(v) else c.draw(v, X),
    "x0": lambda c, v: c.minimize("sum(x**2)", v),
    "a member of x0": lambda c, v: c.minimize("sum(x**2)", {"x": v}),
    "x0 of a function": lambda c, v: c.minimize(total, v, options={"maxiter": 1}),
    "args": lambda c, v: c.minimize(_distance, TWO, (v,), options={"maxiter": 1}),
    "what is minimised": lambda c, v: None if callable(v) else c.minimize(v, TWO),
    "bounds": lambda c, v: c.minimize(_distance, TWO, bounds=v),
    "constraints": lambda c, v: c.minimize(_distance, TWO, constraints=v),
    "options": lambda c, v: c.minimize(_distance, TWO, options=v),
    "an option": lambda c, v: c.minimize(_distance, TWO, options={"maxiter": v}),
    "method": lambda c, v: c.minimize(_distance, TWO, method=v),
    "tol": lambda c, v: c.minimize(_distance, TWO, tol=v),
    "minibatch": lambda c, v: c.minimize(_distance, TWO, minibatch=v),
    "idempotency_key": lambda c, v: c.minimize(_distance, TWO, idempotency_key=v),
    "least_squares": lambda c, v: c.least_squares(total, v, max_nfev=1),
    "x_scale": lambda c, v: c.least_squares(lambda x: x - 1.0, TWO, x_scale=v),
    "a tensor": lambda c, v: c.tensors.put(v),
    "a tensor's reference": lambda c, v: c.tensors.get(v),
    "a program to store": lambda c, v: c.programs.register(v),
    "a program's name": lambda c, v: c.programs.register("x + 1", name=v),
    "tape": lambda c, v: c.tape("sum(x)", {"x": v}),
    "a tape's id": lambda c, v: c.tapes.open(v),
    "a job's id": lambda c, v: c.jobs.get(v),
    "grad": lambda c, v: c.grad(total)(v),
    "argnums": lambda c, v: c.grad(total, v)(1.0),
    "function": lambda c, v: c.function(total)(v),
    "vmap": lambda c, v: c.vmap(total)(v),
    "in_axes": lambda c, v: c.vmap(total, v)(np.ones(2)),
    "out_axes": lambda c, v: c.vmap(total, 0, v)(np.ones(2)),
    "primals": lambda c, v: c.vjp(total, v, 1.0),
    "cotangents": lambda c, v: c.vjp(total, (1.0,), v),
    "tangents of a function": lambda c, v: c.jvp(total, (1.0,), v),
    "a captured value": lambda c, v: c.function(lambda x: (x, np.sum(x) if v is None else x))(1.0),
    "a result": lambda c, v: c.function(lambda x: (x, v))(1.0),
    "gradwire.program": lambda _, v: gradwire.program(v),
    "with_options": lambda c, v: c.with_options(timeout=v),
    "max_retries": lambda c, v: c.with_options(max_retries=v),
    "home": lambda c, v: c.with_options(home=v).evaluate("1"),
    "placement": lambda c, v: c.with_options(placement=v),
    "api_key": lambda _, v: gradwire.Client(api_key=v),
    "base_url": lambda _, v: gradwire.Client(v),
    "a setting": lambda _, v: gradwire.Client.local(default_timeout_ms=v).close(),
    "run": lambda c, v: c.run(v),
    "send": lambda c, v: c.send(v),
    "from_scipy": lambda _, v: gradwire.SparseArray.from_scipy(v),
    "SparseArray": lambda _, v: gradwire.SparseArray(v, v, v).toarray(),
    "RaggedArray": lambda _, v: gradwire.RaggedArray(v, v),
    "ragged rows": lambda _, v: gradwire.RaggedArray.of(v),
    "a chunked reference": lambda _, v: gradwire.ChunkedArray(v, (3,)),
    "a chunked shape": lambda _, v: gradwire.ChunkedArray({"zarr": "x"}, v),
    "a chunked dtype": lambda _, v: gradwire.ChunkedArray({"zarr": "x"}, (3,), v),
}


def _distance(x, *_):
    return np.sum((x - 1.0) ** 2)


@pytest.mark.thorough
@pytest.mark.parametrize("take", TAKING.values(), ids=TAKING)
def test_an_answer_or_an_error_of_the_sdk(client, take):
    raised = []
    for name, make in STRANGE.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what is recorded at each call
            try:
                take(client, make())
            except gradwire.GradwireError:
                pass
            except Exception as error:  # noqa: BLE001 - shown below
                raised.append((name, error))
    assert raised == []


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (STRANGE["recursive dictionary"](), "nested"),
        (Broken(), "gone"),
        (Refusing(), "not now"),
        (STRANGE["date"](), "expected numbers, booleans or arrays"),
        ({"value": 1.0, "dtype": "nope"}, "has the dtype 'nope'"),
    ],
)
def test_what_a_point_cannot_hold_is_named(client, value, told):
    with pytest.raises(gradwire.UsageError, match=rf"points\[0\].*{told}|{told}"):
        client.map("x", [{"x": value}])


def test_a_dask_array_of_objects_is_refused_before_it_is_published(client):
    array = pytest.importorskip("dask.array").from_array(np.array([1, "a"], object), chunks=1)
    with pytest.raises(gradwire.UsageError, match="of dtype object") as told:
        client.evaluate("x", {"x": array})
    assert told.value.hint


def test_a_sparse_array_is_no_part_of_a_point(client):
    sparse = gradwire.SparseArray(np.array([[0]]), np.ones(1), (3,))
    with pytest.raises(gradwire.UsageError, match=r"points\[0\] .*SparseArray"):
        client.map("sum(x)", [{"x": sparse}])


def test_frames_and_tensors_are_points_of_functions(client):
    frame = pytest.importorskip("pandas").DataFrame({"a": [1.0, 2.0]})
    assert client.map(np.sum, [frame, frame]) == [3.0, 3.0]


def test_a_library_that_is_being_imported_is_not_taken_for_whole(monkeypatch):
    import scipy.optimize
    from gradwire.tracing.libraries import _Libraries

    known = _Libraries()
    monkeypatch.setattr(scipy.optimize.__spec__, "_initializing", True, raising=False)
    monkeypatch.delattr(scipy.optimize, "brentq")
    known.refresh()
    assert id(scipy.optimize.newton) not in known.functions
    monkeypatch.undo()
    known.refresh()
    assert id(scipy.optimize.brentq) in known.functions
