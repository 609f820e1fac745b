"""Requests for gradients and their meaning: S1, S2, S9, S13 to S23 and S28."""

import itertools
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.errors import EngineError, InputError, UnknownName
from gradwire_engine.frontends.text import parse_text
from gradwire_engine.tape import Tape
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.engine.conftest import called

X = np.array([1.0, 2.0, 3.0])


def equal(got, expected):
    if isinstance(expected, dict):
        return list(got) == list(expected) and all(equal(got[k], expected[k]) for k in expected)
    if isinstance(expected, list):
        return len(got) == len(expected) and all(map(equal, got, expected))
    return got is expected if expected is None else np.allclose(got, expected)


@pytest.mark.rule("S1")
def test_reverse_mode(ask):
    assert ask.gradients("sin(x)*y", {"x": 2, "y": 3}) == pytest.approx(
        {"x": 3 * np.cos(2), "y": np.sin(2)}
    )


@pytest.mark.rule("S2")
@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (0,), (2, 0), (3,), (2, 1, 3)])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("text", ["sum(x*x)", "x*y", "sum(x) + y", "x.reshape(-1)*2", "y"])
def test_gradients_have_their_sources_shape_and_dtype(ask, text, shape, dtype):
    variables = {"x": np.ones(shape, dtype), "y": np.float64(2)}
    got = ask.gradients(text, variables, unconnected="zero")
    assert np.shape(got["x"]) == shape
    assert got["x"].dtype == dtype
    assert np.shape(got["y"]) == ()
    assert got["y"].dtype == "float64"


@pytest.mark.rule("S9")
@pytest.mark.parametrize(
    "text",
    ["y = stop_gradient(x)\nx*y", "x*stop_gradient(x)", "grad(x*stop_gradient(x)*x, x)/2"],
)
def test_stop_gradient_is_a_constant_to_every_order(ask, text):
    answer = ask.answer(text, {"x": 3})
    assert answer.gradients["x"] in (3, pytest.approx(3))


@pytest.mark.rule("S9")
def test_what_is_stopped_can_be_a_source(ask):
    assert ask.gradients("y = stop_gradient(x)\nx*y", {"x": 3}, sources=["y", "x"]) == [3, 3]
    assert ask.value("y = stop_gradient(x*x)\ngrad(x*y, y)", {"x": 3}) == 3
    assert ask.value("grad(grad(x**3*stop_gradient(x), x), x)", {"x": 2}) == 24


@pytest.mark.rule("S13", "S14")
@pytest.mark.parametrize(
    "sources",
    ["x", ["x"], [], {}, {"b": "x", "a": ["y", {"c": "x"}], "z": []}, [[["y"]], None, {"n": None}]],
)
def test_answers_have_the_structure_of_the_sources(ask, sources):
    def expected(names):
        if isinstance(names, dict):
            return {key: expected(name) for key, name in names.items()}
        if isinstance(names, list):
            return [expected(name) for name in names]
        return {"x": 5, "y": 2, None: None}[names]

    got = ask.gradients("x*y", {"x": 2, "y": 5}, sources=sources or [sources])
    assert got == (expected(sources) if sources else [sources])


@pytest.mark.rule("S15")
def test_a_source_requested_twice_gets_all_of_it_twice(ask):
    assert ask.gradients("x*x", {"x": 3}, sources=["x", "x", {"x": "x"}]) == [6, 6, {"x": 6}]


@pytest.mark.rule("S16")
def test_a_target_has_slope_one_in_itself(ask):
    assert ask.gradients("y = x*x", {"x": 3}, target="y", sources=["y", "x"]) == [1, 6]
    assert ask.gradients("y = x*x\nz = 5*y", {"x": 3}, target=["y", "z"], sources=["y", "z"]) == [
        6,
        1,
    ]
    assert ask.gradients("1.0", {"x": X}, target="x", sources="x").tolist() == [1, 1, 1]


@pytest.mark.rule("S17")
def test_intermediates_are_sources_and_do_not_cut_other_paths(ask):
    text = "a = x*x\nb = sin(a)\nc = a*b*x"
    a, b, x = 4.0, np.sin(4.0), 2.0
    got = ask.gradients(text, {"x": 2}, target="c", sources=["a", "b", "x"])
    c_a = b * x + a * x * np.cos(a)
    assert got == pytest.approx([c_a, a * x, a * b + c_a * 2 * x])


@pytest.mark.rule("S17")
def test_a_source_after_the_target_has_no_path(ask):
    answer = ask.answer("a = x*x\nb = a*2", {"x": 2}, target="a", sources="b")
    assert answer.gradients is None
    assert answer.unconnected["b"].reason == "no_path"


@pytest.mark.rule("S18")
def test_a_target_with_axes_is_summed(ask):
    assert ask.gradients("x*x", {"x": X})["x"].tolist() == [2, 4, 6]


@pytest.mark.rule("S19")
def test_several_targets_are_summed(ask):
    text = "a = x*x\nb = 3*x"
    for target, expected in (
        (["a", "b"], 9),
        ({"p": "a", "q": ["b", "b"]}, 12),
        (["a", ["a"]], 12),
        (["a", "y"], 6),
    ):
        answer = ask.answer(text, {"x": 3, "y": 1}, target=target, sources="x")
        assert answer.gradients == expected
    assert answer.value == [9, 1]
    assert ask.answer(text, {"x": 3}, target=[], sources="x").gradients is None


@pytest.mark.rule("S20")
def test_seeds_weigh_the_targets(ask):
    text = "a = x*x\nb = 3*x"
    seeds = [np.float64(2), np.float64(10)]
    assert ask.gradients(text, {"x": 3}, target=["a", "b"], seeds=seeds)["x"] == 42
    assert ask.gradients(text, {"x": 3}, target=["a", "b"], seeds=[None, np.float64(10)])["x"] == 36
    got = ask.gradients("x*x", {"x": X}, seeds=np.array([1.0, 0, 5]))["x"]
    assert got.tolist() == [2, 0, 30]
    again = {"a": np.float64(2), "b": [np.float64(1)]}
    assert ask.gradients(text, {"x": 3}, target={"a": "a", "b": ["b"]}, seeds=again)["x"] == 15


@pytest.mark.rule("S20")
@pytest.mark.parametrize(
    "seeds", [[], [np.float64(1)] * 2, [np.ones(2)], [np.ones((3, 1))], [np.ones(3, complex)]]
)
def test_seeds_must_fit_the_targets(ask, seeds):
    with pytest.raises(InputError) as caught:
        ask.gradients("x*x", {"x": X}, seeds=seeds)
    at: Any = caught.value.at
    assert at.pointer == "/output_gradients"


@pytest.mark.rule("S21")
@pytest.mark.parametrize("text", ["3.0", "n*2", "x > 1", "stop_gradient(x)", "[1, 2]", "floor(x)"])
def test_targets_without_gradients(ask, text):
    answer = ask.answer(text, {"x": 2, "n": np.int64(3)}, sources="x")
    assert answer.gradients is None
    assert "x" in answer.unconnected


@pytest.mark.parametrize("name", ["zz", "x.w", "x[0]", "", "a..b"])
def test_names_that_are_not_there_are_errors_with_a_pointer(ask, name):
    for field in ("target", "sources"):
        with pytest.raises(UnknownName) as caught:
            ask.gradients("x*x", {"x": X}, **{field: ["x", name]})
        at: Any = caught.value.at
    assert at.pointer == f"/{field}/1"


@pytest.mark.rule("S22")
def test_zeros_where_asked(ask):
    variables = {
        "x": np.array([1, 2], np.float32),
        "n": np.array([[1]], np.int32),
        "b": np.array(True),
        "s": "text",
    }
    got = ask.gradients("y", variables | {"y": 1.0}, unconnected="zero")
    assert [got[k].dtype.name for k in "xnb"] == ["float32", "int32", "bool"]
    assert [np.shape(got[k]) for k in "xnb"] == [(2,), (1, 1), ()]
    assert got["s"] is None
    assert got["y"] == 1


@pytest.mark.rule("S23")
@pytest.mark.parametrize("text", ["x*0", "sign(x)", "x - x", "x**0", "0*sin(x)"])
def test_connected_is_zero(ask, text):
    assert ask.gradients(text, {"x": 2.5})["x"] == 0


@pytest.mark.rule("S23")
@pytest.mark.parametrize(
    "text",
    [
        "floor(x)",
        "ceil(x)",
        "round(x)",
        "x // 2",
        "x > 2",
        "x.astype('int64')",
        "argmax(x)",
        "ones_like(x)",
        "zeros_like(x)",
    ],
)
def test_not_differentiable_is_none(ask, text):
    assert ask.gradients(text, {"x": 2.5})["x"] is None


@pytest.mark.rule("S28")
@given(st.integers(0, 6), st.floats(-2, 2))
def test_nested_gradients_are_derivatives_of_any_order(n, x):
    import math

    from gradwire_engine import Engine

    text = "y = x**6\n" + "y = grad(y, x)\n" * n + "y"
    engine = Engine()
    call = called(engine, text, {"x": np.array(x)}, "gradient")
    answer = call.replay(lambda: None)
    expected = math.factorial(6) / math.factorial(6 - n) * x ** (6 - n)
    assert answer.value == pytest.approx(expected, abs=1e-9)


@pytest.mark.rule("S28")
def test_penalties_and_unrolled_updates(ask):
    text = "l = sum(x**3)\ng = grad(l, x)\nsum(g**2)"
    assert np.allclose(ask.gradients(text, {"x": X})["x"], 36 * X**3)
    text = "w = x\nfor i in range(3):\n  w = w - r*grad(sum(w**2), w)\nsum(w)"
    got = ask.gradients(text, {"x": X, "r": 0.1})
    assert np.allclose(got["x"], 0.8**3)
    assert np.allclose(got["r"], np.sum(X) * 3 * 0.8**2 * -2)


@pytest.mark.rule("S28")
def test_the_gradient_of_a_linear_function_has_no_path(ask):
    answer = ask.answer("grad(3*x, x)", {"x": 2})
    assert answer.value == 3
    assert answer.gradients["x"] is None


def test_gradients_of_gradients_in_intermediates(ask):
    text = "a = x*x\nb = a*a*x\ng = grad(b, a)\nh = grad(g, x)"
    # g = 2 a x, with a = x², in x along all paths: 4x² + 2a = 6x²
    assert ask.value(text, {"x": 3}) == 54
    assert ask.gradients(text, {"x": 3}, target="g", sources=["a", "x"]) == [6, 54]


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize(
    ("branch", "at"),
    [
        ("sqrt(x)", 0.0),
        ("log(x)", 0.0),
        ("1/x", 0.0),
        ("x**1.5*log(x)", 0.0),
        ("sqrt(x)*exp(1/x)", 0),
    ],
)
def test_a_branch_of_where_not_taken_gives_zero_to_every_order(ask, branch, at, order):
    text = f"y = where(x > 0, {branch}, x*x*x)\n" + "y = grad(sum(y), x)\n" * (order - 1) + "y"
    expected = {1: 0.0, 2: 0.0, 3: 6.0}[order]
    answer = ask.answer(text, {"x": [at, at]})
    assert np.array_equal(answer.gradients["x"], [expected, expected])
    assert not answer.nonfinite


@pytest.mark.parametrize("branch", ["sum(svd(m)[0])", "sum(eigh(m)[1]) + sum(eigh(m)[0])"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_branch_of_where_through_several_results(ask, branch):
    text = f"where(m[0, 0] > 0, {branch}, sum(m[1]*m[1]))"
    found = ask.gradients(text, {"m": [[np.nan, 0], [0, 3.0]]})
    assert equal(found, {"m": [[0, 0], [0, 6]]})


def test_a_branch_of_where_through_reductions_and_products(ask):
    text = "z = where(m, x/y, 0.0)\nsum(sum(z, axis=0)**2) + prod(where(m, x, 1.0))"
    variables: dict[str, Any] = {"x": [[1.0, 2], [3, 4]], "y": [[1.0, 0], [0, 2]]}
    variables |= {"m": np.array([[True, False], [False, True]])}
    got = ask.gradients(text, variables, sources=["x", "y"])
    assert np.array_equal(got[0], [[2 + 4, 0], [0, 2 + 1]])
    assert np.array_equal(got[1], [[-2, 0], [0, -4]])


@pytest.mark.parametrize(
    "made", ["complex(x, w * x)", "conj(complex(w, x))", "x + 1j * w", "complex(imag(1j * x), w)"]
)
def test_a_branch_of_where_through_parts_of_complex_numbers(ask, made):
    whole, cut = "z = MADE\n", "z = where(abs(MADE) > 0, MADE, 1j)\n"
    got, want = [
        ask.gradients(by.replace("MADE", made) + "sum(abs(z)**2 * imag(z) + real(z))", at)
        for by in (cut, whole)
        for at in [{"x": [1.0, -2.0], "w": [0.5, 3.0]}]
    ]
    assert_allclose([*got.values()], [*want.values()])


def test_a_branch_of_where_through_what_passes_of_a_loop_gave(ask):
    text = "sum(where(y > 0, sqrt(y), 0.0))"
    x = np.linspace(-1, 1.1, 3000)
    scanned = "y = jax.lax.scan(lambda c, x: (c + x, c + x), 0.0, x)[1]\n"
    got, want = [ask.gradients(by + text, {"x": x})["x"] for by in (scanned, "y = cumsum(x)\n")]
    assert_allclose(got, want)
    ended = "def f(a):\n    while a < 100:\n        a = a * 3\n    return a\ny = vmap(f)(x) - 200\n"
    got = ask.gradients(ended + text, {"x": [1.0, 2.0, 3.0]})["x"]
    assert_allclose(got, [0.5 * 243 / 43**0.5, 0, 0.5 * 81 / 43**0.5])


def test_a_derivative_that_happens_to_vanish_still_varies(ask):
    # d²/dx² of where(x >= 0, x³, x²) at 0 is that of x³, at a point where both slopes vanish
    text = "y = where(x >= 0, x**2*w, x)\ngrad(y, x)"
    assert ask.gradients(text, {"x": 0, "w": 3}) == {"x": 6, "w": 0}


def test_every_source_of_a_product_of_many(ask):
    names = [f"v{i}" for i in range(12)]
    values = dict(zip(names, np.linspace(0.5, 2, 12), strict=True))
    got = ask.gradients("*".join(names), values)
    for name, value in values.items():
        assert got[name] == pytest.approx(np.prod(list(values.values())) / value)


@pytest.mark.parametrize(
    "pair", list(itertools.combinations([(), (3,), (2, 1), (2, 3), (1, 3)], 2)), ids=str
)
def test_broadcasting_is_summed_back(ask, pair):
    a, b = (np.ones(shape) for shape in pair)
    got = ask.gradients("a*b*2", {"a": a, "b": b})
    size = np.broadcast(a, b).size
    assert np.allclose(got["a"], 2 * size / a.size)
    assert np.allclose(got["b"], 2 * size / b.size)


def test_wrong_programs_are_refused_for_gradients_too(ask):
    with pytest.raises(EngineError):
        ask.gradients("x + s", {"x": 1, "s": "text"})


@pytest.mark.parametrize("power", [-2.0, -1.0, 0.0, 1.0, 2.0, 2.5, 3.0])
def test_a_power_has_one_derivative_whether_its_exponent_is_written_or_named(ask, power):
    x = np.array([0.3, 1.0, 2.0])
    slope = power * x ** (power - 1)
    for text in (f"sum(x ** ({power}))", f"p = {power}\nsum(x ** p)", "sum(x ** q)"):
        found = ask.gradients(text, {"x": x, "q": power}, sources="x")
        assert np.allclose(found, slope)
    both = f"p = {power}\ng = grad(sum(x ** p), x)\nsum(grad(sum(g), p))"
    assert np.allclose(ask.value(both, {"x": x}), np.sum(x ** (power - 1) + slope * np.log(x)))


def test_a_written_exponent_costs_no_more_than_its_slope():
    recorded = dict[str, Tape]()
    call = Engine().call(parse_text("sum(x ** 2)"), {"x": Leaf(X)}, Query("gradient"))
    call.on_tape = recorded.__setitem__
    call.compile(lambda: None)
    emitted = recorded["differentiated"].instructions[len(recorded["recorded"].instructions) :]
    names = ["constant", "broadcast_to", "power", "multiply", "multiply"]
    assert sorted([i.op.name for i in emitted if i.op.name != "constant"]) == sorted(names[1:])
