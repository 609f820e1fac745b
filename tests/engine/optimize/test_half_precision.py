"""float16 and bfloat16 are computed in float32, and each result is rounded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from gradwire_engine.answer import Leaf
from gradwire_engine.backends.reference.backend import REFERENCE
from gradwire_engine.backends.walk.backend import NUMPY_BACKEND
from gradwire_engine.engine import Engine
from gradwire_engine.loops.loop import Loop
from gradwire_engine.loops.stacks import AddStacks
from gradwire_engine.ops.constants import Input
from gradwire_engine.ops.conversion import AsType, Rounded
from gradwire_engine.ops.halves import HALVES
from gradwire_engine.optimize.half_precision import in_single
from gradwire_engine.tape import Instruction, Tape
from numpy.testing import assert_allclose

from tests.engine.conftest import called

BACKENDS = [REFERENCE, NUMPY_BACKEND]
dtypes = pytest.mark.parametrize("dtype", HALVES, ids=str)
backends = pytest.mark.parametrize("backend", BACKENDS, ids=lambda backend: backend.name)


def call(text, values, backend, kind="evaluate"):
    engine = Engine(backend=backend)
    leaves = {name: Leaf(np.asarray(x)) for name, x in values.items()}
    return called(engine, text, leaves, kind)


def value(text, values, backend):
    """Of the third replay: walked, generated, and once more."""
    asked = call(text, values, backend)
    return [asked.replay(lambda: None).value for _ in range(3)][-1]


ARITHMETIC = {
    "x + y": lambda x, y: x + y,
    "x - y": lambda x, y: x - y,
    "x * y": lambda x, y: x * y,
    "x / y": lambda x, y: x / y,
    "sqrt(abs(x))": lambda x, y: np.sqrt(np.abs(x)),
    "x * 0.1 + y": lambda x, y: x * x.dtype.type(0.1) + y,
    "where(x > y, x, -y)": lambda x, y: np.where(x > y, x, -y),
    "maximum(x, y)[::-1]": lambda x, y: np.maximum(x, y)[::-1],
}


@dtypes
@backends
@pytest.mark.parametrize("text", ARITHMETIC)
def test_each_operation_is_rounded_as_numpy_and_ml_dtypes_do(text, backend, dtype):
    rng = np.random.default_rng(len(text))
    bits = rng.integers(0, 1 << 16, (2, 4000), dtype=np.uint16)
    with np.errstate(all="ignore"):
        x, y = (row[np.isfinite(row)] for row in bits.view(dtype))
    n = min(len(x), len(y))
    x, y = x[:n], y[:n]
    got = value(text, {"x": x, "y": y}, backend)
    with np.errstate(all="ignore"):
        expected = ARITHMETIC[text](x, y)
    assert got.dtype == expected.dtype == dtype
    numbers = ~np.isnan(expected)
    assert np.array_equal(np.isnan(got), ~numbers)
    assert got[numbers].tobytes() == expected[numbers].tobytes()


@dtypes
@backends
def test_sums_and_products_are_rounded_once(backend, dtype):
    """Added up in bfloat16, ones come to 256 at most, in float16 to 2048."""
    ones = {"x": np.ones(4096, dtype), "y": np.ones((3, 4096), dtype)}
    assert value("sum(x)", ones, backend) == 4096
    assert value("y @ x", ones, backend).tolist() == [4096] * 3


@pytest.mark.thorough
@dtypes
def test_gradients_are_those_of_pytorch(dtype):
    """But for a unit in the last place: PyTorch rounds some intermediates elsewhere."""
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(3)
    shapes = {"x": (16, 8), "w": (8, 5), "v": (5, 1)}
    values = {name: rng.normal(size=shape).astype(dtype) for name, shape in shapes.items()}
    asked = call("mean((tanh(x @ w) @ v) ** 2)", values, NUMPY_BACKEND, "gradient")
    kind = getattr(torch, dtype.name)
    tensors = {name: torch.tensor(x.astype(float), dtype=kind) for name, x in values.items()}
    for tensor in tensors.values():
        tensor.requires_grad_()
    ((tensors["x"] @ tensors["w"]).tanh() @ tensors["v"]).square().mean().backward()
    for name, gradient in asked.replay(lambda: None).gradients.items():
        assert gradient.dtype == dtype
        theirs = tensors[name].grad.double().numpy()
        largest = np.abs(theirs).max()
        eps = {"float16": 2.0**-10, "bfloat16": 2.0**-7}[dtype.name]
        assert_allclose(gradient.astype(float), theirs, atol=4 * eps * largest)


PROGRAMS = [
    "sum(tanh(x) * x[::-1])",
    "s = x[0]\nfor i in range(50):\n  s = s * 0.9 + sin(s)\ns * x",
    "s = x[0]\nwhile s < 100:\n  s = s * 1.5 + 1\ns",
    "q, r = linalg.qr(astype(x[:4], 'float32').reshape(2, 2))\nastype(q, x.dtype) @ x[:2]",
    "random.uniform(3, (4,), dtype=x.dtype) + x[:4]",
    "checkpoint(lambda a: sin(a) * a)(x)",
    "custom_gradient(lambda x: x * x, lambda z_bar, z, x: 3 * z_bar)(x)",
    "vmap(custom_gradient(lambda x: x * x, lambda z_bar, z, x: 3 * z_bar))(x)",
    "[x, x + 1, stop_gradient(x), astype(x, 'float64'), astype(x, 'int32')]",
]


def instructions(tape: Tape) -> Iterator[Instruction]:
    for instruction in tape.instructions:
        yield instruction
        if isinstance(instruction.op, Loop):
            yield from instructions(instruction.op.body.tape)


@dtypes
@pytest.mark.parametrize("text", PROGRAMS)
def test_only_ends_have_the_dtype(text, dtype):
    x = np.linspace(0.1, 2, 8).astype(dtype)
    asked = call(text, {"x": x}, NUMPY_BACKEND)
    expected = asked.replay(lambda: None).value
    tape = asked.entry.paths[0].tiers.executable.tape
    for op, _, kind, _ in instructions(tape):
        if isinstance(op, Input | AsType):
            continue
        assert dtype not in (getattr(kind, "dtype", None), getattr(op, "dtype", None)) or (
            op.name == "rounded"
        )
    reference = call(text, {"x": x}, REFERENCE).replay(lambda: None).value

    def alike(one: Any, other: Any) -> bool:
        if isinstance(one, list):
            return all(map(alike, one, other))
        return bool(one.dtype == other.dtype and one.tobytes() == other.tobytes())

    assert alike(expected, reference)


#: Two gradients of a loop: of the backward loops both read the stack of its carries.
TWO_GRADIENTS = "g = grad(sum(s), x)\nh = grad(sum(s**2), w)\nsum(g**2) * h"
READ_TWICE = {
    "lists": "s = x\nk = 0\nwhile k < n:\n  s = s / (1 + s * w)\n  k = k + 1\n",
    "arrays": "s = x\nfor k in range(200):\n  s = s / (1 + s * w)\n  if k == n:\n    s = s * 0.5\n",
}


@pytest.mark.thorough
@dtypes
@pytest.mark.parametrize("name", READ_TWICE)
def test_sums_of_what_loops_read_are_rounded_like_other_sums(name, dtype):
    values = {"x": np.array([0.2, 0.5], dtype), "w": np.array(0.125, dtype), "n": np.int64(6)}
    found = []
    for backend in BACKENDS:
        asked = call(READ_TWICE[name] + TWO_GRADIENTS, values, backend, "gradient")
        gradients = [asked.replay(lambda: None).gradients for _ in range(3)][-1]
        assert all(np.isfinite(gradients[name].astype(float)).all() for name in "xw")
        assert gradients["x"].all()
        found.append([gradients[name].tobytes() for name in "xw"])
        tape = asked.entry.paths[0].tiers.executable.tape
        ops = [instruction.op for instruction in instructions(tape)]
        after = [ops[number + 1] for number, op in enumerate(ops) if isinstance(op, AddStacks)]
        assert after == [Rounded(dtype)]
    assert found[0] == found[1]


def test_tapes_without_them_stay_as_they_are():
    asked = call("sum(x * x)", {"x": np.ones(3)}, NUMPY_BACKEND)
    asked.compile(lambda: None)
    tape = asked.entry.paths[0].tiers.executable.tape
    assert in_single(tape, lambda: None) is tape
