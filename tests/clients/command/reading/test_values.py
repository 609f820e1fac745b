import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

KINDS = "array", "list", "mapping"


@pytest.fixture
def held(answer):
    """The value of ``x`` as the service has it: a list, whatever it was given as."""

    def held(*words: str, of: str = "x", **options):
        return answer("eval", of, *words, **options)["outputs"]

    return held


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3.0),
        ("-.5", -0.5),
        ("1e3", 1000.0),
        ("nan", "NaN"),
        ("-Infinity", "-Infinity"),
        ("true", True),
        ("[1, 2.5]", [1.0, 2.5]),
        ("[[1,2],[3,NaN]]", [[1.0, 2.0], [3.0, "NaN"]]),
        ("1+2j", {"re": 1.0, "im": 2.0}),
        ('{"value": [1, 2], "dtype": "int64"}', [1, 2]),
    ],
)
def test_values_are_numbers_or_json(held, text, value):
    assert held(f"x={text}") == value


@given(numbers=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=9))
def test_numbers_keep_their_bits(numbers):
    from gradwire_command.reading.values import value_of

    assert value_of(json.dumps(numbers)) == numbers
    assert value_of(repr(numbers[0])) == numbers[0]


def test_names_may_be_paths(answer, tmp_path):
    program = "layers[0].w * layers[1].w + a.b.c"
    (tmp_path / "values.json").write_text('{"layers": [{"w": 2}, {"w": 3}], "a": {"b": {"c": 1}}}')
    given = ["--values", "values.json"]
    assert answer("eval", program, *given)["outputs"] == 7.0
    assert answer("eval", program, *given, "layers[1].w=10", "a.b.c=0")["outputs"] == 20.0
    assert answer("eval", "a.b * a.c", "a.b=3", "a.c=2")["outputs"] == 6.0


def test_the_last_value_counts(held, tmp_path):
    (tmp_path / "values.json").write_text('{"x": 1}')
    (tmp_path / "more.json").write_text('{"x": 2}')
    assert held("--values", "values.json", "--values", "more.json") == 2.0
    assert held("--values", "values.json", "x=3", "x=4") == 4.0


def test_arrays_come_from_npy_and_keep_their_dtype(held, tmp_path, run):
    np.save(tmp_path / "x.npy", np.arange(6, dtype=np.int64).reshape(2, 3))
    assert held("x=@x.npy") == [[0, 1, 2], [3, 4, 5]]
    assert "int64[2,3]" in run("eval", "x", "x=@x.npy").stdout


def test_archives_hold_several_variables(held, tmp_path):
    np.savez(tmp_path / "p.npz", w=np.array([1.0, 2.0]), b=np.float64(3.0))
    assert held("--values", "p.npz", of="w + b") == [4.0, 5.0]
    assert held("p=@p.npz", of="p.w + p.b") == [4.0, 5.0]
    assert held("x=@p.npz:b") == 3.0
    assert held("x=@p.npz:w,b", of="x.w + x.b") == [4.0, 5.0]


def test_standard_input_is_whatever_it_holds(held, tmp_path):
    np.save(tmp_path / "x.npy", np.ones(2, np.float32))
    np.savez(tmp_path / "x.npz", x=np.ones(3))
    assert held("x=@-", given=b"[1, 2]") == [1.0, 2.0]
    assert held("x=@-", given=b"2.5") == 2.5
    assert held("x=@-", given=b"1,2\n3,4\n") == [[1.0, 2.0], [3.0, 4.0]]
    assert held("x=@-", given=(tmp_path / "x.npy").read_bytes()) == [1.0, 1.0]
    assert held("--values", "-", given=(tmp_path / "x.npz").read_bytes()) == [1.0, 1.0, 1.0]
    assert held("--values", "-", given=b'{"x": 4}') == 4.0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["x=@none.npy"], "cannot read none.npy: No such file or directory"),
        (["--values", "none.json"], "cannot read none.json: No such file or directory"),
        (["x=@."], "cannot read .: Is a directory"),
        (["x=abc"], "'abc' is no number, no JSON and no @FILE"),
        (["x="], "a value is a number, JSON such as [1, 2], or @FILE"),
        (["x=x.npy"], "hint: @x.npy is what the file holds"),
        (["x=[1,", "2]"], "hint: quote a value that has spaces: 'x=[1, 2]'"),
        (["x=[[1,2],[3]]"], "variables.x is not an array: its rows have unequal lengths"),
        (["x=@x.npy:w"], "x.npy has no members"),
        (["x=@p.npz:v"], "p.npz has no v\n  hint: it has w, b"),
        (["--values", "x.npy"], "x.npy has one array, and no variables by name"),
        (["--values", "list.json"], "list.json has no object, and no variables by name"),
        (["x=@objects.npy"], "objects.npy is no file of plain arrays: it holds objects of Python"),
        (["x=@text.npy"], "text.npy is no file of numpy.save or numpy.savez"),
        (["x=@torn.npy"], "torn.npy is no file of plain arrays"),
        (["x=@torn.npz"], "torn.npz is no file of plain arrays"),
        (["x=@x.json"], "x.json is not JSON, and no text in UTF-8 (byte 1)"),
        (["x=1", "x.y=2"], "x.y cannot be set: what is around it is an array, not a level"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, list) else None,
)
def test_what_cannot_be_read_is_told(run, tmp_path, words, said):
    np.save(tmp_path / "x.npy", np.ones(2))
    np.savez(tmp_path / "p.npz", w=np.ones(2), b=1.0)
    np.save(tmp_path / "objects.npy", np.array([{}]), allow_pickle=True)
    (tmp_path / "text.npy").write_text("1 2 3")
    (tmp_path / "torn.npy").write_bytes((tmp_path / "x.npy").read_bytes()[:-3])
    (tmp_path / "torn.npz").write_bytes((tmp_path / "p.npz").read_bytes()[:-30])
    (tmp_path / "x.json").write_bytes((tmp_path / "x.npy").read_bytes())
    (tmp_path / "list.json").write_text("[1]")
    result = run("eval", "x", *words, exits=4)
    assert result.stdout == ""
    assert said in result.stderr


def test_json_that_is_wrong_is_shown_with_a_caret(run, tmp_path):
    (tmp_path / "values.json").write_text('{\n  "x": [1, 2,, 3]\n}\n')
    told = run("eval", "x", "--values", "values.json", exits=4).stderr.splitlines()
    assert told[1] == '  line 2:   "x": [1, 2,, 3]'
    assert told[2].index("^") == told[1].index(",,") + 1
    told = run("eval", "x", "x=[1,2,,3]", exits=4).stderr.splitlines()
    assert told[2].index("^") == told[1].index(",,") + 1
    (tmp_path / "long.json").write_text("[" + "1," * 10000 + "?]")
    told = run("eval", "x", "x=@long.json", exits=4).stderr.splitlines()
    assert max(map(len, told)) < 100
    assert told[1][told[2].index("^")] == "?"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["x"], "expected NAME=VALUE, got 'x'"),
        (["2x=3"], "expected NAME=VALUE, got '2x=3'"),
        (["@x.npy"], "hint: name it, x=@x.npy"),
        (["x=@-", "y=@-"], "standard input can be read once"),
        (["x=1", "--sources", "{w"], "{w is neither names nor JSON"),
    ],
)
def test_command_lines_that_are_wrong_are_told(run, words, said):
    assert said in run("grad", "x", *words, exits=2, given=b"1").stderr
