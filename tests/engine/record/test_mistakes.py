"""Mistakes of beginners are answered with what to do."""

import re

import numpy as np
import pytest
from gradwire_engine import errors
from gradwire_engine.record.language import LANGUAGE
from numpy.testing import assert_array_equal

from tests.tables import cases

VALUES = {
    "x": [[1.0, 2.0], [3.0, 4.0]],
    "v": [1.0, 2.0, 3.0],
    "s": 2.0,
    "n": 2.0**64,
    "word": "3",
    "layer": {"weight": 3.0},
    "typed": {"0": 1.0, "1": 2.0},  # what JSON.stringify makes of a Float64Array
}


@cases("program, error, message, hint")
def test_a_mistake_is_explained(ask, program, error, message, hint):
    with pytest.raises(error) as caught:
        ask.value(f"y = s\n{program}", VALUES)
    assert message in caught.value.message
    assert caught.value.at is not None
    assert caught.value.at.line == 2
    assert caught.value.hint is None if hint is False else hint in (caught.value.hint or "")


#: Programs of all constructs of Python that the language leaves out.
LEFT_OUT = [
    "import numpy", "from math import sqrt", "class A: pass", "raise s", "assert s", "del s",
    "try: y = s\nfinally: y = 1", "try: y = s\nexcept* A: y = 1", "with s: pass", "global s",
    "def f():\n  nonlocal s", "f'{s}'", "{s, s}", "{y for y in v}", "(y := s)",
    "match s:\n  case 1: y = 1", "async def f(): pass", "async for y in v: pass",
    "async with s: pass", "await s", "yield s", "yield from v", "*y, *z = v",
    "layer.weight = 1", "layer.w[0] = 1", "v[0], v[1] = v", "def f(*a): return a",
    "def f(s=1, *, a): return a", "lambda **a: a", "sin(**layer, **layer)", "{1: s}",
    "b'x'", "y: float",
    "break", "continue",
]  # fmt: skip


@pytest.mark.parametrize("program", LEFT_OUT)
def test_what_the_language_leaves_out_has_a_name_and_a_hint(ask, program):
    with pytest.raises(errors.ProgramSyntaxError) as caught:
        ask.value(program, VALUES)
    assert re.fullmatch(r"[a-z:=][a-z:= -]* is not part of the language here", caught.value.message)
    assert caught.value.hint


@pytest.mark.parametrize("name", ["F", "np", "special", "fft", "linalg", "tf", "torch"])
def test_a_variable_may_be_called_as_a_prefix_is(ask, name):
    assert ask.value(f"{name}.T @ {name}", {name: [[1, 2]]}).tolist() == [[1, 2], [2, 4]]
    assert ask.value(f"{name}.w.sum() * {name}.w[1]", {name: {"w": [1, 2]}}) == 6


def test_a_sum_too_long_to_parse_is_not_called_deep(ask):
    with pytest.raises(errors.ProgramSyntaxError, match="longer, or nested deeper") as caught:
        ask.value("x" + " + x" * 30_000, {"x": 1})
    assert caught.value.hint == "give names to the parts"
    with pytest.raises(errors.OverBudget, match="a statement of more than 65536 words") as refused:
        ask.value("x" + " + x" * 200_000, {"x": 1})
    assert refused.value.hint == "give names to its parts, or send its numbers as a variable"


@pytest.mark.parametrize("literal", ["300", "[300]", "[[1], [-129]]"])
def test_integers_that_the_dtype_cannot_hold_are_refused(ask, literal):
    with pytest.raises(errors.DtypeMismatch, match="int8 cannot hold"):
        ask.value(f"x + {literal}", {"x": np.array([1], np.int8)})
    assert ask.value(f"astype({literal}, 'int8')").dtype == np.int8
    assert ask.value("x + [100]", {"x": np.array([1], np.int8)}).tolist() == [101]


def test_infinities_of_both_signs_are_answered_without_a_warning(ask):
    answer = ask.answer("log(x) * [1, -1]", {"x": [0.0, 0.0]}, kind="evaluate")
    assert answer.value.tolist() == [-np.inf, np.inf]
    assert answer.nonfinite["forward"].node.op == "log"


def test_words_make_floats(ask):
    assert ask.value("[float('inf'), -float('-inf')]") == [np.inf, np.inf]
    assert np.isnan(ask.value("float('nan')"))


def test_complex_arrays_have_parts(ask):
    gradients = ask.gradients("z.real * z.imag", {"z": 3 + 4j})
    assert gradients["z"] == 4 + 3j


#: Nested 40 deep, each level twice the one below, which both of its items are.
SHARED = "a = [0]\nfor i in range(40):\n    a = [a, a]\n"
#: What Python itself raises for these values, or takes for ever over.
UNTYPED = [
    ("{'a': 0} in {'a': 0}", errors.BadArgument, "in looks for a number, a string or a shape"),
    ("[s] in layer", errors.BadArgument, "in looks for a number"),
    ("[[1]] in [[1]]", errors.BadArgument, "in looks for a number"),
    (SHARED + "a in [a]", errors.BadArgument, "in looks for a number"),
    (SHARED + "sum(v, axis=a)", errors.OverBudget, "lists nested beyond"),
    (SHARED + "for i in range(100):\n    v = sin(v)\n    a = a", errors.OverBudget, "lists nested"),
    (f"v[0x{'f' * 4000}]", errors.ProgramSyntaxError, "this literal is not part"),
    ("s * -1" + "0" * 400, errors.ProgramSyntaxError, "this literal is not part"),
    (f"with 0x{'f' * 4000}:\n    s", errors.ProgramSyntaxError, "this form of with"),
    (f"with {'-' * 900}s:\n    s", errors.ProgramSyntaxError, "this form of with"),
    ("b = [1]\nb[()] = 2", errors.BadArgument, "a list takes one index, got 0"),
    ("b = [1]\nb[0, 0] = 2", errors.BadArgument, "a list takes one index, got 2"),
    ("array([range(10**18)])", errors.OverBudget, "lists of more than 1000000 items"),
    ("sparse.hessian(v, {'a': v, 'b': v})", errors.BadArgument, "a sparse Hessian is of one value"),
    ("1j < 2", errors.BadArgument, "less cannot take these numbers"),
    ("slice(1)[0]", errors.UnknownOperation, "no operation 'slice'"),
]


@pytest.mark.parametrize(("program", "error", "message"), UNTYPED)
def test_what_python_refuses_or_never_ends_is_typed(ask, program, error, message):
    with pytest.raises(error, match=re.escape(message)) as caught:
        ask.value(program, VALUES)
    assert caught.value.at is not None


@pytest.mark.parametrize(
    ("program", "value"),
    [
        ("[1 in [1], 1.0 in range(3), 1.5 in range(3), 'a' in {'a': 1}, 1 in {'a': 1}]", 5 * [0]),
        ("x.shape in [(2, 2)]", True),
        ("abs(1.7e308 + 1.7e308j)", np.inf),
        ("1j / 0 == 1j / 0", False),
        ("y = sum(v * v)\nlax.switch(0, [grad], y, v)", [2.0, 4.0, 6.0]),
        ("y = sum(v * v)\nsparse.hessian(y, {'a': v})['a'].values", [2.0, 2.0, 2.0]),
    ],
)
def test_what_looks_alike_is_answered(ask, program, value):
    if value == 5 * [0]:
        value = [True, True, False, True, False]
    assert_array_equal(ask.value(program, VALUES), value)


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (
            {"op": "getitem", "args": [], "attrs": {"index": []}},
            "getitem needs what to index",
        ),
        ({"op": "assign", "args": []}, "assign needs the variable first"),
        (
            {"op": "assign_add", "args": [], "attrs": {"x": 1}},
            "assign_add needs the variable",
        ),
        ({"op": "negative", "args": ["layer." + "9" * 5000]}, "has no member"),
        ({"op": "negative", "args": [10**400]}, "integers have at most 308 digits"),
    ],
)
def test_graphs_too(ask, node, message):
    with pytest.raises(errors.ProgramError, match=message):
        ask.value({"nodes": [{"id": "a", **node}], "outputs": "a"}, VALUES)


def test_exceptions_of_python_have_one_door(ask, monkeypatch):
    """An error of values is the program's, at its line; any other is ours, and stays as it is."""

    def raising(error):
        def function(recorder):
            raise error

        return function

    for error in (TypeError("no"), OverflowError("no"), ZeroDivisionError("no")):
        monkeypatch.setitem(LANGUAGE, "raises", raising(error))
        with pytest.raises(errors.BadArgument, match=r"Python cannot compute .*: no") as caught:
            ask.value("y = s\nraises()", VALUES)
        assert caught.value.at is not None
        assert caught.value.at.line == 2
        assert caught.value.__cause__ is error
    monkeypatch.setitem(LANGUAGE, "raises", raising(AttributeError("ours")))
    with pytest.raises(AttributeError, match="ours"):
        ask.value("raises()", VALUES)
