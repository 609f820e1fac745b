"""Values that arrays hide are refused on each way to the service, and never taken for numbers."""

from typing import Any

import gradwire
import gradwire.tf
import numpy as np
import pytest
from gradwire.adapters.raveling import Raveled
from gradwire.hidden import check_hides_nothing
from gradwire.messagepack import pack

ROWS = [1.0, 2.0, 30.0]


class Masked(np.ma.MaskedArray):
    """A class of someone's own."""


def masked(data: Any, mask: Any, **options: Any) -> Any:
    return np.ma.array(data, mask=np.asarray(mask, bool), **options)


def numpy_(make):
    return lambda: make(np.array(ROWS))


def of(module, make):
    return lambda: make(pytest.importorskip(module, reason=f"{module} is not installed"))


#: Three numbers of which the last, or all, are hidden.
HIDDEN = {
    "masked": numpy_(lambda x: np.ma.masked_greater(x, 10)),
    "all masked": numpy_(lambda x: np.ma.masked_all(3)),
    "masked integers": lambda: masked([1, 2, 30], mask=[0, 0, 1]),
    "masked float32": lambda: masked(np.array(ROWS, np.float32), mask=[0, 0, 1]),
    "masked subclass": lambda: masked(ROWS, mask=[0, 0, 1]).view(Masked),
    "hard mask": lambda: masked(ROWS, mask=[0, 0, 1], hard_mask=True),
    "shared view": lambda: masked([ROWS, ROWS], mask=[[0, 0, 0], [0, 0, 1]])[1],
    "Int64": of("pandas", lambda pd: pd.Series([1, 2, None], dtype="Int64")),
    "Float64": of("pandas", lambda pd: pd.Series([1.0, 2.0, None], dtype="Float64")),
    "Float32 array": of("pandas", lambda pd: pd.array([1.0, 2.0, None], dtype="Float32")),
    "index": of("pandas", lambda pd: pd.Index([1, 2, None], dtype="Int64")),
    "objects": of("pandas", lambda pd: pd.Series([1.0, 2.0, None], dtype=object)),
    "NA in objects": of("pandas", lambda pd: pd.Series([1.0, 2.0, pd.NA], dtype=object)),
    "frame": of("pandas", lambda pd: pd.DataFrame({"a": [1.0], "b": pd.array([None], "Int64")})),
    "arrow dtype": of("pandas", lambda pd: pd.Series([1, 2, None], dtype="double[pyarrow]")),
    "Arrow": of("pyarrow", lambda pa: pa.array([1.0, 2.0, None])),
    "Arrow integers": of("pyarrow", lambda pa: pa.array([1, 2, None])),
    "Arrow chunks": of("pyarrow", lambda pa: pa.chunked_array([[1.0, 2.0], [None]])),
    "Arrow table": of("pyarrow", lambda pa: pa.table({"a": [1.0], "b": pa.array([None], "f8")})),
    "xarray's fill value": of(
        "xarray", lambda xr: xr.DataArray(np.array(ROWS), attrs={"_FillValue": 30.0})
    ),
    "xarray's integers": of(
        "xarray", lambda xr: xr.DataArray(np.array([1, 2, 30]), attrs={"missing_value": 30})
    ),
    "xarray's packed": of(
        "xarray", lambda xr: xr.DataArray(np.array([1, 2, 30]), attrs={"scale_factor": 0.1})
    ),
}
#: One number that is hidden.
SCALARS = {
    "np.ma.masked": lambda: np.ma.masked,
    "masked without axes": lambda: masked(3.0, True),
    "NA": of("pandas", lambda pd: pd.NA),
    "NaT": of("pandas", lambda pd: pd.NaT),
}


def mean(x):
    return np.mean(x)


def squares(x):
    return np.sum((x - 1.0) ** 2)


def closes_over(x):
    @gradwire.function
    def scaled(w):
        return np.sum(w * x)

    return scaled(np.float64(2.0))


def reads(value):
    """A function that reads a value from outside, as a constant of NumPy's functions."""

    @gradwire.function
    def added(w):
        return np.sum(np.add(w, value))

    return added(np.ones(3))


def tape(client, x):
    with client.tape("mean(x)", {"x": x}) as opened:
        return opened.gradient(sources="x")


def tensorflow(x):
    return gradwire.tf.reduce_mean(gradwire.tf.constant(x))


ROUTES = {
    "evaluate": lambda c, x: c.evaluate("mean(x)", {"x": x}),
    "gradient": lambda c, x: c.gradient("mean(x)", {"x": x}),
    "jacobian": lambda c, x: c.jacobian("x * 2", {"x": x}),
    "hessian": lambda c, x: c.hessian("sum(x ** 2)", {"x": x}),
    "hvp": lambda c, x: c.hvp("sum(x ** 2)", {"x": np.ones(3)}, {"x": x}),
    "jvp": lambda c, x: c.jvp("x * 2", {"x": np.ones(3)}, {"x": x}),
    "check": lambda c, x: c.check("mean(x)", {"x": x}),
    "nested": lambda c, x: c.evaluate("mean(p.x)", {"p": {"x": x}}),
    "list": lambda c, x: c.evaluate("mean(p[0])", {"p": [x, np.ones(2)]}),
    "leaf": lambda c, x: c.evaluate("mean(x)", {"x": {"value": x, "trainable": False}}),
    "output gradients": lambda c, x: c.gradient("x * 2", {"x": np.ones(3)}, output_gradients=x),
    "map": lambda c, x: c.map("mean(x)", [{"x": x}]),
    "batch": lambda c, x: c.evaluate("x * 2", {"x": x}, batch={"x": 0}),
    "put": lambda c, x: c.tensors.put(x),
    "request": lambda c, x: pack({"x": x}),
    "tape": tape,
    "ragged": lambda c, x: c.evaluate("x", {"x": gradwire.RaggedArray.of([x, [1.0]])}),
    "sparse": lambda c, x: c.evaluate(
        "x", {"x": gradwire.SparseArray(np.array([[0], [1], [2]]), x, (5,))}
    ),
    "function": lambda c, x: gradwire.function(mean)(x),
    "grad": lambda c, x: gradwire.grad(mean)(x),
    "value_and_grad": lambda c, x: gradwire.value_and_grad(mean)(x),
    "hessian of a function": lambda c, x: gradwire.hessian(squares)(x),
    "jvp of a function": lambda c, x: gradwire.jvp(squares, (np.ones(3),), (x,)),
    "vmap": lambda c, x: gradwire.vmap(mean)(x),
    "closure": lambda c, x: closes_over(x),
    "operand": lambda c, x: reads(x),
    "minimize, start": lambda c, x: c.minimize(squares, x),
    "minimize, data": lambda c, x: c.minimize(lambda w, y: np.sum((w - y) ** 2), 0.0, (x,)),
    "minimize, bounds": lambda c, x: c.minimize(squares, np.ones(3), bounds={"": (None, x)}),
    "minimize, program": lambda c, x: c.minimize(
        "sum((w - x) ** 2)", {"w": 0.0, "x": x}, sources=["w"]
    ),
    "least_squares": lambda c, x: c.least_squares(lambda w, y: w - y, 0.0, (x,)),
    "least_squares, bounds": lambda c, x: c.least_squares(
        lambda w: w - 1.0, np.ones(3), bounds=(x, 100.0)
    ),
    "root": lambda c, x: c.root(lambda w: w - 1.0, x),
    "SciPy's adapter": lambda c, x: Raveled({"w": x}),
    "tf.constant": lambda c, x: tensorflow(x),
}


#: What errors say: nothing else that a route may raise does.
SAID = (
    "masked|missing|nulls|packed|dtype object|NAType|NaTType|no numbers to start|"
    "cannot contain a value of|cannot be recorded"
)
#: Functions get what is no array as it is, and may return it; so does what holds parameters.
AS_IT_IS = {
    (route, kind)
    for route in ("function", "jvp of a function", "vmap", "SciPy's adapter")
    for kind in ("NA", "NaT")
}
#: xarray computes with its arrays itself, and with their attributes as it does.
AS_IT_IS |= {
    (route, kind) for route in ("closure", "operand") for kind in HIDDEN if "xarray" in kind
}


@pytest.mark.parametrize("kind", [*HIDDEN, *SCALARS])
@pytest.mark.parametrize("route", ROUTES)
def test_hidden_values_are_refused(client, route, kind):
    if (route, kind) in AS_IT_IS:
        return
    value = (HIDDEN | SCALARS)[kind]()
    with pytest.raises(Exception, match=SAID) as caught:
        ROUTES[route](client, value)
    assert isinstance(caught.value, gradwire.GradwireError | TypeError)


@pytest.mark.parametrize("kind", HIDDEN)
def test_an_error_says_what_to_do(kind):
    value = HIDDEN[kind]()
    with pytest.raises(gradwire.UsageError, match=r"^x has ") as caught:
        check_hides_nothing(value, "x")
    assert caught.value.hint


OBJECTS: dict[str, list[Any]] = {
    "None": [1.0, None],
    "a masked number": [1.0, np.ma.masked],
    "nested": [[1.0, 2.0], [None, 3.0]],
}


@pytest.mark.parametrize("kind", OBJECTS)
def test_nulls_in_lists_and_arrays_of_objects(kind):
    array = np.empty((2,), object)
    array[:] = OBJECTS[kind]
    for value in (OBJECTS[kind], array):
        with pytest.raises(gradwire.UsageError, match=r"masked|missing"):
            check_hides_nothing(value, "x")
        with pytest.raises(gradwire.UsageError, match=r"masked|missing"):
            gradwire.RaggedArray.of([[1.0], value])


def test_nulls_of_polars_and_scalars_of_arrow():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    with pytest.raises(gradwire.UsageError, match="nulls of Arrow"):
        check_hides_nothing(pa.scalar(None, "f8"), "x")
    pl = pytest.importorskip("polars", reason="polars is not installed")
    for value in (pl.Series([1.0, None]), pl.DataFrame({"a": [1.0, None]})):
        with pytest.raises(gradwire.UsageError, match="nulls of polars"):
            check_hides_nothing(value, "x")
    check_hides_nothing(pl.Series([1.0, float("nan")]), "x")


def test_bounds_may_have_none(client):
    given = [(None, 0.5), (None, None), (0.0, None)]
    answer = client.minimize("sum((w - 1) ** 2)", {"w": [0.0, 0.0, 0.0]}, bounds={"w": (None, 0.5)})
    np.testing.assert_allclose(answer.x["w"] if isinstance(answer.x, dict) else answer.x, 0.5)
    answer = client.minimize(squares, np.zeros(3), bounds=given)
    np.testing.assert_allclose(answer.x, [0.5, 1.0, 1.0], rtol=1e-6)
    with pytest.raises(gradwire.UsageError, match="masked"):
        client.minimize(squares, np.zeros(1), bounds=[(np.ma.masked, 1.0)])


SHOWN = {
    "not masked": numpy_(np.ma.asarray),
    "a mask of nothing": lambda: masked(ROWS, mask=[0, 0, 0]),
    "NaN": lambda: np.array([1.0, np.nan, 30.0]),
    "series": of("pandas", lambda pd: pd.Series(ROWS)),
    "series with NaN": of("pandas", lambda pd: pd.Series([1.0, None, 30.0])),
    "Float64": of("pandas", lambda pd: pd.Series(ROWS, dtype="Float64")),
    "Arrow": of("pyarrow", lambda pa: pa.array(ROWS)),
    "Arrow with NaN": of("pyarrow", lambda pa: pa.array([1.0, float("nan"), 30.0])),
    "xarray": of("xarray", lambda xr: xr.DataArray(np.array(ROWS), attrs={"_FillValue": -1.0})),
    "xarray with NaN": of(
        "xarray",
        lambda xr: xr.DataArray(np.array([1.0, np.nan, 30.0]), attrs={"_FillValue": np.nan}),
    ),
}


@pytest.mark.parametrize("kind", SHOWN)
def test_values_that_are_shown_are_sent(client, kind):
    value = SHOWN[kind]()
    expected = np.mean(np.asarray(value, float))
    np.testing.assert_equal(client.evaluate("mean(x)", {"x": value}).outputs, expected)
    held = gradwire.tf.constant(value)
    np.testing.assert_equal(np.mean(held.numpy()), expected)
