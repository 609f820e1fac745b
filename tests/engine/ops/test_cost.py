"""Predicted arithmetic is within a factor of 4 of what is done.

What NumPy does with arrays of Python objects is counted as it runs; what LAPACK and FFTs do is
compared with textbooks: Golub and Van Loan, Matrix Computations (2013), sections 1.1, 3.2, 4.2,
5.2, 8.3 and 8.6; Higham, Functions of Matrices (2008), section 10.3 and table 10.2.
"""

from math import log2

import numpy as np
import pytest
from gradwire_engine.autodiff.reverse import gradient
from gradwire_engine.check import Call, interpret, trace
from gradwire_engine.ops.base import FUNCTIONS

FACTOR = 4


class Counted:
    """A number that counts what is done with it."""

    done = 0

    def __init__(self, value: float) -> None:
        self.value = value

    def _with(self, other: object) -> "Counted":
        Counted.done += 1
        return Counted(self.value)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = _with
    __rtruediv__ = _with

    def __neg__(self) -> "Counted":
        return self._with(0)

    def conjugate(self) -> "Counted":
        return self


def counted(x):
    return np.vectorize(Counted, otypes=[object])(x) if x.dtype.kind == "f" else x


def array(*shape):
    return np.random.default_rng(4).normal(size=shape)


DENSE = [
    Call.of("matmul", array(20, 30), array(30, 40)),
    Call.of("matmul", array(3, 20, 30), array(30, 10)),
    Call.of("matmul", array(20, 30), array(30)),
    Call.of("dot", array(50), array(50)),
    Call.of("vdot", array(50), array(50)),
    Call.of("inner", array(5, 50), array(6, 50)),
    Call.of("outer", array(30), array(40)),
    Call.of("kron", array(6, 7), array(8, 9)),
    Call.of("tensordot", array(5, 6, 7), array(7, 6, 8), [[1, 2], [1, 0]]),
    Call.of("einsum", "bij,bjk->bik", array(3, 10, 12), array(3, 12, 14)),
    Call.of("einsum", "ij,jk,kl->il", array(10, 12), array(12, 14), array(14, 9)),
    Call.of("multi_dot", [array(10, 40), array(40, 5), array(5, 30)]),
    Call.of("matrix_power", array(12, 12), 5),
    Call.of("trace", array(30, 30)),
    Call.of("cross", array(30, 3), array(30, 3)),
    *[Call.of(name, array(20, 30), axis) for name in ("sum", "mean", "prod") for axis in (0, None)],
    Call.of("cumsum", array(20, 30), 0),
    Call.of("trapezoid", array(20, 30)),
    Call.of("diff", array(20, 30)),
    Call.of("convolve", array(60), array(20)),
    Call.of("conv", array(2, 4, 12, 12), array(6, 4, 3, 3)),
    Call.of("conv", array(2, 4, 12, 12), array(8, 2, 3, 3), groups=2),
    Call.of("conv", array(2, 4, 40), array(6, 4, 5), stride=2),
    Call.of("segment_sum", array(30, 20), np.arange(30) // 3, 10),
    Call.of("add", array(30, 40), array(40)),
    Call.of("multiply", array(30, 1), array(40)),
]


def instructions(b, outputs):
    """The instructions that the outputs need, less inputs and constants."""
    needed = {v.slot for v in outputs}
    for slot in range(len(b.vars) - 1, -1, -1):
        if slot in needed:
            needed.update(b.instructions[slot].args)
    return [b.instructions[slot] for slot in sorted(needed) if b.instructions[slot].args]


def predicted(b, outputs):
    return sum(
        op.flops(kind, *[b.vars[arg].type for arg in args])
        for op, args, kind, _ in instructions(b, outputs)
    )


def ids(calls):
    return [f"{call.function}-{i}" for i, call in enumerate(calls)]


@pytest.mark.parametrize("call", DENSE, ids=ids(DENSE))
@pytest.mark.parametrize("derived", [False, True], ids=["value", "value and gradient"])
def test_counted(call, derived):
    b, inputs, outputs = trace(call.record, call.values)
    if derived:
        outputs = [*outputs, *[x for x in gradient(b, outputs, inputs) if x is not None]]
    Counted.done = 0
    interpret(b.tape(outputs), [counted(x) for x in call.values])
    guess = predicted(b, outputs)
    assert Counted.done / FACTOR <= guess <= Counted.done * FACTOR, (guess, Counted.done)


N, M = 64, 200
SQUARE, TALL = array(N, N), array(M, N)
TEXTBOOK = [
    (Call.of("inv", SQUARE), 2 * N**3),
    (Call.of("solve", SQUARE, array(N, 10)), 2 / 3 * N**3 + 20 * N**2),
    (Call.of("solve_triangular", SQUARE, array(N, 10)), 10 * N**2),
    (Call.of("cholesky", SQUARE), N**3 / 3),
    (Call.of("det", SQUARE), 2 / 3 * N**3),
    (Call.of("slogdet", SQUARE), 2 / 3 * N**3),
    (Call.of("lu", SQUARE), 2 / 3 * N**3),
    (Call.of("qr", TALL), 2 * (2 * M * N**2 - 2 / 3 * N**3)),
    (Call.of("svd", TALL, False), 6 * M * N**2 + 20 * N**3),
    (Call.of("svdvals", TALL), 2 * M * N**2 + 2 * N**3),
    (Call.of("pinv", TALL), 6 * M * N**2 + 20 * N**3 + 2 * M * N**2),
    (Call.of("eigh", SQUARE), 9 * N**3),
    (Call.of("eigvalsh", SQUARE), 4 / 3 * N**3),
    (Call.of("eig", SQUARE), 25 * N**3),
    (Call.of("expm", SQUARE), (2 * 8 + 8 / 3) * N**3),
    (Call.of("logm", SQUARE), 25 * N**3 + 20 * N**3),
    (Call.of("sqrtm", SQUARE), 25 * N**3 + 4 * N**3),
    (Call.of("solve_banded", (1, 2), array(4, N), array(N)), 10 * N),
    (Call.of("fft.fft", array(1024) + 0j), 5 * 1024 * 10),
    (Call.of("fft.rfft", array(1024)), 2.5 * 1024 * 10),
    (Call.of("fft.fft2", array(32, 64) + 0j), 5 * 2048 * 11),
    (Call.of("fft.fft", array(100, 64) + 0j), 5 * 6400 * 6),
    (Call.of("sort", array(30, 256)), 30 * 256 * log2(256)),
]


@pytest.mark.parametrize(("call", "flops"), TEXTBOOK, ids=ids([call for call, _ in TEXTBOOK]))
def test_textbook(call, flops):
    b, _, outputs = trace(call.record, call.values)
    guess = predicted(b, outputs)
    assert flops / FACTOR <= guess <= flops * FACTOR, (guess, flops)


def test_costs_grow_with_the_batch():
    for name in ("inv", "det", "cholesky", "svdvals", "eigvalsh", "expm"):
        guesses = []
        for shape in ((8, 8), (5, 8, 8)):
            b, _, outputs = trace(FUNCTIONS[name].record, [array(*shape)])
            guesses.append(predicted(b, outputs))
        assert guesses[1] == pytest.approx(5 * guesses[0], rel=0.01), name
