"""Programs of many kinds by machine code: what kernels give, NumPy gives one by one."""

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Limits, Query
from gradwire_engine.errors import BadArgument
from numpy.testing import assert_allclose

from tests.engine.conftest import called

pytest.importorskip("llvmlite")

from gradwire_engine.backends.llvm import kernels, spans
from gradwire_engine.backends.llvm.backend import NativeBackend

from tests.engine.conftest import Asker

PROGRAMS = [
    "sum(sin(v) * exp(-v * v) + tanh(v))",
    "sum(tanh(m) * w) + sum(m * k)",
    "sum(m * m, axis=1) @ k",
    "sum(m * m, axis=0) @ w",
    "sum(softmax(m * w, axis=1) * m) + sum(logsumexp(m * 2 + 1, axis=1))",
    "sum(softmax(m * w, axis=0) * m)",
    "sum(log_softmax(m * w, axis=-1)[:, 1])",
    "sum(where(m > 0.2, m * w, exp(m)))",
    "max(m * w) + min(abs(m) + 1) + sum(max(m * w, axis=1)) + sum(max(m * w, axis=0))",
    "prod(1 + 0.01 * tanh(v))",
    "sum(100 * (v[1:] - v[:-1]**2)**2 + (1 - v[:-1])**2)",
    "sum((v[2:] * v[:-2] - v[1:-1])**2 * v[2:])",
    "sum(m[1:] * m[:-1] * w)",
    "sum((v - mean(v))**2) / sum(v * v + 1)",
    "x = v * 2 + 1\nx / sqrt(sum(x * x))",
    "sum(reshape(m * m, -1) * reshape(exp(m), -1))",
    "sum(sum(reshape(t * t + 1, (len(t), -1)), axis=1) ** 2)",
    "sum(exp(t) * t, axis=(0, 2)) @ arange(3.0)",
    "sum(t * m[:, :3, None])",
    "h = tanh(m)\nsum(h @ outer(w, w) * h)",
    "sum(where(all(m * w > -9, axis=1), k * k, 0)) + any(v * v > 1) * sum(v * v)",
    "y = v * 1\nif sum(y * y + 1) > 3:\n    y = y * v\nsum(y * y)",
    "c = astype(v, 'complex128') * (1 + 2j)\nsum(abs(c * c + exp(c)) ** 2)",
    "n = astype(v * 10, 'int32')\nsum(n * n + 1) * 1.0 + sum(v * n)",
    "cumsum(v * v + 1) * v",
    "sum(sort(v * v) * v)",
    "sum(tanh(m @ w) * k[:, 0])",
    "h = tanh(m @ outer(w, w))\nsum(log_softmax(h @ outer(w, w), axis=1)[:, 0])",
    "sum(tanh(m.T @ (m * k)))",
    "y = v\nfor i in range(12):\n    y = y - 0.1 * (y * exp(-y * y) + tanh(y))\nsum(y * y)",
    "y = v\nwhile sum(y * y) > 1:\n    y = y * 0.9 - 0.01 * tanh(y)\nsum(y * v)",
    "y = v\nfor i in range(30):\n    if sum(y) > 0:\n        y = y - 0.1 * tanh(y)\n"
    "    else:\n        y = y * 0.9 + 0.01 * v * v\nsum(y * v)",
]


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Machine code is waited for."""
    monkeypatch.setattr(Engine, "backend", NativeBackend())


def variables(seed=0):
    rng = np.random.default_rng(seed)
    shapes = {"v": (23,), "w": (5,), "k": (7, 1), "m": (7, 5), "t": (7, 3, 4)}
    return {name: Leaf(rng.normal(size=shape)) for name, shape in shapes.items()}


def compared(ask, text, values, **query):
    """The answers of a query, plain and exact, as flat arrays."""
    answers = []
    for exact in (False, True):
        asked = Query(**{"kind": "gradient", "unconnected": "zero", **query}, exact=exact)
        call = ask.engine.call(ask.engine.parse(text), values, asked)
        for _ in range(2):
            answer = call.replay(ask.poll)
        derivatives = [x for found in answer.derivatives.values() for x in leaves(found)]
        answers.append([answer.value, *derivatives])
    return zip(*answers, strict=True)


def leaves(nested):
    if isinstance(nested, dict | list):
        items = nested.values() if isinstance(nested, dict) else nested
        return [x for item in items for x in leaves(item)]
    return [nested]


@pytest.mark.parametrize("text", PROGRAMS)
def test_kernels_give_what_instructions_give_one_by_one(ask, text):
    for found, expected in compared(ask, text, variables()):
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("text", PROGRAMS[:6])
def test_kernels_in_single_precision(ask, text):
    values = {k: Leaf(x.value.astype("f4")) for k, x in variables().items()}
    for found, expected in compared(ask, text, values):
        assert found.dtype == expected.dtype == np.float32
        assert_allclose(found, expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("text", PROGRAMS[:16])
def test_kernels_of_second_derivatives(ask, text):
    for found, expected in compared(ask, text, variables(), kind="jacobian", sources=["v", "m"]):
        assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_what_fails_behind_a_decision_is_told_only_where_it_is_reached(ask):
    text = "y = v * 2\nif sum(y * y) > 1:\n    y = cholesky(outer(y, y) - eye(23)) @ y\nsum(y * v)"
    quiet = {"v": Leaf(np.full(23, 1e-3))}
    for exact in (False, True):
        call = called(ask.engine, text, quiet, "gradient", exact=exact)
        for _ in range(3):
            assert call.replay(ask.poll).value == pytest.approx(2 * 23 * 1e-6)


@pytest.mark.parametrize("text", PROGRAMS)
def test_threads_share_the_passes(text, monkeypatch):
    monkeypatch.setattr(kernels, "STEPS_BETWEEN_POLLS", 64)
    monkeypatch.setattr(spans, "STEPS_BETWEEN_POLLS", 64)
    ask = Asker(Limits(threads=3))
    for found, expected in compared(ask, text, variables()):
        assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


def test_threads_give_what_one_gives_where_slices_overlap():
    x = {"x": Leaf(np.random.default_rng(0).normal(size=200_000))}
    text = "sum((x[7:] * x[:-7] - x[3:-4])**2 * x[:-7])"
    for found, expected in compared(Asker(Limits(threads=4)), text, x):
        assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("text", ["sum(1 / x)", "sum(x[4:] / x[:-4] + x[:-4])", "sum(1 / m)"])
def test_what_is_not_finite_is_found_wherever_it_is(text, threads):
    ask = Asker(Limits(threads=threads))
    x = np.linspace(1, 2, 100_000)
    name = "m" if "m" in text.replace("sum", "") else "x"
    for at in (None, 0, 3, 4, 7, 16_383, 16_384, 99_996, 99_999):
        value = x if at is None else np.where(np.arange(100_000) == at, 0, x)
        shaped = value if name == "x" else value.reshape(100, 1000)
        given = {name: Leaf(shaped)}
        call = called(ask.engine, text, given, "gradient")
        gradient = call.replay(ask.poll).gradients[name]
        found = call.replay(ask.poll).nonfinite
        assert ("backward" in found) == (not np.isfinite(gradient).all())


ENDLESS = [
    "k = 0\nwhile v[k] < 99:\n    k = k + 1\nv[k]",
    "k = 0\ns = 0.0\nwhile s < 1e9:\n    s = s + 0 * v[k]\n    k = k + 1\ns",
    "k = 0\ny = v * 1\nwhile y[0] < 99:\n    y[k] = 0.5\n    k = k + 1\nsum(y)",
    "k = 0\nwhile m[1, k] < 99:\n    k = k + 1\nk * v[0]",
    "k = 0\nwhile v[2 * k + 1] < 99:\n    if v[k] > 50:\n        k = k + 2\n    else:\n"
    "        k = k + 1\nv[k]",
    "s = 0.0\nfor i in range(3):\n    k = 0\n    while v[k] < 99:\n        k = k + 1\n"
    "    s = s + v[k]\ns",
]


@pytest.mark.parametrize("kind", ["evaluate", "gradient"])
@pytest.mark.parametrize("text", ENDLESS)
def test_passes_end_where_an_index_leaves_its_array(text, kind):
    """What stands in place of the item that is not there would never end them."""
    polls: list[None] = []

    def poll() -> None:
        polls.append(None)
        assert len(polls) < 1000

    engine = Engine(backend=NativeBackend())
    values = {"v": Leaf(np.full(7, 0.1)), "m": Leaf(np.full((3, 4), 0.1))}
    for _ in range(2):
        with pytest.raises(BadArgument, match="out of range"):
            called(engine, text, values, kind).replay(poll)
