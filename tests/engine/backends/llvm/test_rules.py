"""Parts that kernels compute have the values of what they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from gradwire_engine.answer import Limits
from gradwire_engine.check import interpret
from gradwire_engine.engine import Engine
from gradwire_engine.loops.loop import Loop
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.builder import Builder
from gradwire_engine.ops.reductions.reductions import Quantifier
from gradwire_engine.optimize.simplify import optimize
from gradwire_engine.tape import ArrayType
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

pytest.importorskip("llvmlite")

from gradwire_engine.backends.llvm.backend import NativeBackend

from tests.engine.backends.llvm.test_executable import asked, flat
from tests.engine.conftest import Asker, named
from tests.engine.kernels.tapes import go_on, kernels

ROWS = [
    [1.0, 2.0, 3.0],
    [1000.0, -1000.0, 999.0],
    [-np.inf, 0.0, -np.inf],
    [-np.inf, -np.inf, -np.inf],
    [np.inf, 0.0, 1.0],
    [np.nan, 0.0, 1.0],
]


@pytest.mark.parametrize("function", ["logsumexp", "log_softmax", "softmax"])
def test_exponents_are_lessened_in_the_kernel(monkeypatch, function):
    text, plain = f"sum(w * {function}(2 * x))", Asker()
    monkeypatch.setattr(Engine, "backend", NativeBackend())
    ask = Asker()
    for row in ROWS:
        values = {"x": np.array(row), "w": np.array([0.3, -0.7, 1.1])}
        expected = flat(asked(plain, text, values).replay(go_on))
        call = asked(ask, text, values)
        found = flat(call.replay(go_on))
        run = call.entry.paths[0].executable
        assert [i.op.name for i in run.replayed.instructions if i.op.name == "shift"] == []
        assert kernels(run)
        with named(row):
            for x, y in zip(found, expected, strict=True):
                assert_allclose(x, y, rtol=1e-12, atol=1e-14)


SHORT, LENGTHS = [1, 3, 16], [1, 2, 16, 17, 999, 1013]


@pytest.mark.parametrize("m", SHORT)
@pytest.mark.parametrize("n", LENGTHS)
def test_convolutions_with_short_vectors_are_in_kernels(monkeypatch, n, m):
    """Each mode with each length."""
    mode = ["full", "same", "valid"][(SHORT.index(m) + LENGTHS.index(n)) % 3]
    rng = np.random.default_rng(0)
    values = {"x": rng.normal(size=n), "c": rng.normal(size=m)}
    text = f"sum(convolve(x, c, '{mode}')**2) + sum(convolve(c, x, '{mode}')**3)"
    expected = flat(asked(Asker(), text, values).replay(go_on))
    monkeypatch.setattr(Engine, "backend", NativeBackend())
    call = asked(Asker(), text, values)
    for x, y in zip(flat(call.replay(go_on)), expected, strict=True):
        assert_allclose(x, y, rtol=1e-12, atol=1e-12 * np.abs(y).max())
    names = [i.op.name for i in call.entry.paths[0].executable.replayed.instructions]
    assert not {"full_convolution", "valid_convolution"}.intersection(names)


COLUMNS = [
    "sum((vander(x, 5) @ c[:5])**2)",
    "sum((c[:5] @ vander(x, 5, increasing=True).T)**2)",
    "sum((stack([sin(x), x, x * x], axis=1) @ c[:3])**3)",
    "sum((c[:3] @ stack([sin(x), x, x * x]))**3)",
    "sum((flip(stack([sin(x), x, x * x]), 0).T @ c[:3])**3)",
    "sum((flip(stack([sin(x), x, x * x]), 1).T @ c[:3] * x)**3)",
    "sum((concatenate([x[:, None], exp(x)[:, None]], axis=1) @ c[:2])**2)",
    "i = arange(1997)[:, None] + arange(3, -1, -1)\nsum((x[i] @ c[:4])**2)",
    "i = 2 * arange(990)[:, None] + 3 * arange(4)\nsum((x[i] @ c[:4])**2 * x[:990])",
    "sum(sum([c[k] * x**k for k in range(5)], axis=0)**2)",
]


def compared(monkeypatch, text):
    """The operations of machine code, of which the value and the gradient are NumPy's."""
    rng = np.random.default_rng(0)
    values = {"x": rng.uniform(0.5, 1, 2000), "c": rng.normal(size=20)}
    expected = asked(Asker(), text, values, sources=["c"]).replay(go_on)
    monkeypatch.setattr(Engine, "backend", NativeBackend())
    call = asked(Asker(), text, values, sources=["c"])
    found = call.replay(go_on)
    assert_allclose(found.value, expected.value, rtol=1e-11)
    (gradient,), (one,) = found.gradients, expected.gradients
    assert_allclose(gradient, one, rtol=0, atol=1e-11 * np.abs(one).max())
    return {i.op.name for i in call.entry.paths[0].executable.tape.instructions}


@pytest.mark.parametrize("text", COLUMNS)
def test_columns_that_were_put_together_are_added_up_one_by_one(monkeypatch, text):
    names = compared(monkeypatch, text)
    assert names.isdisjoint(["stack", "concatenate", "windows"]), names


def test_many_columns_are_put_together(monkeypatch):
    text = "sum((stack([x**(k / 8) + k for k in range(20)], axis=1) @ c)**2)"
    assert "stack" in compared(monkeypatch, text)


def test_differences_that_all_who_read_them_distribute_are_not_made(monkeypatch):
    rng = np.random.default_rng(0)
    shapes = {"x": (1000, 10), "means": (25, 10), "factors": (25, 10, 10)}
    values = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    text = "y = (x - means[:, None, :]) @ swapaxes(factors, 1, 2)\n"
    text += "sum(logsumexp(sum(y**2, axis=2), 0))"
    expected = asked(Asker(), text, values, sources=["means", "factors"]).replay(go_on)
    monkeypatch.setattr(Engine, "backend", NativeBackend())
    call = asked(Asker(), text, values, sources=["means", "factors"])
    found = call.replay(go_on)
    assert_allclose(found.value, expected.value, rtol=1e-10)
    for one, other in zip(found.gradients, expected.gradients, strict=True):
        assert_allclose(one, other, rtol=0, atol=1e-10 * np.abs(other).max())
    made = call.entry.paths[0].executable.tape.instructions
    given = [[made[a].type.shape for a in i.args] for i in made if i.op.name == "subtract"]
    assert [(1000, 10), (25, 1, 10)] not in given


@pytest.mark.parametrize("name", ["any", "all"])
@pytest.mark.parametrize("axis", [0, 1, (0, 1)])
@pytest.mark.parametrize("dtype", [bool, np.int64, np.float32, np.float64, np.complex128])
@given(st.lists(st.sampled_from([0.0, -0.0, 1.0, np.inf, np.nan]), min_size=6, max_size=6))
def test_kernels_see_whether_some_are_true(name, axis, dtype, elements):
    given = np.nan_to_num(elements) if np.dtype(dtype).kind == "i" else np.array(elements)
    with np.errstate(all="ignore"):
        x = given.astype(dtype).reshape(2, 3)
    b = Builder(Limits())
    tape = b.tape([FUNCTIONS[name].record(b, b.input(ArrayType(x.dtype, x.shape)), axis=axis)])
    better = optimize(tape, NativeBackend())
    assert not any(isinstance(each.op, Quantifier) for each in better.instructions)
    found = interpret(better, [x])[better.outputs[0]]
    assert_array_equal(found, getattr(np, name)(x, axis=axis), strict=True)


def test_adaptive_steps_and_their_derivatives_are_kernels(monkeypatch):
    monkeypatch.setattr(Engine, "backend", NativeBackend())
    text = "sum(odeint(lambda y, t: -k * y * y, y0, times))"
    y0, times = np.array([1.0, 2.0]), np.linspace(0, 3, 20)
    call = asked(Asker(), text, {"k": np.asarray(0.8), "y0": y0, "times": times})
    answer = call.replay(go_on)
    assert answer.value == pytest.approx((y0 / (1 + 0.8 * np.outer(times, y0))).sum(), rel=1e-7)
    run = call.entry.paths[0].executable
    assert kernels(run)
    assert not any(isinstance(each.op, Loop) for each in run.replayed.instructions)
