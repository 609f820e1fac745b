"""The order of the rows of Parquet datasets, and the index by which two of them agree."""

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from gradwire_service.cluster.parquet_files import check_equal_index, find_parquet
from gradwire_service.problems import RemoteError, RequestError
from gradwire_service.wire.chunked import ChunkedReference

pyarrow = pytest.importorskip("pyarrow", reason="Dask is not installed")
parquet = pytest.importorskip("pyarrow.parquet", reason="Dask is not installed")
pandas = pytest.importorskip("pandas", reason="pandas is not installed")
frames = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
zarr = pytest.importorskip("zarr", reason="Dask is not installed")

pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")  # Dask's, of pandas 3.1

#: The name of file ``i`` in the order that is meant.
NAMES = {
    "Dask's": lambda i: f"part.{i}.parquet",
    "from 1": lambda i: f"{i + 1}.parquet",
    "padded": lambda i: f"part-{i:05d}-c000.snappy.parquet",
    "padded too short": lambda i: f"{i:02d}.parquet",
    "with a constant number": lambda i: f"v2_x86_{i}_of_12.parquet",
    "two numbers": lambda i: f"{i // 7}-{i % 7}.parquet",
    "years": lambda i: f"year={1995 + i}/data.parquet",
    "months": lambda i: f"year={8 + i // 12}/month={1 + i % 12}/part.0.parquet",
    "numbers at two depths": lambda i: f"year={i // 11}/part.{i % 11}.parquet",
    "after a text": lambda i: f"{'train' if i >= 5 else 'test'}{i}.parquet",
    "decreasing": lambda i: f"part.{200 - i}.parquet",
    "without separators": lambda i: f"a{i}b{3 * i}.parquet",
    "large": lambda i: f"{10**20 + i}.parquet",
}
#: What says in which order row groups are.
SAID = ("nothing", "index", "range", "list")


def pieces(count):
    """Rows of uneven length for each file: their values, and where they begin."""
    lengths = np.random.default_rng(count).integers(1, 4, count)
    ends = np.cumsum(lengths)
    return np.arange(ends[-1], dtype=float) ** 1.5, [*pairwise([0, *ends.tolist()])]


def found(address, columns="a"):
    return find_parquet(str(address), ChunkedReference("parquet", "", columns), "/p")


def rows(address):
    dataset = found(address)
    (recipe,) = dataset.divided([(0, dataset.shape[0])])
    return recipe.read()


def written(folder, name_of, count, said="nothing", order=None):
    """A dataset; the files are written in a random order."""
    values, parts = pieces(count)
    metadata = {}
    for i in random.Random(count).sample(range(count), count):
        file = folder / name_of(i)
        file.parent.mkdir(parents=True, exist_ok=True)
        start, stop = parts[i]
        frame = pandas.DataFrame({"a": values[start:stop]}, index=pandas.RangeIndex(start, stop))
        if said == "index":
            frame.index = frame.index.astype("int64")
        kept = said in ("index", "range")
        table = pyarrow.Table.from_pandas(frame, preserve_index=None if kept else False)
        if said == "index":
            table = pyarrow.Table.from_pandas(frame, preserve_index=True)
        collected: list[Any] = []
        parquet.write_table(table, file, row_group_size=2, metadata_collector=collected)
        collected[0].set_file_path(name_of(i))
        metadata[i] = collected[0]
    if said == "list":
        listed = [metadata[i] for i in order or range(count)]
        parquet.write_metadata(table.schema, folder / "_metadata", listed)
    return values


@pytest.mark.parametrize(
    "count", [11, *(pytest.param(n, marks=pytest.mark.thorough) for n in (9, 30, 120))]
)
@pytest.mark.parametrize("name", NAMES)
def test_files_are_ordered_as_dask_orders_them(tmp_path, name, count):
    """By their names alone."""
    values = written(tmp_path, NAMES[name], count)
    given = rows(tmp_path)
    dask = frames.read_parquet(str(tmp_path), columns=["a"])
    np.testing.assert_array_equal(given, dask["a"].compute().to_numpy())
    if name not in ("after a text", "decreasing"):
        np.testing.assert_array_equal(given, values)


@pytest.mark.parametrize("said", SAID[1:])
@pytest.mark.parametrize("name", NAMES)
def test_a_dataset_that_says_its_order_has_it(tmp_path, name, said):
    """A random number in the name decides nothing then."""
    values = written(tmp_path, NAMES[name], 12, said)
    if name != "decreasing" or said != "index":  # see the next test
        np.testing.assert_array_equal(rows(tmp_path), values)
    numbers = random.Random(1).sample(range(10**6), 30)
    shuffled = tmp_path / "shuffled"
    values = written(shuffled, lambda i: f"part-{numbers[i]}.parquet", 30, said)
    np.testing.assert_array_equal(rows(shuffled), values)


def test_rows_in_falling_order_stay_in_that(tmp_path):
    """As they were written: of an index column, files say the least and the largest number."""
    frame = pandas.DataFrame({"a": np.arange(24.0)})[::-1]
    for kind in ("range", "column"):
        folder = tmp_path / kind
        folder.mkdir()
        for i in range(12):
            part = frame.iloc[2 * i : 2 * i + 2]
            part.to_parquet(folder / f"{i}.parquet", index=None if kind == "range" else True)
        np.testing.assert_array_equal(rows(folder), frame["a"])


def test_dasks_own_datasets(tmp_path):
    """With and without a list, with an index of numbers, of times, of text, and without one."""
    count = 120
    frame = pandas.DataFrame({"a": np.random.default_rng(0).normal(size=count)})
    times = pandas.date_range("2020", periods=count, freq="h")
    for number, index in enumerate((frame.index, times, [f"{i:03d}" for i in range(count)])):
        parts = frames.from_pandas(frame.set_index(pandas.Index(index)), npartitions=12)
        for options in ({}, {"write_metadata_file": True}, {"write_index": False}):
            folder = tmp_path / f"{number} {options}"
            parts.to_parquet(folder, **options)
            np.testing.assert_array_equal(rows(folder), frame["a"])


def test_hidden_files_are_no_rows(tmp_path):
    values = written(tmp_path, NAMES["Dask's"], 11)
    for name in ("_temporary/0/part.parquet", ".part.parquet", ".old/part.parquet", "_x.parquet"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pyarrow.table({"a": [1.0]}), tmp_path / name)
    np.testing.assert_array_equal(rows(tmp_path), values)
    written(tmp_path / "hive", lambda i: f"_year={i}/x.parquet", 11)
    np.testing.assert_array_equal(rows(tmp_path / "hive"), values)


@pytest.mark.parametrize(
    ("change", "detail"),
    [("lost", "part.3.parquet that are not there"), ("further", "part.11.parquet"),
     ("longer", "part.3.parquet"), ("without", "")],
)  # fmt: skip
def test_a_list_that_is_out_of_date(tmp_path, change, detail):
    values = written(tmp_path, NAMES["Dask's"], 11, "list")
    if change == "lost":
        (tmp_path / "part.3.parquet").unlink()
    elif change == "without":
        (tmp_path / "_metadata").unlink()
        np.testing.assert_array_equal(rows(tmp_path), values)
        return
    else:
        name = f"part.{11 if change == 'further' else 3}.parquet"
        parquet.write_table(pyarrow.table({"a": np.ones(9)}), tmp_path / name)
    with pytest.raises(RequestError) as caught:
        found(tmp_path)
    assert caught.value.code == "invalid_request"
    assert detail in caught.value.detail
    assert "_metadata" in caught.value.detail


def test_a_list_in_another_order_than_names(tmp_path):
    order = random.Random(3).sample(range(11), 11)
    values = written(tmp_path, NAMES["Dask's"], 11, "list", order)
    _, parts = pieces(11)
    expected = np.concatenate([values[slice(*parts[i])] for i in order])
    np.testing.assert_array_equal(rows(tmp_path), expected)


def test_a_list_that_names_other_folders_is_not_followed(tmp_path):
    (tmp_path / "secret.parquet").parent.mkdir(exist_ok=True)
    parquet.write_table(pyarrow.table({"a": [1.0]}), tmp_path / "secret.parquet")
    written(tmp_path / "x", lambda i: "../secret.parquet" if i == 1 else f"{i}.parquet", 2, "list")
    with pytest.raises(RequestError, match="not there"):
        found(tmp_path / "x")


# Indexes


def stored(folder, labels, files=1, **options):
    frame = pandas.DataFrame({"a": np.arange(float(len(labels)))}, index=labels)
    folder.mkdir()
    for i, part in enumerate(np.array_split(np.arange(len(labels)), files)):
        frame.iloc[part].to_parquet(folder / f"{i}.parquet", row_group_size=3, **options)
    return found(folder)


def agree(one, other, bounds=((0, 5), (5, 6), (6, 24))):
    """Whether datasets agree; ``None`` where an index is missing, and nothing is compared."""
    if not (one.has_index and other.has_index):
        return None
    problems = []
    for parts in zip(one.parts(bounds), other.parts(bounds), strict=True):
        try:
            check_equal_index(("X", "y"), *parts, "/variables/y")
        except RemoteError as error:
            problems.append(error.problem)
    assert {problem.code for problem in problems} <= {"invalid_request"}
    assert all("X and y" in problem.detail for problem in problems)
    return not problems


INDEXES = {
    "range": pandas.RangeIndex(24),
    "range of two": pandas.RangeIndex(0, 48, 2),
    "falling": pandas.RangeIndex(23, -1, -1),
    "shuffled": pandas.Index(np.random.default_rng(0).permutation(24)),
    "one swapped": pandas.Index([*range(20), 21, 20, 22, 23]),
    "text": pandas.Index([f"{i}" for i in range(24)]),
    "other text": pandas.Index([f"row {i}" for i in range(24)]),
    "times": pandas.date_range("2020", periods=24),
    "later times": pandas.date_range("2021", periods=24),
    "two levels": pandas.MultiIndex.from_product([[1, 2], range(12)]),
    "two levels, otherwise": pandas.MultiIndex.from_product([[1, 3], range(12)]),
    "floats": pandas.Index(np.arange(24) / 2),
}


@pytest.mark.thorough
@pytest.mark.parametrize("one", INDEXES)
@pytest.mark.parametrize("other", INDEXES)
def test_datasets_agree_in_the_index_or_are_refused(tmp_path, one, other):
    first = stored(tmp_path / "x", INDEXES[one], 1)
    second = stored(tmp_path / "y", INDEXES[other], 5, index=True)
    text = {"range", "text"}  # numbers that are written as text are equal to these
    assert agree(first, second) == (one == other or {one, other} == text)


def test_datasets_without_an_index_are_not_compared(tmp_path):
    index = INDEXES["shuffled"]
    without = stored(tmp_path / "without", index, 4, index=False)
    with_index = stored(tmp_path / "with", index, 4)
    assert agree(without, with_index) is None
    (tmp_path / "anew").mkdir()
    for i in range(4):  # each file was written by itself, with pandas' index of all frames
        frame = pandas.DataFrame({"a": np.arange(6.0)})
        frame.to_parquet(tmp_path / "anew" / f"{i}.parquet")
    assert agree(found(tmp_path / "anew"), with_index) is None


def test_a_range_of_another_length_is_no_index(tmp_path):
    """Arrow keeps what pandas said of the whole table in a slice of it."""
    table = pyarrow.Table.from_pandas(pandas.DataFrame({"a": np.arange(24.0)}))
    parquet.write_table(table.slice(12), tmp_path / "0.parquet")
    parquet.write_table(table.slice(0, 12), tmp_path / "1.parquet")
    assert not found(tmp_path).has_index
    np.testing.assert_array_equal(rows(tmp_path), [*range(12, 24), *range(12)])


# Fits


@pytest.mark.thorough
@pytest.mark.parametrize("count", [11, 23, 101])
@pytest.mark.parametrize("name", ["Dask's", "years", "numbers at two depths"])
def test_a_fit_of_rows_beside_a_zarr_array(solve, data, name, count):
    """The weights are those of the least squares of all rows."""
    rng = np.random.default_rng(count)
    X, w = rng.normal(size=(4 * count, 3)), np.array([1.0, -2.0, 0.5])
    y = X @ w + rng.normal(size=len(X)) / 10
    folder = data.root / f"fit {name} {count}"
    for i in range(count):
        part = pandas.DataFrame(X[4 * i : 4 * i + 4], columns=["a", "b", "c"])
        (folder / NAMES[name](i)).parent.mkdir(parents=True, exist_ok=True)
        part.to_parquet(folder / NAMES[name](i), index=False)
    target = zarr.create_array(f"{folder}.zarr", shape=y.shape, dtype="f8", chunks=(30,))
    target[:] = y
    answer = solve(
        "least_squares",
        {
            "program": "return X @ w - y",
            "variables": {
                "X": {"parquet": folder.name, "columns": ["a", "b", "c"]},
                "y": {"zarr": f"{folder.name}.zarr"},
                "w": [0, 0, 0],
            },
            "method": "gauss-newton",
        },
    )
    assert answer["success"]
    expected, *_ = np.linalg.lstsq(X, y, rcond=None)
    np.testing.assert_allclose(answer["solution"]["w"], expected, rtol=1e-5)


def test_a_fit_of_datasets_in_other_orders_is_refused(solve, data):
    """Their numbers of rows are equal, their indexes are not."""
    rng = np.random.default_rng(5)
    frame = pandas.DataFrame({"x": rng.normal(size=120), "y": rng.normal(size=120)})
    frame[["x"]].to_parquet(data.root / "ordered.parquet")
    frame[["y"]].sample(frac=1, random_state=1).to_parquet(data.root / "shuffled.parquet")
    variables: dict[str, Any] = {
        "x": {"parquet": "ordered.parquet", "columns": "x"},
        "y": {"parquet": "shuffled.parquet", "columns": "y"},
        "w": 0,
    }
    program = "return w * x - y"
    request = {"program": program, "variables": variables, "method": "gauss-newton"}
    problem = solve("least_squares", request)
    assert (problem.code, problem.pointer) == ("invalid_request", "/variables/y")
    assert "x and y have different indexes" in problem.detail
    variables["y"] = {"parquet": "ordered.parquet", "columns": "x"}
    assert solve("least_squares", request)["success"]
