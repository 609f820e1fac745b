"""Small matrices in kernels: what LAPACK gives, with what it says of those that are singular."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradwire_engine import Leaf
from gradwire_engine.errors import EngineError
from gradwire_engine.kernels.matrix_steps import LARGEST
from gradwire_engine.ops.arrays.shape import Transpose
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.linalg.cholesky import Cholesky, Congruence
from gradwire_engine.ops.linalg.determinants import Cofactors, Det, LogAbsDet
from gradwire_engine.ops.linalg.solving import Inv, Solve, SolveTriangular
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tests.effort import examples
from tests.engine.kernels.tapes import Writer, apply, both, go_on, kernels, native
from tests.engine.kernels.test_loops import _Native, _Plain, asked, flat

ROWS = st.integers(1, LARGEST)
STACKS = st.lists(st.integers(1, 4), max_size=2).map(tuple)
SEEDS = st.integers(0, 2**32 - 1)
TRIANGULAR = [
    SolveTriangular(lower, adjoint, unit)
    for lower in (False, True)
    for adjoint in (False, True)
    for unit in (False, True)
]
OPS = [Cholesky(), Congruence(), Solve(), Inv(), Det(), LogAbsDet(), Cofactors(), *TRIANGULAR]


def matrices(op: Op, stack: tuple[int, ...], n: int, dtype: str, rng: Any) -> np.ndarray:
    """Some that the operation takes, the larger elements anywhere but for triangles."""
    a = rng.normal(size=(*stack, n, n))
    if isinstance(op, Cholesky):
        a = a @ np.swapaxes(a, -1, -2) + np.eye(n)
    if isinstance(op, SolveTriangular | Congruence):
        a = a / n + 2 * np.eye(n)
    return np.asarray(a, dtype)


def written(op: Op, a: Any, b: Any, *, turned: bool) -> Any:
    """A tape of the operation on what is computed and maybe transposed, and its inputs."""
    w = Writer()
    x = apply("negative", apply("negative", w.input(a)))
    if turned:
        axes = (*range(a.ndim - 2), a.ndim - 1, a.ndim - 2)
        x = Transpose(axes)(x)
    operands = [x] if b is None else [x, w.input(b)]
    return w.tape(op(*operands)), w.inputs


@pytest.mark.parametrize("op", OPS, ids=str)
@examples(25)
@given(stack=STACKS, other=STACKS, n=ROWS, m=ROWS, turned=st.booleans(), seed=SEEDS)
def test_matrices(op, stack, other, n, m, turned, seed):
    rng = np.random.default_rng(seed)
    dtype = rng.choice(["float64", "float64", "float32"])
    a = matrices(op, stack, n, dtype, rng)
    b = None
    if isinstance(op, Solve | SolveTriangular | Congruence):
        other = other if len(other) == len(stack) == 0 else stack[-1:] or other[:1]
        shape = (*other, n, n if isinstance(op, Congruence) else m)
        b = np.asarray(rng.normal(size=shape), dtype)
    tape, inputs = written(op, a, b, turned=turned)
    (found,), (expected,) = both(tape, inputs)
    condition = np.linalg.cond(np.asarray(a, float)).max(initial=1)
    rounding = 50 * np.finfo(dtype).eps * condition**2 * n
    scale = np.max(np.abs(expected), initial=1)
    assert_allclose(found, expected, rtol=rounding, atol=rounding * scale)


@examples(40)
@given(n=ROWS, seed=SEEDS)
def test_a_solution_leaves_as_little_as_lapacks(n, seed):
    """The rest of the equations, not the solution, is small however large the condition is."""
    rng = np.random.default_rng(seed)
    u, s, v = np.linalg.svd(rng.normal(size=(n, n)))
    a = (u * np.geomspace(1, rng.choice([1e-3, 1e-8, 1e-13]), n)) @ v * s[0]
    b = rng.normal(size=(n, 1))
    tape, inputs = written(Solve(), a, b, turned=False)
    (z,) = native(tape).replay(inputs, go_on).outputs
    rest = np.abs(a @ z - b).max()
    assert rest <= 20 * n * np.finfo(float).eps * (np.abs(a).sum(1).max() * np.abs(z).max())


@pytest.mark.parametrize("order", [[1, 0, 2], [2, 0, 1], [0, 2, 1], [2, 1, 0]])
def test_rows_change_places(order):
    """Zeros on the diagonal; the determinant of a permutation is its sign."""
    p = np.eye(3)[order]
    for op, expected in ((Inv(), p.T), (Det(), np.linalg.det(p)), (Cofactors(), None)):
        tape, inputs = written(op, p, None, turned=False)
        run = native(tape)
        (found,) = run.replay(inputs, go_on).outputs
        assert kernels(run)
        wanted = np.linalg.det(p) * np.linalg.inv(p).T if expected is None else expected
        assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("text", "a"),
    [
        ("sum(solve(-(-a), v))", np.ones((3, 3))),
        ("sum(inv(-(-a)))", np.zeros((3, 3))),
        ("sum(inv(-(-a)))", np.full((3, 3), np.nan)),
        ("det(-(-a))", np.ones((3, 3))),
        ("det(-(-a))", np.diag([1.0, np.inf, 2.0])),
        ("sum(solve_triangular(-(-a), v, lower=True))", np.diag([1.0, 0.0, 2.0])),
        ("sum(cholesky(-(-a)))", np.diag([1.0, -1.0, 2.0])),
        ("sum(cholesky(-(-a)))", np.diag([1.0, np.nan, 2.0])),
        ("sum(cholesky(-(-a)))", np.diag([1.0, np.inf, 2.0])),
    ],
)
def test_what_is_singular_is_answered_as_without(text, a):
    leaves = {"a": Leaf(a), "v": Leaf(np.arange(3.0))}
    answers = []
    for engine in (_Plain(), _Native()):
        try:
            answer = asked(engine, text, leaves).replay(go_on)
            answers.append([*flat(answer), str(answer.nonfinite)])
        except EngineError as error:
            answers.append([type(error).__name__, str(error)])
    plain, found = answers
    assert len(found) == len(plain)
    for x, y in zip(found, plain, strict=True):
        if isinstance(x, str):
            assert x == y
        else:
            assert_allclose(x, y, rtol=1e-12)


FILTER = """
x, p, cost = x0, p0, 0.0
for i in range(len(ys)):
  x = f @ x
  p = f @ p @ f.T + q
  s = h @ p @ h.T + r
  gain = solve(s, h @ p).T
  left = ys[i] - h @ x
  cost = cost + left @ solve(s, left) + slogdet(s)[1]
  x = x + gain @ left
  p = p - gain @ h @ p
cost
"""
SAMPLER = """
total = 0.0
for i in range(len(ys)):
  l = cholesky(q + 0.01 * i * p0)
  z = solve_triangular(l, x0 * ys[i, 0], lower=True)
  total = total + sum(z * z) + 2 * sum(log(diagonal(l)))
total
"""


@pytest.mark.thorough
@pytest.mark.parametrize("text", [FILTER, SAMPLER], ids=["filter", "sampler"])
@pytest.mark.parametrize("steps", [66, 200])
def test_matrices_in_loops(text, steps):
    """A Kalman filter's likelihood, and factors of covariances: all passes are machine code."""
    rng = np.random.default_rng(steps)
    a = rng.normal(size=(4, 4))
    leaves = {
        "f": np.eye(4) * 0.9 + a * 0.02,
        "h": rng.normal(size=(2, 4)),
        "q": a @ a.T * 0.1 + np.eye(4),
        "r": np.eye(2),
        "x0": rng.normal(size=4),
        "p0": np.eye(4),
        "ys": rng.normal(size=(steps, 2)),
    }
    given = {name: Leaf(value) for name, value in leaves.items() if f"{name}" in text}
    call = asked(_Native(), text, given)
    found = flat(call.replay(go_on))
    ops = [i.op.name for p in call.entry.paths for i in p.executable.replayed.instructions]
    assert "loop" not in ops
    expected = flat(asked(_Plain(), text, given).replay(go_on))
    for x, y in zip(found, expected, strict=True):
        assert_allclose(x, y, rtol=1e-9, atol=1e-10 * np.max(np.abs(y)))
