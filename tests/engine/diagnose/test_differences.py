"""A gradient is what differences of the value say, and where it is not, that is found."""

from collections.abc import Callable

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.answer import Limits
from gradwire_engine.errors import OverBudget
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.effort import examples
from tests.engine.conftest import Asker

RNG = np.random.default_rng(0)


def checks(ask, text, variables, **query):
    return ask.answer(text, variables, kind="check", **query).checks


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("sum(x**3) * w", {"x": [1.0, 2.0], "w": 3.0}),
        ("log(det(a)) + sum(solve(a, b))", {"a": np.eye(3) + 0.1, "b": [1.0, 2.0, 3.0]}),
        ("eigh(a + a.T)[0][0]", {"a": RNG.normal(size=(3, 3))}),
        ("y = x\nfor i in range(5):\n  y = tanh(w @ y)\ny", {"x": [1.0, 2.0], "w": np.eye(2)}),
        ("x if x > 0 else x**2", {"x": -1.5}),
        ("where(x > 0, sqrt(x), 0.0)", {"x": [-1.0, 2.0]}),
        ("z**3 * w", {"z": 1 + 2j, "w": 2.0 - 1j}),
        ("abs(np.fft.fft(x))**2", {"x": [1.0, 2.0, 0.5]}),
        ("sum(tanh(x) @ w)", {"x": RNG.normal(size=(20, 300)), "w": RNG.normal(size=300)}),
        ("u.assign(u * 2)\nsum(u**2) * k", {"u": [1.0, 2.0], "k": 3.0}),
        ("grad(y, x)\ny = x**4\ngrad(y, x) * x", {"x": 1.5, "y": 1.0}),
        ("custom_root(lambda y: y**3 + y - x, x)", {"x": 2.0}),
        ("vmap(lambda a: sum(a * x))(x * outer(x, x))", {"x": [1.0, 2.0]}),
        ("checkpoint(lambda a: sin(a) * a)(x)", {"x": [1.0, 2.0]}),
        ("odeint(lambda y, t: -k * y, y0, [0, 0.5, 1], steps=4)", {"k": 2.0, "y0": [1.0, 2.0]}),
        ("1e8 + x", {"x": 1.0}),
        ("sum(exp(-x**2)) * 1e-12", {"x": [1.0, 2.0]}),
        ("x * 0", {"x": [0.0, 1e9]}),
    ],
)
def test_gradients_are_right(ask, text, variables):
    found = checks(ask, text, variables)
    assert found.keys() == variables.keys()
    assert all(check.ok for check in found.values()), found


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_tolerances_are_those_of_the_dtype(ask, dtype):
    x = np.array([0.3, -1.2, 2.0], dtype)
    (right,) = checks(ask, "sum(tanh(x)**2 * x)", {"x": x}).values()
    assert right.ok, right
    assert right.error <= 0.1


HALVES = pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
X, W = [0.3, 1.25], np.linspace(0.5, 1.5, 40)
IN_LOOPS = "f = custom_gradient(sin, lambda z_bar, z, x: z_bar * {})\ns = x\n" + (
    "for i in range(40):\n  s = f(s) + 0.1 * x\nsum(s)"
)


@HALVES
@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("sum(tanh(x) @ w)", {"x": np.sin(np.arange(24.0).reshape(4, 6)), "w": W[:6]}),
        ("sum(sin(5 * x) * sqrt(x) / x)", {"x": X}),
        ("sum(where(x > 0.9, x**2, 3 * x))", {"x": [0.75, 1.05, -1.0]}),
        ("sum(floor(x) * x) + sum(abs(x))", {"x": [0.75, -0.25, -1.3]}),
        ("mean((x - mean(x))**2)", {"x": np.cos(np.arange(50.0))}),
        ("x[0] + 1000", {"x": X}),
        ("s = x[0]\nfor i in range(50):\n  s = s * 0.9 + sin(s)\nsum(s * x)", {"x": X}),
        ("s = x\nfor i in range(40):\n  s = tanh(s * w[i])\nsum(s)", {"x": X, "w": W}),
        ("s = x[0]\nwhile s < 100:\n  s = s * 1.5 + 1\ns + x[1]", {"x": X}),
        (
            "ys = []\ns = w\nfor i in range(40):\n  s = s * 0.9 + 0.1\n  ys.append(s)\n"
            "t = x\nfor y in ys:\n  t = sin(t * y)\nsum(t)",
            {"x": X, "w": 1.25},
        ),
        ("grad(sum(tanh(x)**3), x) @ x", {"x": X}),
        ("x.assign(x * 2)\nsum(x**2) * k", {"x": X, "k": 3.0}),
        ("sum(stop_gradient(exp(x)) * x)", {"x": X}),
        ("sum(abs(astype(x, 'complex64') * (1 + 2j))**2)", {"x": X}),
        ("sum(astype(x * 1.5, x.dtype)**2)", {"x": X}),
        ("vmap(lambda a: sum(a * x))(x * outer(x, x))", {"x": X}),
        ("checkpoint(lambda a: sin(a) * a)(x)", {"x": X}),
        (IN_LOOPS.format("cos(x)"), {"x": X}),
        ("sum(random.uniform(0, (2,), dtype=x.dtype) * erf(x))", {"x": X}),
        ("sum(astype(linalg.inv(astype(outer(x, x), 'float64') + eye(2)), x.dtype))", {"x": X}),
    ],
)
def test_gradients_in_half_precision_are_right(ask, text, variables, dtype):
    values = {name: np.asarray(value).astype(dtype) for name, value in variables.items()}
    answer = ask.answer(text, values, kind="check")
    assert all(check.ok for check in answer.checks.values()), answer.checks
    assert {x.dtype for x in answer.gradients.values()} == {np.dtype(dtype)}
    assert {x.dtype.name for x in answer.derivatives["differences"].values()} == {"float32"}


def test_differences_are_of_the_function_without_rounding(ask):
    """They are off by 3e-4, the formula's error; rounding of values would make that 2e-2."""
    x = np.array([0.25, 1.5], "float16")
    found = ask.answer("sum(sin(5 * x))", {"x": x}, kind="check").derivatives["differences"]["x"]
    assert_allclose(found, 5 * np.cos(5 * x.astype(float)), rtol=5e-4)


@HALVES
@pytest.mark.parametrize("of", ["float32", "float64"])
@pytest.mark.parametrize(
    "text",
    [
        "sum(tanh(astype(x, '{}'))**2)",
        "s = x\nfor i in range(40):\n  s = astype(tanh(astype(s, '{}') * 1.1), x.dtype)\nsum(s)",
    ],
)
def test_gradients_by_way_of_half_precision_are_right(ask, text, of, dtype):
    found = checks(ask, text.format(dtype), {"x": np.array([0.9, -1.7, 0.6], of)})["x"]
    assert found.ok, found


@HALVES
@pytest.mark.parametrize(
    "text",
    [
        IN_LOOPS,
        "f = custom_gradient(sin, lambda z_bar, z, x: z_bar * {})\nsum(f(x))",
        "sum(vmap(custom_gradient(sin, lambda z_bar, z, x: z_bar * {}))(x))",
    ],
)
@pytest.mark.parametrize("wrong", ["cos(x) * 1.25", "-cos(x)", "(cos(x) + 0.25)", "0"])
def test_wrong_rules_are_found_in_half_precision(ask, text, wrong, dtype):
    x = np.array(X, dtype)
    assert checks(ask, text.format("cos(x)"), {"x": x})["x"].ok
    assert not checks(ask, text.format(wrong), {"x": x})["x"].ok


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(
    "text",
    [
        "sum(sin(20 * x))",
        "sum(x * cos(50 * x))",
        "sum(where(x > 0.1, 100, 3 * x))",
        "sum(maximum(x, 0.1) * 5)",
        "sum(floor(10 * x) * x)",
        "sum(log(x) + 1 / x)",
        "exp(-sum(x)**2 / 1e-3)",
    ],
)
def test_fast_functions_and_neighbours_of_jumps_are_right(ask, text, dtype):
    x = np.array([0.0926, 0.108], dtype)
    found = checks(ask, text, {"x": x})["x"]
    assert found.ok, found


def test_jumps_may_be_near(ask):
    for distance in (1e-3, 2e-4, 1e-5):
        for b in (0.1 - distance, 0.1 + distance):
            assert checks(ask, "sum(where(b > 0.1, 5 * b, b**2))", {"b": b})["b"].ok


@pytest.mark.parametrize("text", ["log(x)", "1 / x", "sqrt(x)"])
def test_small_numbers_are_moved_by_small_steps(ask, text):
    assert checks(ask, text, {"x": 1.44e-6})["x"].ok
    assert checks(ask, f"sum({text})", {"x": np.full(300, 1.4e-2)})["x"].ok


def test_large_numbers_are_moved_by_small_steps_too(ask):
    assert checks(ask, "sin(x)**2", {"x": 1e6})["x"].ok


def test_steps_that_change_nothing_show_nothing(ask):
    text = "f = custom_gradient(lambda x: (x + 1) - 1, lambda z_bar, z, x: z_bar * {})\nf(x)"
    assert not checks(ask, text.format(0), {"x": 1e-9})["x"].ok
    assert checks(ask, text.format(1), {"x": 1e-9})["x"].ok
    assert not checks(ask, "x * 2 + 1e13", {"x": 1.0}, step=1e-4)["x"].ok  # all of it is rounding


@pytest.mark.parametrize(
    ("text", "x"),
    [
        ("maximum(x, y)", 1.5),
        ("relu(x - y) + 3 * x", 1.5),
        ("where(x >= y, 1, 0) * x", 1.5),
        ("floor(x) * x", 3.0),
        ("sign(x - y) * x", 1.5),
        ("sin(1e9 * x)", 1.5),
        ("sqrt(abs(x - 1.5 - 1e-9))", 1.5),
    ],
)
def test_where_nothing_is_differentiable_nothing_is_decided(ask, text, x):
    found = checks(ask, text, {"x": x, "y": 1.5}, sources="x")["x"]
    assert (found.ok, found.decided) == (False, False)


@pytest.mark.parametrize("wrong", ["-1", "3", "1.2"])
def test_at_a_kink_a_gradient_outside_of_both_slopes_is_wrong(ask, wrong):
    text = f"f = custom_gradient(relu, lambda z_bar, z, x: z_bar * {wrong})\nf(x)"
    found = checks(ask, text, {"x": 0.0})["x"]
    assert (found.ok, found.decided) == (False, True)


PARTS = ["sin({k} * {a})", "exp(-({a})**2)", "tanh({k} * {a})", "abs({a} - {c})", "({a})**3"]
PARTS += ["where({a} > {c}, 0.5, 3 * {a})", "maximum({a}, {c})", "sqrt(abs({a}))", "1 / ({a})"]
PARTS += ["log(abs({a}))", "sign({a} - {c}) * {a}", "round({a}) + {a}", "{a} * x", "{a} + 100"]


@given(st.data())
@examples(60)
def test_random_right_gradients_are_not_contradicted(data):
    draw = data.draw
    dtype = draw(st.sampled_from(["float16", "bfloat16", "float32", "float64"]))
    x = np.array(draw(st.lists(st.floats(-4, 4, width=16), min_size=1, max_size=3)), dtype)
    near = float(x[0]) * (1 + 10.0 ** -draw(st.integers(1, 14)))
    text = "x"
    parts = draw(st.lists(st.sampled_from(PARTS), min_size=1, max_size=3))
    # Rounding comes first: of steep functions it is a staircase finer than the smallest step.
    for part in sorted(parts, key=lambda part: not part.startswith("round")):
        text = part.format(a=f"({text})", k=draw(st.sampled_from([0.1, 1, 20])), c=near)
    ask = Asker()
    with np.errstate(all="ignore"):
        answer = ask.answer(f"sum({text})", {"x": x}, kind="check")
    gradient = answer.gradients["x"]
    if gradient is None or np.isfinite(gradient.astype(float)).all():
        assert answer.checks is not None
        found = answer.checks["x"]
        assert found.ok or not found.decided, (text, x, found)


SMOOTH = ["sin({k} * x)", "exp(-x**2) * {k}", "tanh(x) * {k}", "x**3", "log(x) * {k}", "1 / x"]
SMOOTH += ["sqrt(x)", "x * cos({k} * x)", "where(x > {c}, x**2, 3 * x)", "maximum(x, {c}) * x"]


@given(st.data())
@examples(60)
def test_random_wrong_gradients_are_found(data):
    draw = data.draw
    dtype = draw(st.sampled_from(["float16", "bfloat16", "float32", "float64"]))
    x = np.array(draw(st.floats(0.5, 4, width=16)), dtype)
    distance = draw(st.sampled_from([0.5, -0.5, 1e-1, -1e-1, 1e-2, -1e-2]))
    text = draw(st.sampled_from(SMOOTH)).format(k=draw(st.sampled_from([1, 5])), c=x + distance)
    factor = draw(st.sampled_from([-1, 0, 0.5, 0.75, 1.25, 2, 10]))
    rule = f"lambda z_bar, z, x: {factor} * z_bar * grad({text}, x)"
    ask = Asker()
    answer = ask.answer(text, {"x": x}, kind="check")
    assert answer.checks is not None
    if not answer.checks["x"].ok or abs(float(answer.gradients["x"])) < 0.02:
        return  # too near to a jump, or what is wrong is too small
    found = checks(ask, f"custom_gradient(lambda x: {text}, {rule})(x)", {"x": x})["x"]
    assert not found.ok, (text, x, found)
    assert found.decided, (text, x, found)


@pytest.mark.parametrize(
    ("text", "x", "dtype"),
    [
        ("maximum(x, 2.009765625) * x", 2.0, "float16"),  # only the smallest step ends before 2.01
        ("x * cos(5 * x)", 3.6875, "bfloat16"),  # rounding brings 1.25 of the gradient back to it
    ],
)
@pytest.mark.parametrize("factor", [-1, 0, 0.75, 1, 1.25, 10])
def test_wrong_gradients_are_found_beside_kinks_and_in_spite_of_rounding(
    ask, text, x, dtype, factor
):
    rule = f"lambda z_bar, z, x: {factor} * z_bar * grad({text}, x)"
    check = checks(ask, f"custom_gradient(lambda x: {text}, {rule})(x)", {"x": np.array(x, dtype)})
    assert (check["x"].ok, check["x"].decided) == (factor == 1, True)


#: Programs with a kink or a jump of slope at ``c``, and their slopes below and above it.
KINKS: dict[str, Callable[[float, float], tuple[float, float]]] = {
    "maximum(x, {c}) * x": lambda x, c: (c, 2 * x),
    "minimum(x, {c}) * x": lambda x, c: (2 * x, c),
    "abs(x - {c}) + 3 * x": lambda _x, _c: (2, 4),
    "relu(x - {c}) + x": lambda _x, _c: (1, 2),
    "relu({c} - x) * 2 + 3 * x": lambda _x, _c: (1, 3),
    "where(x > {c}, x**2, 5 * x)": lambda x, _c: (5, 2 * x),
    "where(x > {c}, 5 * (x - {c}), sin(x - {c}))": lambda x, c: (np.cos(x - c), 5),
    "clip(x, {c}, 9) * x": lambda x, c: (c, 2 * x),
    "clip(x, 0.01, {c}) * x": lambda x, c: (2 * x, c),
    "sort(stack([x, {c}, 0.01 * x]))[1] * x": lambda x, c: (2 * x, c),
    "max(stack([x, {c}])) * x": lambda x, c: (c, 2 * x),
}
SMALLEST = {"float16": 2**-9, "bfloat16": 2**-9, "float32": 2**-9, "float64": 2**-21}


@given(st.data())
@examples(100)
def test_random_gradients_beside_kinks(data):
    """Wrong ones do not agree, and none is undecided where the smallest step ends before the kink.

    Right ones agree there, and are never contradicted.
    """
    draw = data.draw
    dtype = draw(st.sampled_from([*SMALLEST]))
    x = np.array(draw(st.floats(0.25, 4, width=16)), dtype)
    smallest = SMALLEST[dtype] * min(1, float(x))
    unit = draw(st.sampled_from([smallest, float(np.spacing(x))]))
    distance = unit * draw(st.sampled_from([-1, 1])) * 10 ** draw(st.floats(-1, 1))
    c = float(np.array(x + distance, dtype))
    text, slopes = draw(st.sampled_from([*KINKS.items()]))
    below, above = slopes(float(x), c)
    right = float(above if x > c else below)
    other = below + above - right
    wrong = [-right, 0, 0.75 * right, 1.25 * right, 10 * right, other, (right + other) / 2]
    apart = [slope for slope in wrong if abs(slope - right) > 0.1 * right]
    slope = draw(st.sampled_from([right, *apart]))
    rule = f"custom_gradient(lambda x: {text}, lambda z_bar, z, x: z_bar * {slope})(x)"
    check = checks(Asker(), rule.format(c=c), {"x": x})["x"]
    seen = text, x, c, slope, abs(x - c) / smallest, check
    if abs(float(x) - c) > 2 * smallest:
        assert (check.ok, check.decided) == (slope == right, True), seen
    elif slope == right:
        assert check.ok or not check.decided, seen
    else:
        assert not check.ok, seen


def test_differences_are_the_derivative_in_the_sources_structure(ask):
    x = RNG.normal(size=(2, 3))
    query = {"kind": "check", "sources": {"a": ["x", "h"]}, "target": "y"}
    answer = ask.answer("h = x * 2\ny = sin(h)", {"x": x}, **query)
    found, beside = (answer.derivatives[name]["a"] for name in ("gradients", "differences"))
    for gradient, difference, exact in zip(found, beside, (2, 1), strict=True):
        assert np.allclose(gradient, exact * np.cos(2 * x), atol=1e-12)
        assert np.allclose(difference, exact * np.cos(2 * x), atol=1e-9)
    assert answer.derivatives.keys() == {"gradients", "differences"}


def test_a_gradient_that_is_not_the_slope_is_found_with_its_place(ask):
    # at a tie all of the derivative goes to the first argument, and differences halve it
    variables = {"x": [[1.0, 5.0, 2.0]], "y": [[0.0, 5.0, 3.0]]}
    found = checks(ask, "maximum(x, y)", variables)
    for check in found.values():
        assert not check.ok
        assert check.at == (0, 1)
        assert check.error == pytest.approx(0.5)


@pytest.mark.parametrize("size", [3, 300])
def test_a_wrong_rule_of_the_program_s_own_is_found(ask, size):
    text = "f = custom_gradient(sin, lambda z_bar, z, x: z_bar * {})\nsum(f(x))"
    x = np.linspace(0.5, 2.0, size)
    assert checks(ask, text.format("cos(x)"), {"x": x})["x"].ok
    assert not checks(ask, text.format("(cos(x) + 1e-4)"), {"x": x})["x"].ok


def test_in_many_elements_a_wrong_one_shows_along_a_direction(ask):
    x = np.linspace(1.0, 2.0, 1000)
    wrong = checks(ask, "maximum(x, y)", {"x": x, "y": np.where(x > 1.5, x, 0.0)})["x"]
    assert (wrong.ok, wrong.at) == (False, None)
    assert wrong.error > 1
    answer = ask.answer("sum(x**2)", {"x": x}, kind="check")
    assert answer.checks["x"].ok
    assert answer.derivatives["differences"] == {"x": None}


def test_what_derivatives_hold_constant_is_not_moved(ask):
    text = "h = stop_gradient(x)\nx.assign(x * 3)\nsum(h * x + floor(y))"
    answer = ask.answer(text, {"x": [1.0, 2.0], "y": 1.5}, kind="check")
    assert answer.gradients["y"] is None
    assert all(check.ok for check in answer.checks.values())


def test_sources_without_a_derivative_are_not_compared(ask):
    answer = ask.answer("n * x", {"x": 2.0, "n": np.int64(3), "s": "text"}, kind="check")
    assert list(answer.checks) == ["x"]
    assert answer.unconnected.keys() == {"n", "s"}


def test_what_is_not_finite_agrees_with_nothing(ask):
    answer = ask.answer("sqrt(x)", {"x": [1.0, 0.0]}, kind="check")
    check = answer.checks["x"]
    assert (check.ok, check.error, check.at) == (False, np.inf, (1,))
    assert answer.nonfinite["backward"].node.op == "sqrt"


def test_a_name_alone_that_is_not_finite_is_told(ask):
    answer = ask.answer("x", {"x": np.nan}, kind="check")
    assert not answer.checks["x"].ok
    assert answer.nonfinite["forward"].node.id == "x"
    assert answer.nonfinite["backward"].node.line == 1


def test_cotangents_weigh_the_target(ask):
    seeds = [np.array([1.0, 5.0]), np.array([2.0, 3.0])]
    query = {"kind": "check", "target": ["a", "b"], "seeds": seeds, "sources": "x"}
    answer = ask.answer("a = 2*x\nb = x**2", {"x": [1.0, 2.0]}, **query)
    assert answer.derivatives["differences"] == pytest.approx(np.array([6.0, 22.0]))
    assert all(check.ok for check in answer.checks.values())


@pytest.mark.parametrize(("text", "several"), [("sum(x**3)", False), ("sum(sin(9e3 * x))", True)])
@pytest.mark.parametrize("batch", [None, {"x": 0}])
def test_several_steps_are_tried_where_one_disagrees(text, several, batch):
    engine, query = Engine(), Query("check", batch=batch)
    values = {"x": Leaf(np.array([[0.3, 0.7], [1.1, -0.2]]))}
    answer = engine.call(engine.parse(text), values, query).replay(lambda: None)
    assert answer.checks is not None
    assert answer.checks["x"].ok
    other = engine.call(engine.parse(text), values, query._replace(several=True))
    assert other.compiled == several


def test_nothing_is_decided_where_several_steps_are_over_a_limit():
    text = "custom_gradient(sum, lambda z_bar, z, x: z_bar * {} * ones_like(x))(x) + sum(x**2)"
    values = {"x": Leaf(np.linspace(1, 2, 200))}
    for total_bytes, decided in ((1 << 30, True), (4 << 20, False)):
        engine = Engine(Limits(total_bytes=total_bytes))
        for factor in (1, 2):
            program = engine.parse(text.format(factor))
            answer = engine.call(program, values, Query("check")).replay(lambda: None)
            assert answer.checks is not None
            check = answer.checks["x"]
            assert (check.ok, check.decided) == (factor == 1, factor == 1 or decided)


def test_step_and_tolerances_are_the_request_s(ask):
    # the error of the formula is h⁴ f⁽⁵⁾ / 30, to leading order
    for step in (0.1, 0.2):
        check = checks(ask, "x**5", {"x": 1.0}, step=step)["x"]
        assert check.error == pytest.approx(4 * step**4)
        assert not check.ok
        assert checks(ask, "x**5", {"x": 1.0}, step=step, rtol=step)["x"].ok
        assert checks(ask, "x**5", {"x": 1.0}, step=step, atol=4.1 * step**4)["x"].ok


def test_empty_sources_are_right(ask):
    assert checks(ask, "sum(x) + y", {"x": np.zeros((0, 3)), "y": 1.0})["x"].ok


def test_differences_are_within_the_budget(ask_within):
    ask = ask_within(total_bytes=1_000_000)
    ask.answer("sum(sin(x @ w))", {"x": np.ones((10, 20)), "w": np.ones((20, 20))})
    text, variables = "sum(sin(x @ w))", {"x": np.ones((10, 20)), "w": np.ones((20, 20))}
    with pytest.raises(OverBudget):
        ask.answer(text, variables, kind="check")
