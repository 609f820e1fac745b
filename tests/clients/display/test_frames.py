import importlib

import gradwire
import numpy as np
import pandas
import pytest
import scipy.sparse


def test_a_gradient_becomes_a_tidy_frame(client):
    point = {"w": 2.0, "x": [1.0, 3.0], "m": np.arange(6.0).reshape(2, 3), "n": np.int64(7)}
    frame = client.gradient("sum(w * x**2) + sum(m**2) + 0 * n", point).to_pandas()
    assert list(frame.columns) == ["path", "index", "value", "gradient"]
    assert list(frame.path) == ["w", "x", "x", *["m"] * 6, "n"]
    assert list(frame["index"]) == [(), (0,), (1,), *np.ndindex(2, 3), ()]
    m = frame[frame.path == "m"]
    np.testing.assert_array_equal(m.gradient, 2 * m.value)
    assert frame.set_index("path").loc["n", "value"] == 7
    assert np.isnan(frame.set_index("path").loc["n", "gradient"])
    assert frame.groupby("path").gradient.sum()["w"] == 10.0


def test_columns_depend_on_the_response(client):
    x = {"x": [1.0, 2.0]}

    def columns(answer):
        return list(answer.to_pandas().columns)[2:]

    assert columns(client.evaluate("x**2", x)) == ["value"]
    assert columns(client.jvp("x**2", x, x)) == ["value", "jvp"]
    assert columns(client.hvp("sum(x**2)", x, x)) == ["value", "gradient", "hvp"]
    assert columns(client.check("sum(x**2)", x)) == ["value", "gradient", "difference"]
    with client.tape("h = 2*x\nsum(h**2)", x, persistent=True) as tape:
        assert columns(tape.gradient(sources="h")) == ["gradient"]
        shown = tape.show().to_pandas()
    assert list(shown.columns) == ["slot", "op", "args", "type", "line"]
    assert "power" in set(shown.op)


def test_matrices_have_named_rows_and_columns(client):
    valley = "(1 - x)**2 + 100 * (y[0] - x**2)**2 + y[1] * x"
    frame = client.hessian(valley, {"x": 1.0, "y": [1.0, 0.0]}).to_pandas()
    assert list(frame.index) == list(frame.columns) == ["x", "y[0]", "y[1]"]
    assert (frame.loc["x", "x"], frame.loc["x", "y[0]"], frame.loc["y[1]", "x"]) == (802, -400, 1)
    polar = client.jacobian("stack([r * cos(a), r * sin(a)])", {"r": 2.0, "a": 0.5}).to_pandas()
    assert list(polar.index) == ["value[0]", "value[1]"]
    assert polar.loc["value[0]", "r"] == pytest.approx(np.cos(0.5))


def test_sparse_matrices_stay_sparse(client):
    u = np.linspace(0.0, 1.0, 300)
    program, point = "concatenate([u[1:] * u[:-1], v * u[:2]])", {"u": u, "v": 3.0}
    frame = client.jacobian(program, point, format="coo").to_pandas()
    dense = client.jacobian(program, point).to_pandas()
    assert all(isinstance(dtype, pandas.SparseDtype) for dtype in frame.dtypes)
    assert frame.sparse.density < 0.02
    pandas.testing.assert_frame_equal(frame.sparse.to_dense(), dense)
    assert scipy.sparse.issparse(frame.sparse.to_coo())


def test_slices_list_only_the_stored_rows(client):
    table = {"table": np.arange(30.0).reshape(10, 3), "ids": np.array([7, 9, 7])}
    frame = client.gradient(
        "table[ids]**2", table, sources="table", sparse_gradients=True
    ).to_pandas()
    assert list(frame["index"]) == [(i, j) for i in (7, 9) for j in range(3)]
    assert list(frame.value) == [21, 22, 23, 27, 28, 29]
    assert list(frame.gradient) == [84, 88, 92, 54, 56, 58]


def test_sparse_and_ragged_variables_are_listed_by_element(client):
    rows = gradwire.RaggedArray.of([[1.0, 2.0], [], [3.0]])
    frame = client.gradient("sum(rows, axis=1)**2", {"rows": rows}, sources="rows").to_pandas()
    assert list(frame["index"]) == [(0, 0), (0, 1), (2, 0)]
    assert list(frame.value) == [1, 2, 3]
    sparse = scipy.sparse.coo_array(([2.0, 3.0], ([1, 0], [0, 2])), shape=(2, 3))
    frame = client.gradient("sum((s @ v)**2)", {"s": sparse, "v": np.ones(3)}).to_pandas()
    s = frame[frame.path == "s"]
    assert list(s["index"]) == [(0, 2), (1, 0)]
    assert list(s.value) == [3, 2]


def test_examples_of_a_batch_share_unbatched_variables(client):
    answer = client.gradient("w * sin(x)", {"w": 2.0, "x": [0.0, 1.0]}, batch=["x"])
    frame = answer.to_pandas()
    w = frame[frame.path == "w"]
    assert list(w["index"]) == [(0,), (1,)]
    assert list(w.value) == [2.0, 2.0]


def test_examples_are_along_the_first_axis(client):
    x = np.arange(4.0).reshape(2, 2)
    for variables, axes in (({"x": x}, {"x": 1}), ({"m": {"x": x}}, {"m": 1})):
        (path,) = ("m.x",) if "m" in variables else ("x",)
        frame = client.gradient(f"sum({path}**2)", variables, batch=axes).to_pandas()
        assert list(frame.gradient) == [0, 4, 2, 6]
        np.testing.assert_array_equal(frame.gradient, 2 * frame.value)


def test_large_arrays_sent_by_reference_have_values(service_url):
    x = np.linspace(0.0, 1.0, 20_000)
    with gradwire.Client(service_url) as client:
        answers = [client.gradient("sum(x**2)", {"x": x}) for _ in range(4)]
    assert b"sha256:" in answers[-1].raw.request.content
    x[:] = 0.0
    frame = answers[-1].to_pandas()
    np.testing.assert_array_equal(frame.gradient, 2 * frame.value)
    assert frame.value.iloc[-1] == 1.0
    assert "0 … 1, mean 0.5" in repr(answers[-1])


def test_empty_responses_become_empty_frames(client):
    assert len(client.gradient("sum(x)", {"x": np.zeros((0, 3))}).to_pandas()) == 0
    assert len(client.evaluate("1", {}, outputs=[]).to_pandas()) == 0


def test_a_missing_library_is_named(client, monkeypatch):
    def without(module):
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(ImportError, match=r"to_pandas needs pandas\n.*'gradwire\[note"):
        client.evaluate("1").to_pandas()
