"""Source text becomes programs: their ids, outputs, and places of what is wrong."""

from typing import Any

import pytest
from gradwire_engine.errors import EngineError, ProgramSyntaxError
from gradwire_engine.frontends.text import parse_text
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import cases

WORDS = "x y ( ) [ ] { } , : = == + - * ** / // % @ < > . ... if else elif for while in def return"
WORDS += " lambda not and or is break continue pass import del class with try global yield await"
WORDS += " 1 2.5 1j 'a' \"b\" f'{x}' b'c' None True grad(y,x) sum(x) x.T x[0] x[1:2] # \\ ; é 数"


@given(
    st.lists(st.sampled_from([*WORDS.split(), "\n", "\n  ", "\n    "]), max_size=30).map(" ".join)
)
def test_reading_gives_a_program_or_says_where_it_is_not_one(text):
    try:
        parse_text(text)
    except ProgramSyntaxError as error:
        at: Any = error.at
    else:
        return
    assert 1 <= at.line <= len(text.split("\n")) + 1
    assert at.column >= 1


@given(st.text(max_size=40))
def test_no_text_makes_reading_fail_otherwise(text):
    try:
        parse_text(text)
    except ProgramSyntaxError:
        return


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("y = x+1\ny", "y=x + 1 # sum\n\n\ny\n"),
        ("y = (x + 1)", "y = x + \\\n  1"),
        ("f(x, b=1, a=2)", "f(x, a=2, b=1)"),
        ("'''doc'''\nx", "x"),
        ("y = x; y", "y = x\npass\ny"),
        ("return x", "x"),
        ("-1", "(-1)"),
    ],
)
def test_spelling_does_not_change_the_id(text, other):
    assert parse_text(text).id == parse_text(other).id


@pytest.mark.parametrize(
    ("text", "other"),
    [("x + y", "y + x"), ("x", "y"), ("1", "1.0"), ("1", "True"), ("[x, y]", "{'x': x, 'y': y}")],
)
def test_what_means_something_else_has_another_id(text, other):
    assert parse_text(text).id != parse_text(other).id


def test_the_id_is_the_same_everywhere():
    expected = "sha256:" + "0" * 64
    assert len(parse_text("x").id) == len(expected)
    assert parse_text("x").id == parse_text("x").id


@cases("text, line, column")
def test_errors_say_line_and_column_in_characters(text, line, column):
    with pytest.raises(ProgramSyntaxError) as caught:
        parse_text(text)
    at: Any = caught.value.at
    assert (at.line, at.column) == (line, column)


@pytest.mark.parametrize(
    ("text", "line", "column", "op"),
    [
        ("y = 1\nsin(\n  zz)", 3, 3, None),
        ("é = x\nlog(é) + exq(é)", 2, 10, "exq"),
        ("x @ ones((2, 3))", 1, 1, "matmul"),
        ("'ü' in ['ü'] and x.foo(1)", 1, 18, "foo"),
        ("y = 1.0\n(x, q)", 2, 1, None),
    ],
)
def test_errors_of_recording_have_places_too(ask, text, line, column, op):
    with pytest.raises(EngineError) as caught:
        ask.value(text, {"x": [1.0, 2.0, 3.0, 4.0]})
    at: Any = caught.value.at
    assert (at.line, at.column, at.op, at.pointer) == (line, column, op, "/program")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000 + "1" + ")" * 100_000,
        "[" * 100_000,
        "x" + "+x" * 100_000,
        "-" * 50_000 + "x",
        "x" + "[0]" * 20_000,
        "x" + "**x" * 5_000,
        "x" + ".T" * 5_000,
        "not " * 5_000 + "x",
        "lambda: " * 5_000 + "x",
        "".join(" " * i + "if x:\n" for i in range(99)) + " " * 99 + "y = x",
        "if x:\n  y = 1\n" + "elif x:\n  y = 2\n" * 5_000,
        "x = " * 50_000 + "1",
        "{" * 150 + "}" * 150,
        "x\0",
        "\ud800",
    ],
    ids=lambda text: text[:8].encode("unicode_escape").decode(),
)
def test_depth_is_an_answer_or_a_typed_error(ask, text):
    try:
        ask.value(text, {"x": 1})
    except EngineError:
        return


@pytest.mark.parametrize("operator", ["+", "*", "-"])
def test_long_chains_of_operators_are_fine(ask, operator):
    assert ask.value("x" + f" {operator} 1" * 2_000, {"x": 1}) == eval("1" + f"{operator}1" * 2_000)


def test_long_texts_are_fine(ask):
    assert ask.value("y = x\n" + "y = y + 1\n" * 20_000, {"x": 1}) == 20_001


def test_nothing_is_executed_as_python(ask):
    for text in ("__import__('os')", "x.__class__", "().__class__", "open('f')", "eval('1')"):
        with pytest.raises(EngineError):
            ask.value(text, {"x": 1})
