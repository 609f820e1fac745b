import csv
import io

import numpy as np
import pytest
from gradwire_command.reading.tables import csv_table
from hypothesis import given
from hypothesis import strategies as st

FLOATS = st.floats(allow_nan=False)


@given(
    rows=st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.lists(FLOATS, min_size=width, max_size=width), min_size=1, max_size=5
        )
    ),
    delimiter=st.sampled_from(",;\t"),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    headed=st.booleans(),
)
def test_csv_as_python_writes_it_keeps_every_bit(rows, delimiter, quoting, headed):
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, quoting=quoting)
    names = [f"c{i}" for i in range(len(rows[0]))]
    writer.writerows([names, *rows] if headed else rows)
    table = csv_table(io.BytesIO(text.getvalue().encode()), "t.csv")
    assert table.head == (names if headed else None)
    expected = np.array(rows)
    assert np.array_equal(table.matrix(), expected if len(rows[0]) > 1 else expected[:, 0])


@pytest.fixture
def sales(tmp_path):
    (tmp_path / "sales.csv").write_text("\ufeffprice,area,city\n1,2,Oslo\n\n3,4,Rome\n", "utf-8")


def test_columns_are_variables_or_one_matrix(answer, tmp_path, sales):
    assert answer("eval", "price * area", "--values", "sales.csv:price,area")["outputs"] == [2, 12]
    assert answer("eval", "x", "x=@sales.csv:area,price")["outputs"] == [[2, 1], [4, 3]]
    assert answer("eval", "x", "x=@sales.csv:price")["outputs"] == [1, 3]
    (tmp_path / "x.csv").write_text("1,2\n3,nan\n")
    assert answer("eval", "x", "x=@x.csv")["outputs"] == [[1, 2], [3, "NaN"]]


@pytest.mark.parametrize(
    ("content", "words", "said"),
    [
        ("price,city\n1,Oslo\n", "x=@t.csv", "'Oslo' in line 2, column city: expected a number"),
        ("a,b\n1,2\n\n3,\n", "x=@t.csv", "an empty cell in line 4, column b: expected a number"),
        ("1,2\n3,x\n", "x=@t.csv", "'x' in line 2, column 2: expected a number"),
        ("1,2\n3\n", "x=@t.csv", "t.csv has 1 cells in line 2, and 2 before"),
        ("a,b\n1,2,3\n", "x=@t.csv", "2 names of columns and 3 columns"),
        ("a,b\n", "x=@t.csv", "names of columns and no rows"),
        ("\n\n", "x=@t.csv", "t.csv is empty"),
        ("a,b\n1,2\n", "x=@t.csv:c", "t.csv has no column c\n  hint: it has a, b"),
        ("1,2\n", "x=@t.csv:a", "hint: its first row has no names"),
        ("1,2\n", "--values=t.csv", "the first row of t.csv has no names"),
        ("petal length,b\n1,2\n", "--values=t.csv", "'petal length', which is no name of a var"),
        ("a,a\n1,2\n", "--values=t.csv", "'a', which is there twice"),
        (b"\x93\xff\n", "x=@t.csv", "t.csv is not CSV: it is no text in UTF-8"),
    ],
)
def test_tables_that_are_wrong_are_told(run, tmp_path, content, words, said):
    content = content if isinstance(content, bytes) else content.encode()
    (tmp_path / "t.csv").write_bytes(content)
    assert said in run("eval", "x", words, exits=4).stderr


def test_tables_that_the_service_does_not_take_say_the_limit(run, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros(9_000_000))  # 72 MB of the 67 that it takes
    told = run("eval", "mean(x)", "x=@x.npy", exits=7).stderr
    assert "the body has more than 67108864 bytes" in told
    assert "hint: send fewer examples" in told


@pytest.mark.thorough
def test_parquet_keeps_dtypes(answer, run, tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {
        "n": pa.array([1, 2], pa.int64()),
        "v": pa.array([0.5, None], pa.float64()),
        "city": ["Oslo", "Rome"],
    }
    parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    assert answer("eval", "n, v", "--values", "t.parquet:n,v")["outputs"] == [[1, 2], [0.5, "NaN"]]
    assert "int64[2]" in run("eval", "x", "x=@t.parquet:n").stdout
    assert "city of t.parquet has string" in run("eval", "x", "x=@t.parquet", exits=4).stderr
    assert "no column m" in run("eval", "x", "x=@t.parquet:m", exits=4).stderr
    (tmp_path / "u.parquet").write_text("text")
    assert "u.parquet is not Parquet" in run("eval", "x", "x=@u.parquet", exits=4).stderr


def test_without_pyarrow_parquet_says_what_to_install(run, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    assert "pip install 'gradwire[parquet]'" in run("eval", "x", "x=@t.parquet", exits=11).stderr
