"""Terms as text: whatever users call their variables, functions keep their meaning."""

import types

import gradwire
import numpy
import pytest
from gradwire.tracing.printing import FUNCTIONS, printed
from gradwire.tracing.terms import AT, CALL, ITEM, VALUE, Leaf, Term

X, Y = Leaf(numpy.ones(3)), Leaf(numpy.ones(3))
NAMES: dict[Term, str] = {X: "x", Y: "y"}
#: What the functions below call, what the language calls so, and what programs are read as.
TAKEN = [
    *"exp sum mean reshape tanh max abs where e pi np tf list range".split(),
    *sorted(FUNCTIONS),
]


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (Term("np.sum", (X,), {"axis": (0,), "dtype": None}), "np.sum(x, axis=(0,), dtype=None)"),
        (Term("np.stack", ([X, (Y, 2.0)],)), "np.stack([x, (y, 2.0)])"),
        (Term("np.zeros", ((),)), "np.zeros([])"),
        (Term("+", (X, Y)), "x + y"),
        (Term("**", (X, -2)), "x ** (-2)"),
        (Term("-", (-1.5, X)), "(-1.5) - x"),
        (Term("-", (X,)), "-x"),
        (Term(ITEM, (X, 0)), "x[0]"),
        (Term(ITEM, (X, (slice(None, None, -1), None, ...))), "x[::-1, None, ...]"),
        (Term(ITEM, (X, (slice(1, Y),))), "x[1:y,]"),
        (Term(ITEM, (X, ())), "x[...]"),
        (Term(ITEM, (X, [0, 2])), "x[[0, 2]]"),
        (Term(f"{AT}add", (X, (0, slice(2)), Y)), "x.at[0, :2].add(y)"),
        (Term(CALL, (X, Y, 1)), "x(y, 1)"),
        (Term(CALL, (X,)), "x()"),
        (Term(VALUE, ({"'a'": X, "'b'": [Y, None]},)), "{'a': x, 'b': [y, None]}"),
        (Term("np.astype", (X, numpy.dtype("float32"))), "np.astype(x, 'float32')"),
    ],
)  # fmt: skip
def test_terms_are_printed_as_they_are_written_by_hand(term, text):
    assert printed(term, NAMES.__getitem__) == text


def test_a_function_that_a_variable_may_be_called_is_not_printed():
    with pytest.raises(TypeError, match="reshape needs a library's name"):
        printed(Term("reshape", (X, (3, 1))), NAMES.__getitem__)


@pytest.mark.parametrize("name", TAKEN)
def test_variables_may_be_called_as_functions_are(client, name):
    body = "lib.sum(lib.exp(lib.reshape({0}, (2, 2)))) + lib.mean(lib.tanh({0})) + lib.max({0})"
    function = eval(f"lambda {name}: {body.format(name)}", {"lib": numpy})
    assert isinstance(function, types.LambdaType)
    x = numpy.linspace(0.1, 0.4, 4)
    value, gradient = gradwire.value_and_grad(function, client=client)(x)
    assert value == pytest.approx(function(x))
    expected = numpy.exp(x) + (1 - numpy.tanh(x) ** 2) / 4 + (x == x.max())
    numpy.testing.assert_allclose(gradient, expected)


@pytest.mark.parametrize("name", ["mean", "exp", "x", "m", "f"])
def test_variables_may_be_called_as_functions_in_programs_are(client, name):
    program = gradwire.program("m = mean(exp(x))\nm * m", "x")
    function = eval(
        f"lambda {name}: program({name}) * lib.sum({name})", {"program": program, "lib": numpy}
    )
    x = numpy.linspace(0.1, 0.4, 4)
    value, gradient = gradwire.value_and_grad(function, client=client)(x)
    mean = numpy.exp(x).mean()
    assert value == pytest.approx(mean**2 * x.sum())
    numpy.testing.assert_allclose(gradient, 2 * mean * numpy.exp(x) / 4 * x.sum() + mean**2)
