"""What the kernels of all operations are called with: in the samples and in their gradients."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np
from gradwire_engine.autodiff.reverse import gradient
from gradwire_engine.backends.base import evaluated
from gradwire_engine.backends.reference.backend import REFERENCE
from gradwire_engine.backends.reference.namespace import NUMPY
from gradwire_engine.check import Call, Recorded
from gradwire_engine.errors import EngineError
from gradwire_engine.loops.loop import Loop
from gradwire_engine.loops.stacks import Rows, Stacked
from gradwire_engine.ops.arrays.indexing import NonzeroIndices
from gradwire_engine.ops.arrays.placements import Placed
from gradwire_engine.ops.base import PRIMITIVES, SINGLETONS, Op
from gradwire_engine.ops.conversion import Rounded
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.linalg.determinants import CofactorsAlong, LogAbsDet, OfRegular
from gradwire_engine.ops.linalg.pivoting import OrderOfSwaps, SwapsOfOrder
from gradwire_engine.ops.patterns import FULL, Span
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.ops.random.keys import Key
from gradwire_engine.ops.requirements import Required
from gradwire_engine.ops.special.densities import LogBetaDensity, LogGammaDensity
from gradwire_engine.ops.special.distributions import LogStudentInDf
from gradwire_engine.polling import no_deadline
from gradwire_engine.tape import ArrayType

from tests.engine.ops.sampled import REAL, SAMPLES, in_dtype

#: Operations of the recorder and of tapes, whose kernels look at no elements.
STRUCTURE = frozenset(
    "add_stacks assigned block_argument by_formula constant copy guard held input item loop pack "
    "ruled stop_gradient taped vmap_placeholder".split()
)
#: Primitives of the engine, but for those that one backend has for itself, and structure.
COMPUTING = [
    name
    for name, op in PRIMITIVES.items()
    if op.__module__.startswith(("gradwire_engine.ops.", "gradwire_engine.loops."))
    and name not in STRUCTURE
]

_MATRIX = np.array([[2.0, -1.0, 0.5], [0.25, 3.0, 1.0], [1.0, 0.5, -4.0]])
#: Between neighbours in float16 and bfloat16, beyond both, and what is no number.
_TIES = np.array(
    [1 + k * 2.0**-n for k in (1, 3) for n in (8, 11)]
    + [-1.1, 3e-8, 1e-40, 65520.0, 3.4e38, -np.inf, np.nan, -0.0],
    np.float32,
)
#: Operations that are recorded for no sample, but by rules of the optimiser, in loops and laws, and
#: for higher derivatives.
OTHERS: Sequence[tuple[Op, Sequence[Any]]] = (
    (Contract("ab,bc->ca"), (_MATRIX, _MATRIX)),
    (Contract("ab,ab->b"), (_MATRIX, _MATRIX)),
    (Contract("ab,bc->ac"), (_MATRIX + 1j, _MATRIX - 2j)),
    (CofactorsAlong(), (_MATRIX, _MATRIX.T)),
    (OfRegular(), (_MATRIX,)),
    (LogAbsDet(), (np.stack([_MATRIX, _MATRIX.T + 1]),)),
    (NonzeroIndices(5), (_MATRIX > 0.5,)),
    (Placed(((FULL, Span(0, 3, None)), (FULL, Span(1, 4, None))), (4, 4)), (np.ones((4, 3)),) * 2),
    (Key(), (np.array([7.0, 8.0]),)),
    (Required("never", "nothing"), (_MATRIX, _MATRIX < 9)),
    (Rows(1), (_MATRIX,)),
    (Stacked(4, 1), ([_MATRIX[0], _MATRIX[1]],)),
    (OrderOfSwaps(3), (np.array([[2, 3, 3], [3, 2, 3]]),)),
    (SwapsOfOrder(3), (np.array([[1, 2, 0], [2, 1, 0]]),)),
    (LogGammaDensity(), (np.array([0.6, 70.0]), np.array([1e3, 2.5]))),
    (LogBetaDensity(), (np.array([0.6, 70.0]), np.array([30.0, 50.0]), np.array([-9.0, 1.5]))),
    *[(LogStudentInDf(n), (np.array([0.1, 30.0]), np.array([1e3, 2.5]))) for n in (1, 3)],
    *[(Rounded(DTYPES[name]), (_TIES,)) for name in ("float16", "bfloat16")],
)


@dataclass(frozen=True)
class KernelCall:
    """An operation, the arrays that its kernel is called with, and what NumPy's gives."""

    op: Op
    operands: Sequence[Any]
    result: Any

    @cached_property
    def kind(self) -> Any:
        """Calls of one kind differ in values only."""
        return self.op, tuple([_kind(x) for x in self.operands])

    @property
    def types(self) -> Sequence[ArrayType]:
        """The types of the operands that are arrays."""
        arrays = [x for x in self.operands if isinstance(x, np.ndarray | np.generic)]
        return [ArrayType(x.dtype, x.shape) for x in arrays]

    def __str__(self) -> str:
        return f"{self.op}({', '.join(map(str, self.kind[1]))})"


@cache
def kernel_calls() -> Sequence[KernelCall]:
    """One call of each kind, in double and single precision, and with complex numbers."""
    return [*calls_of(SAMPLES)]


def calls_of(samples: Iterable[Call]) -> Iterator[KernelCall]:
    """The same, of some samples."""
    seen = set()
    for sample in samples:
        for call in chain.from_iterable(map(_calls, _in_dtypes(sample))):
            if call.op.name not in STRUCTURE and call.kind not in seen:
                seen.add(call.kind)
                yield call
    for op, operands in OTHERS:
        with np.errstate(all="ignore"):
            result = REFERENCE.evaluate(op, no_deadline, *operands)
        yield KernelCall(op, operands, result)


#: Values at which functions differ between libraries, if anywhere.
EDGES = {
    "float64": [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 1e300, -1e300, 5e-324],
    "float32": [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 1e38, -1e38, 1e-45],
    "int64": [0, 1, -1, 7, -7, 63, 64, 2**63 - 1, -(2**63)],
    "int8": [0, 1, -1, 7, -7, 8, 127, -128],
    "uint8": [0, 1, 7, 8, 255],
    "bool": [False, True],
}
#: Operations along the last axis of matrices.
_ALONG = [PRIMITIVES[name](1) for name in "argmax argmin argsort cumsum sort".split()]
_ALONG += [PRIMITIVES[name]((1,)) for name in "all any max min prod sum".split()]


def edge_calls() -> Iterator[KernelCall]:
    """Functions of the namespace that are a whole kernel, and those along axes, at such values."""
    for dtype, listed in EDGES.items():
        values = np.array(listed, dtype)
        pairs = [x.ravel() for x in np.meshgrid(values, values)]
        for name, op in sorted(SINGLETONS.items()):
            if name in COMPUTING and op.elementwise and op.is_ufunc:
                nin = getattr(attrgetter(op.ufunc)(NUMPY), "nin", 1)
                yield from _if_taken(op, pairs[:nin] if nin == 2 else [values] * nin)
        for op in _ALONG:
            yield from _if_taken(op, [np.stack([values, values[::-1]])])
            yield from _if_taken(op, [values[3:].reshape(1, -1)])


def _if_taken(op: Op, operands: Sequence[Any]) -> Iterator[KernelCall]:
    try:
        op.infer(*[ArrayType(x.dtype, x.shape) for x in operands])
        with np.errstate(all="ignore"):
            result = REFERENCE.evaluate(op, no_deadline, *operands)
    except (EngineError, TypeError, ValueError):
        return
    yield KernelCall(op, operands, result)


def few_of_each(calls: Iterable[KernelCall], most: int) -> Iterator[KernelCall]:
    """At most so many calls of an operation with operands of the same dtypes."""
    counts: Counter[Any] = Counter()
    for call in calls:
        dtypes = call.op.name, tuple([str(kind).partition("[")[0] for kind in call.kind[1]])
        counts[dtypes] += 1
        if counts[dtypes] <= most:
            yield call


def _in_dtypes(sample: Call) -> Iterator[Call]:
    yield sample
    for dtype in ["float32"] if sample.function in REAL else ["float32", "complex128"]:
        yield in_dtype(sample, dtype)


def _calls(sample: Call) -> Iterator[KernelCall]:
    """The calls of a sample's kernels, and of its gradient's where it has one."""
    try:
        recorded = Recorded(sample.record, sample.values)
        bars = gradient(recorded.b, recorded.outputs, recorded.inputs)
    except EngineError:
        return
    tape = recorded.b.tape([*recorded.outputs, *[bar for bar in bars if bar is not None]])
    found: list[KernelCall] = []

    def evaluate(op: Op, *operands: Any) -> Any:
        z = REFERENCE.evaluate(op, no_deadline, *operands)
        if not isinstance(op, Loop):
            found.append(KernelCall(op, operands, z))
        return z

    with np.errstate(all="ignore"):
        for _ in evaluated(tape, recorded.values, range(len(tape.instructions)), evaluate):
            pass
    yield from found


def _kind(x: Any) -> Any:
    if isinstance(x, list | tuple):
        return tuple([_kind(item) for item in x])
    return f"{np.asarray(x).dtype.name}{list(np.shape(x))}"
