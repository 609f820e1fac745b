"""What beginners get wrong is answered with what to do."""

import numpy as np
import pytest
from gradwire_engine import errors

VALUES = {"x": [[1.0, 2.0], [3.0, 4.0]], "v": [1.0, 2.0, 3.0], "s": 2.0, "layer": {"weight": 3.0}}
MISTAKES = [
    ("import numpy as np", errors.ProgramSyntaxError, "an import", "names need none"),
    ("class A: pass", errors.ProgramSyntaxError, "a class", "a dict"),
    ("f'{s}'", errors.ProgramSyntaxError, "an f-string", None),
    ("[y := s]", errors.ProgramSyntaxError, ":=", "a line of its own"),
    ("sine(s)", errors.UnknownOperation, "'sine'", "did you mean sin?"),
    ("notequal(s)", errors.UnknownOperation, "'notequal'", "did you mean not_equal?"),
    ("quuxify(s)", errors.UnknownOperation, "'quuxify'", "GET /v1/ops lists all"),
    ("print(s)", errors.UnknownOperation, "'print'", "outputs"),
    ("np.random.normal(s)", errors.UnknownOperation, "'np.random.normal'", "draws take a key"),
    ("layers.weight", errors.UnknownName, "'layers'", "did you mean layer?"),
    ("layer.wieght", errors.UnknownName, "'wieght'", "did you mean weight?"),
    ("x[v]", errors.BadArgument, "an integer is needed", 'send v as {"value": […], "dtype":'),
    ("x[v / 2]", errors.BadArgument, "an integer is needed", "send v"),
    ("layer.weight = 3", errors.ProgramSyntaxError, "an attribute", "assign to a name"),
    ("x[0][1] = 3", errors.ProgramSyntaxError, "this element", "a plain name"),
    ("def f(*a): return a", errors.ProgramSyntaxError, "this form of def", "positional"),
    ("sin(*v)", errors.ProgramSyntaxError, "a star", None),
    ("[layer] + s", errors.BadArgument, "not a list of numbers", None),
    ("qqq", errors.UnknownName, "'qqq'", None),
    ("v.sum", errors.BadArgument, "no attribute 'sum'", "call it: .sum()"),
    ("v.length", errors.BadArgument, "no attribute 'length'", "arrays have T, mT, real, imag"),
    ("x.T()", errors.UnknownOperation, "no method 'T'", "without parentheses"),
    ("x.summ()", errors.UnknownOperation, "no method 'summ'", "did you mean sum?"),
    ("s^2", errors.DtypeMismatch, "bitwise_xor does not take float64", "** is the power"),
    ("s > 0 & s < 3", errors.DtypeMismatch, "bitwise_and", "(x > 0) & (y > 0)"),
    ("range(s)", errors.BadArgument, "an integer is needed", '{"value": 2, "dtype": "int64"}'),
    ("1 if v > 0 else 2", errors.BadArgument, "one element", "where(c, a, b)"),
    ("s @ s", errors.ShapeMismatch, "at least 1 axis", "multiply scalars with *"),
]


@pytest.mark.parametrize(("program", "kind", "message", "hint"), MISTAKES)
def test_a_mistake_is_explained(ask, program, kind, message, hint):
    with pytest.raises(kind) as caught:
        ask.value(f"y = s\n{program}", VALUES)
    assert message in caught.value.message
    assert caught.value.at is not None
    assert caught.value.at.line == 2
    assert caught.value.hint is None if hint is None else hint in (caught.value.hint or "")


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
