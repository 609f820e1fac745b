"""Mistakes from other languages get a hint, and what it says to write instead is right."""

import pytest
from gradwire_engine import errors, hints

VALUES = {"x": 2.0, "y": 3.0, "n": 3.0, "v": [1.0, 2.0, 3.0], "m": [[2.0, 1.0], [1.0, 3.0]]}
#: A mistake, its hint, and the same program written correctly.
MISTAKES = [
    ("ln(x)", "did you mean log(x)?", "log(x)"),
    ("squareroot(x)", "did you mean sqrt(x)?", "sqrt(x)"),
    ("np.ln(x)", "did you mean log(x)?", "log(x)"),
    ("Exp(x)", "did you mean exp?", "exp(x)"),
    ("PI * x", "did you mean pi?", "pi * x"),
    ("E**x", "did you mean e?", "e**x"),
    ("X + 1", "did you mean x?", "x + 1"),
    ("true", "did you mean True?", "True"),
    ("sum(m, dim=0)", "did you mean axis?", "sum(m, axis=0)"),
    ("np.sum(m, dim=0)", "did you mean axis?", "np.sum(m, axis=0)"),
    ("sum(m, axis=0, keepdim=True)", "did you mean keepdims?", "sum(m, axis=0, keepdims=True)"),
    ("sum(m, axes=0)", "did you mean axis?", "sum(m, axis=0)"),
    ("power(x)", "its parameters are x, y", "power(x, y)"),
    ("2(x + 1)", "is a * missing?", "2 * (x + 1)"),
    ("x(y + 1)", "is a * missing?", "x * (y + 1)"),
    ("2x", "is a * missing?", "2 * x"),
    ("1.5x + 3y", "is a * missing?", "1.5 * x + 3 * y"),
    ("2 x", "is an operator missing?", "2 * x"),
    ("x y", "is an operator missing?", "x * y"),
    ("sum v", "is an operator missing?", "sum(v)"),
    ("x^2", "a power is written", "x**2"),
    ("x²", "x**2", "x**2"),
    ("x > 0 && y > 0", "and is written", "x > 0 and y > 0"),
    ("x < 0 || y > 0", "or is written", "x < 0 or y > 0"),
    ("!(x > 3)", "not is written", "not (x > 3)"),
    ("x > 0 ? x : y", "a if condition else b", "x if x > 0 else y"),
    ("y := x", "an assignment is written with =", "y = x"),
    ("let z = x", "without a word before", "z = x"),
    ("f(z) = z", "def f(x)", "def f(z): return z\nf(x)"),
    ("x <> y", "!=", "x != y"),
    ("x =< y", "<=", "x <= y"),
    ("n++", "n += 1", "n += 1"),
    ("v' @ v", "x.T", "v.T @ v"),
    ("|x|", "abs(x)", "abs(x)"),
    ("||v||", "norm(x)", "norm(v)"),
    ("torch.zeros(3, device='cuda')", "leave it out", "torch.zeros(3)"),
    ("torch.ones(3, requires_grad=True)", "the request names the sources", "torch.ones(3)"),
    ("F.relu(v, inplace=True)", "functions return new arrays", "F.relu(v)"),
    ("np.exp(v, out=v)", "assign the result", "v = np.exp(v)"),
    ("v.numpy()", "leave it out", "v"),
    ("(x * y).backward()", "write g = grad(y, x)", "z = x * y\ngrad(z, [x])"),
    ("input('x')", "in variables", "x"),
    ("open('x.csv')", "in variables", "x"),
    ("eval('x + 1')", "write the expression itself", "x + 1"),
    ("x × y", "*", "x * y"),
    ("x − y", "minus is written with -", "x - y"),
]


@pytest.mark.parametrize(("mistake", "hint", "right"), MISTAKES)
def test_a_mistake_from_elsewhere_has_a_hint_that_works(ask, mistake, hint, right):
    with pytest.raises(errors.EngineError) as caught:
        ask.value(mistake, VALUES)
    assert hint in (caught.value.hint or "")
    ask.value(right, VALUES)


@pytest.mark.parametrize("name", sorted(hints._RENAMED))
def test_suggestions_for_names_from_elsewhere_can_be_written(ask, name):
    hint = hints.for_name(name, ()) or ""
    suggested = hint.removeprefix("did you mean ").removesuffix("?")
    for alternative in suggested.split(", or "):
        ask.value(f"z = {alternative}\nx", {**VALUES, "x": VALUES["m"]})


@pytest.mark.parametrize(
    "fault",
    ["x = (1", "for i in v", "if x > 0", "y = 1e-3 +", "0x1f ** ", "1e5 +", "2j +", "x[", ")"],
)
def test_nothing_is_suggested_where_nothing_is_known(ask, fault):
    with pytest.raises(errors.ProgramSyntaxError) as caught:
        ask.value(fault, VALUES)
    assert caught.value.hint is None


@pytest.mark.parametrize("sources", ["v[0]", "v.0", ["x", "v[0]"], {"a": "m[0, 1]"}])
def test_an_element_is_not_a_source_and_the_hint_says_what_to_ask_for(ask, sources):
    with pytest.raises(errors.UnknownName) as caught:
        ask.answer("x * sum(v**2) + sum(m)", VALUES, sources=sources)
    assert caught.value.hint == hints.OF_ELEMENTS
    whole = ask.answer("x * sum(v**2) + sum(m)", VALUES, sources=["v"])
    assert whole.gradients[0][0] == 4.0


@pytest.mark.parametrize("asked", [{"target": "y[0]"}, {"target": "y", "outputs": ["y[1]"]}])
def test_elements_of_results_are_named_in_the_program(ask, asked):
    with pytest.raises(errors.UnknownName) as caught:
        ask.answer("y = v**2", VALUES, sources=["v"], **asked)
    assert caught.value.hint == hints.OF_NAMED_ELEMENTS
    found = ask.answer("y = v**2\ny0 = y[0]", VALUES, sources=["v"], target="y0")
    assert found.gradients[0].tolist() == [2, 0, 0]
