"""Computation of stored values: by which loops, along which axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gradwire_engine.kernels.form import COMPLEX, FLOATS
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.reductions.reductions import Max, Min, Reduction, Sum
from gradwire_engine.tape import ArrayType, Shape

#: The reductions that nests know, by their kinds.
REDUCTIONS: Mapping[type[Op], str] = {Sum: "sum", Max: "max", Min: "min"}


def is_reduction(op: Op, kind: ArrayType, types: Sequence[ArrayType]) -> bool:
    """True if an operation is a reduction that nests know: of floating numbers, of some."""
    if not isinstance(op, Contract) and type(op) not in REDUCTIONS:
        return False
    if isinstance(op, Reduction) and not op.axes:
        return False
    chars = FLOATS if isinstance(op, Reduction) and type(op) is not Sum else FLOATS + COMPLEX
    return kind.dtype.char in chars and all(t.dtype == kind.dtype and t.size for t in types)


def is_like(op: Op) -> bool:
    """True if an operation adds up products of elements at the same index, as a reduction does."""
    if not isinstance(op, Contract):
        return False
    left, right, result = op.labels
    return left == right and len(result) < len(left)


class StoredOutput(NamedTuple):
    """The computation of a stored value: in a nest of these loops, the first ``kept`` outside.

    Loop k goes along axis ``axes[k]`` of the value, of a reduction along one of its operand, of a
    contraction along ``labels[k]``. One of unlike arrays has no ``axes``.
    """

    level: int
    lengths: Shape
    kept: int
    axes: tuple[int, ...]
    labels: str = ""
    #: Whether passes along the last loop carry values on.
    scans: bool = False

    @property
    def whole(self) -> Shape:
        """The lengths of the axes that loops go along."""
        lengths = [0] * len(self.axes)
        for axis, length in zip(self.axes, self.lengths, strict=True):
            lengths[axis] = length
        return tuple(lengths)


def stored_output(
    op: Op, kind: Shape, shapes: Sequence[Shape], level: int, *, scans: bool
) -> StoredOutput:
    """The computation of an operation's result, of shape ``kind``, from operands of ``shapes``."""
    if isinstance(op, Contract):
        lengths = op.lengths(*shapes)
        result = op.labels.result
        labels = result + "".join([label for label in lengths if label not in result])
        shape = tuple([lengths[label] for label in labels])
        axes = tuple([op.labels.left.index(i) for i in labels]) if is_like(op) else ()
        return StoredOutput(level, shape, len(result), axes, labels)
    if isinstance(op, Reduction):
        shape = shapes[0]
        kept = [axis for axis in range(len(shape)) if axis not in op.axes]
        axes = (*kept, *op.axes)
        return StoredOutput(level, tuple([shape[a] for a in axes]), len(kept), axes)
    n = len(kind)
    if scans:
        last: int = op.axis  # type: ignore[attr-defined]
        order = (*[axis for axis in range(n) if axis != last], last)
        return StoredOutput(level, tuple([kind[axis] for axis in order]), n - 1, order, scans=True)
    return StoredOutput(level, kind, n, tuple(range(n)))
