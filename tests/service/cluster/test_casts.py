"""Casts of rows: of which dtypes, and of which values."""

import warnings

import numpy as np
import pytest
from gradwire_service.cluster.casting import cast, target_dtype
from gradwire_service.problems import RequestError
from gradwire_service.wire.arrays_in import DTYPES

REAL = [name for name in DTYPES if not name.startswith("complex")]
#: Values at the edges of each kind of numbers, as far as a dtype has them.
EDGES = [
    *(0, 1, -1, 2, 100, 127, 128, 255, 256, 257, -128, -129, 2047, 2048, 2049, 4097, -2049),
    *(32767, 32768, 65504, 65505, 65519, 65520, 65535, 65536, 2**24, 2**24 + 1, -(2**24) - 1),
    *(2**31 - 1, 2**31, -(2**31), 2**32 - 1, 2**53, 2**53 + 1, 2**53 + 2, -(2**53) - 1),
    *(2**62, 2**62 + 1, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 2**64 - 2048),
]


def integers_of(dtype):
    info = np.iinfo(dtype)
    return [value for value in EDGES if info.min <= value <= info.max]


@pytest.mark.parametrize("new", DTYPES)
@pytest.mark.parametrize("old", DTYPES)
def test_dtypes_are_cast_as_numpy_does_within_a_kind(old, new):
    def refused():
        try:
            target_dtype(DTYPES[old], new, "/p")
        except RequestError as error:
            return error.code
        return None

    expected = np.can_cast(DTYPES[old], DTYPES[new], "same_kind")
    if new == "bfloat16" or old == "bfloat16":  # NumPy does not know its kind
        one, other = (DTYPES["float32" if name == "bfloat16" else name] for name in (old, new))
        expected = np.can_cast(one, other, "same_kind")
    assert refused() == (None if expected else "dtype_mismatch")
    assert target_dtype(DTYPES[old], None, "/p") == DTYPES[old]


@pytest.mark.parametrize("new", [name for name in DTYPES if name != "bool"])
@pytest.mark.parametrize("old", [name for name in DTYPES if "int" in name])
def test_an_integer_is_exact_or_refused(old, new):
    if np.dtype(old).kind == "i" and DTYPES[new].kind == "u":
        return
    for value in integers_of(old):
        rows = np.array([3, value, 0], old)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = rows.astype(DTYPES[new])[1]
            number = complex(made).real if DTYPES[new].kind not in "iu" else int(made)
        is_exact = abs(number) != np.inf and int(number) == value
        if is_exact:
            given = cast(rows, DTYPES[new])
            assert given.dtype == DTYPES[new]
            assert (
                int(complex(given[1]).real if given.dtype.kind not in "iu" else given[1]) == value
            )
        else:
            with pytest.raises(RequestError, match=f"the value {value} of {old}") as caught:
                cast(rows, DTYPES[new])
            assert caught.value.code == "dtype_mismatch"


def as_known(array):
    """bfloat16 as a dtype whose NaN NumPy compares."""
    return array.astype(np.float32) if array.dtype == DTYPES["bfloat16"] else array


@pytest.mark.parametrize("new", ["float16", "bfloat16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("old", ["float16", "bfloat16", "float32", "float64", "complex128"])
def test_a_float_is_rounded_and_does_not_overflow(old, new):
    if old.startswith("complex") and not new.startswith("complex"):
        return
    usual = np.array([0.1, -1.5, np.nan, np.inf, -np.inf, 1e-45, 0.0]).astype(DTYPES[old])
    given = cast(usual, DTYPES[new])
    assert given.dtype == DTYPES[new]
    np.testing.assert_array_equal(as_known(given), as_known(usual.astype(DTYPES[new])))
    for value in (1e300, -1e300, 1e39, 7e4, 3e38, 3.4e38, 65504.0):
        with np.errstate(over="ignore"):
            rows = np.array([[1.0, value]]).astype(DTYPES[old])
            made = rows.astype(DTYPES[new])
        if np.isfinite(rows).all() and not np.isfinite(made).all():
            with pytest.raises(RequestError, match="does not survive"):
                cast(rows, DTYPES[new])
        else:
            np.testing.assert_array_equal(as_known(cast(rows, DTYPES[new])), as_known(made))


@pytest.mark.parametrize("new", DTYPES)
def test_no_rows_and_booleans(new):
    assert cast(np.empty((0, 3), np.int64), DTYPES[new]).shape == (0, 3)
    np.testing.assert_array_equal(
        cast(np.array([True, False]), DTYPES[new]), np.array([1, 0]).astype(DTYPES[new])
    )


# Sources


def request(x, **further):
    return {"program": "return X @ w - y", "variables": {"X": x, "y": {"dask": "y64"}, "w": [0, 0]}}


@pytest.fixture(scope="module")
def mixed(dask, data):
    """Equal rows of other dtypes, in all kinds of sources, and what they give."""
    arrays = pytest.importorskip("dask.array")
    pandas, zarr = pytest.importorskip("pandas"), pytest.importorskip("zarr")
    rng = np.random.default_rng(1)
    X = np.stack([rng.integers(-50, 50, 90), rng.integers(0, 90, 90)], axis=1)
    y = X @ [0.5, 2.0] + rng.normal(size=90)
    frame = pandas.DataFrame({"i": X[:, 0], "f": X[:, 1].astype(float), "b": X[:, 1] > 45})
    frame["large"], frame["fine"] = 2**53 + 1, 1e300
    frame.to_parquet(data.root / "mixed.parquet", index=False, row_group_size=20)
    (data.root / "types").mkdir()
    for i in range(9):  # a column of integers here, of floats there
        part = frame.iloc[10 * i : 10 * i + 10]
        part = part.assign(i=part["i"].astype(float)) if i % 2 else part
        part.to_parquet(data.root / "types" / f"{i}.parquet", index=False)
    for name, array in (("ints", X), ("floats", X.astype(float)), ("large", X * 0 + 2**53 + 1)):
        made = zarr.create_array(
            str(data.root / f"{name}.zarr"), shape=(90, 2), chunks=(20, 2), dtype=array.dtype,
            config={"write_empty_chunks": True},
        )  # fmt: skip
        made[...] = array
    published = {"y64": y, "X ints": X, "X floats": X.astype(float), "X large": X * 0 + 2**53 + 1}
    for name, array in published.items():
        blocks = arrays.from_array(array, chunks=(20, *array.shape[1:]))
        dask.client.publish_dataset(dask.client.persist(blocks), name=name)
    yield np.linalg.lstsq(X.astype(float), y, rcond=None)[0]
    for name in published:
        dask.client.unpublish_dataset(name)


FROM = [
    {"parquet": "mixed.parquet", "columns": ["i", "f"]},
    {"parquet": "types", "columns": ["i", "f"]},
    {"zarr": "ints.zarr"},
    {"zarr": "floats.zarr"},
    {"dask": "X ints"},
    {"dask": "X floats"},
]


@pytest.mark.thorough
@pytest.mark.parametrize("source", FROM, ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_fits_of_cast_rows(solve, mixed, source, dtype):
    asked = request({**source, "dtype": dtype}) | {"method": "gauss-newton"}
    answer = solve("least_squares", asked)
    np.testing.assert_allclose(answer["solution"]["w"], mixed, rtol=1e-5)


@pytest.mark.parametrize(
    "source",
    [
        {"parquet": "mixed.parquet", "columns": ["large", "f"]},
        {"zarr": "large.zarr"},
        {"dask": "X large"},
    ],
    ids=str,
)
def test_values_that_do_not_survive_are_named(solve, mixed, source):
    problem = solve(
        "least_squares", request({**source, "dtype": "float64"}) | {"method": "gauss-newton"}
    )
    assert (problem.code, problem.pointer) == ("dtype_mismatch", "/variables/X")
    assert "9007199254740993 of int64 does not survive a cast to float64" in problem.detail


@pytest.mark.parametrize(
    ("source", "detail"),
    [
        ({"parquet": "mixed.parquet", "columns": ["i", "f"]}, "need equal types"),
        ({"parquet": "types", "columns": ["i", "f"]}, "need equal types"),
        ({"parquet": "mixed.parquet", "columns": ["i", "f"], "dtype": "int64"}, "not cast"),
        ({"zarr": "floats.zarr", "dtype": "int64"}, "not cast to int64"),
        ({"dask": "X floats", "dtype": "bool"}, "not cast to bool"),
        ({"parquet": "mixed.parquet", "columns": ["fine", "f"], "dtype": "float32"}, "1e\\+300"),
    ],
    ids=str,
)
def test_what_is_not_cast(solve, mixed, source, detail):
    problem = solve("least_squares", request(source) | {"method": "gauss-newton"})
    assert problem.code == "dtype_mismatch"
    assert problem.pointer.startswith("/variables/X")
    assert detail.replace("\\", "") in problem.detail
    if "equal types" in detail:
        assert '"dtype": "float64"' in problem.hint
