"""NumPy's quickest contraction of two arrays: BLAS on views, or its loops where these are few.

Axes are of four kinds: those of the batch, which both operands and the result have, rows and
columns, which one operand has, and the inner ones, which are summed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache, partial, reduce
from operator import attrgetter, methodcaller
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gradwire_engine.backends.walk.functions import FUNCTIONS
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.tape import Shape

#: Along shorter rows, of which there are many, einsum is quicker than a call of BLAS for each.
_LONG, _MANY = 32, 2048
#: Fewest products of each of many vectors and matrices for which BLAS is called.
_FEWEST = 16
#: Of matrices with so many products BLAS is called for each, rather than for a copy of all.
_LARGE = 4096
#: The length of each label.
_Lengths: TypeAlias = Mapping[str, int]
#: Methods of arrays, and what each is given: views, or copies in another order.
_Steps: TypeAlias = tuple[tuple[str, tuple[int, ...]], ...]


class Lowering(NamedTuple):
    """NumPy's ``function`` of the operands and its result, all seen by these steps.

    It is the name of a function or of the method ``dot``, einsum's subscripts, or the axes that are
    added up after multiplying. ``swapped`` operands change places.
    """

    function: str | tuple[int, ...]
    left: _Steps = ()
    right: _Steps = ()
    result: _Steps = ()
    swapped: bool = False

    @property
    def writes(self) -> bool:
        """True if the result may be computed in given memory."""
        return self.function in ("dot", "matmul") and not self.result

    def bound(self) -> Callable[[Any, Any], Any]:
        """The function of two arrays."""
        left, right, result = map(_viewed, (self.left, self.right, self.result))
        product, swapped = _product(self.function), self.swapped
        if not (left or right or result or swapped):
            return product

        def contract(x: Any, y: Any) -> Any:
            if left is not None:
                x = left(x)
            if right is not None:
                y = right(y)
            z = product(y, x) if swapped else product(x, y)
            return z if result is None else result(z)

        return contract

    def writing(self) -> Callable[[Any, Any, Any], Any]:
        """The same of one that ``writes``, given the array that the result is put in, too."""
        left, right = _viewed(self.left), _viewed(self.right)
        product, swapped = getattr(np, self.function), self.swapped  # type: ignore[arg-type]

        def contract(x: Any, y: Any, out: Any) -> Any:
            x, y = left(x) if left else x, right(y) if right else y
            return product(y, x, out) if swapped else product(x, y, out)

        return contract


def _viewed(steps: _Steps) -> Callable[[Any], Any] | None:
    """The function that sees an array by these steps, if there are any."""
    made: list[Callable[[Any], Any]] = [
        attrgetter("T") if _is_turned(step) else methodcaller(*step) for step in steps
    ]
    return reduce(_after, made) if made else None


def _after(first: Callable[[Any], Any], then: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: then(first(x))


def _is_turned(step: tuple[str, tuple[int, ...]]) -> bool:
    method, given = step
    return method == "transpose" and given == (*reversed(range(len(given))),)


def _product(how: str | tuple[int, ...]) -> Callable[[Any, Any], Any]:
    """NumPy's function of what the operands are seen as."""
    if isinstance(how, tuple):
        return lambda x, y: np.add.reduce(x * y, how)
    if "->" in how:
        return partial(np.einsum, how)
    found: Callable[[Any, Any], Any] = _dot if how == "dot" else getattr(np, how)
    return found


def _dot(x: Any, y: Any) -> Any:
    """The array's own method, which does not look for other types of arrays first."""
    return x.dot(y)


@lru_cache(maxsize=4096)
def lowered(op: Contract, x: Shape, y: Shape, kind: str) -> Lowering:
    """The way to contract arrays of these shapes, and of a ``kind`` of dtype."""
    left, right, result = op.labels
    lengths = op.lengths(x, y)
    batch = "".join([i for i in result if i in left and i in right])
    if batch == result:
        return _of_like(op, lengths, kind)
    if not batch:
        return _of_matrices(op, lengths)
    return _of_stacks(op, lengths, batch)


def _of_like(op: Contract, lengths: _Lengths, kind: str) -> Lowering:
    """Sums of the products of elements, of arrays with the same labels."""
    left, right, result = op.labels
    count = _size(left, lengths)
    turn = _turned(right, left)
    if not result and (not turn or count <= _MANY):
        flat: _Steps = () if len(left) == 1 else (("reshape", (-1,)),)
        return Lowering("dot", flat, turn + flat)
    inner = left[len(result) :]
    rows = left == result + inner and len(inner) == 1 and not turn and kind == "f"
    if rows and (lengths[inner] >= _LONG or count <= _MANY):  # of complex rows it conjugates one
        return Lowering("vecdot")
    if count <= _MANY and result == "".join([i for i in left if i in result]):
        axes = tuple([n for n, i in enumerate(left) if i not in result])
        return Lowering(axes, (), turn)
    return Lowering(op.subscripts)


def _of_matrices(op: Contract, lengths: _Lengths) -> Lowering:
    """One product of matrices, or of a matrix and a vector."""
    left, right, result = op.labels
    rows, columns = ("".join([i for i in result if i in own]) for own in (left, right))
    inner = min(
        ["".join([i for i in own if i not in result]) for own in (left, right)],
        key=lambda order: (
            _copied(left, rows, order, lengths) + _copied(right, columns, order, lengths)
        ),
    )
    if _copied(left, rows, inner, lengths) or _copied(right, columns, inner, lengths):
        first = result[0]
        if _size(left + right, lengths) and math.prod(lengths.values()) >= _LARGE * lengths[first]:
            return _of_stacks(op, lengths, first)
    swapped = bool(rows and columns) and result == columns + rows
    x, y = (
        _as_matrix(own, *((outer, inner) if leads else (inner, outer)), lengths)
        for own, outer, leads in ((left, rows, not swapped), (right, columns, swapped))
    )
    made = columns + rows if swapped else rows + columns
    spread: _Steps = ()
    if len(rows) > 1 or len(columns) > 1:
        spread = (("reshape", _shape(made, lengths)),)
    return Lowering("dot", x, y, spread + _turned(made, result), swapped)


def _of_stacks(op: Contract, lengths: _Lengths, batch: str) -> Lowering:
    """A product of matrices for each element of the batch, which one operand may lack."""
    left, right, result = op.labels
    inner = "".join([i for i in left if i not in result])
    rows, columns = (
        "".join([i for i in result if i in own and i not in batch]) for own in (left, right)
    )
    least = min(_size(rows, lengths), _size(columns, lengths))
    if least == 1 and _size(inner + rows + columns, lengths) < _FEWEST:
        return Lowering(op.subscripts)
    x = _as_stack(left, batch, rows, inner, lengths)
    y = _as_stack(right, batch, inner, columns, lengths)
    made = batch + rows + columns
    spread: _Steps = ()
    if len(rows) != 1 or len(columns) != 1:
        spread = (("reshape", _shape(made, lengths)),)
    return Lowering("matmul", x, y, spread + _turned(made, result))


def _as_matrix(labels: str, first: str, second: str, lengths: _Lengths) -> _Steps:
    """An array as a matrix of these axes, or as a vector where either has none."""
    groups = [group for group in (first, second) if group]
    if labels == second + first and len(groups) == 2:
        return (*_as_matrix(labels, second, first, lengths), ("transpose", (1, 0)))
    shape = tuple([_size(group, lengths) for group in groups])
    merged: _Steps = () if len(labels) == len(groups) else (("reshape", shape),)
    return _turned(labels, first + second) + merged


def _as_stack(labels: str, batch: str, first: str, second: str, lengths: _Lengths) -> _Steps:
    """An array as matrices of these axes for each of the batch, of length 1 where it has none."""
    own = "".join([i for i in batch if i in labels])
    shape = tuple([lengths[i] if i in labels else 1 for i in batch]) if own else ()
    shape += (_size(first, lengths), _size(second, lengths))
    same = shape == _shape(own + first + second, lengths)
    return _turned(labels, own + first + second) + (() if same else (("reshape", shape),))


def _copied(labels: str, outer: str, inner: str, lengths: _Lengths) -> int:
    """The number of elements that are copied to make a matrix of an array."""
    return 0 if labels in (outer + inner, inner + outer) else _size(labels, lengths)


def _turned(labels: str, wanted: str) -> _Steps:
    return () if labels == wanted else (("transpose", tuple([labels.index(i) for i in wanted])),)


def _shape(labels: str, lengths: _Lengths) -> Shape:
    return tuple([lengths[i] for i in labels])


def _size(labels: str, lengths: _Lengths) -> int:
    return math.prod([lengths[i] for i in labels])


@FUNCTIONS.of(Contract)
def _(op: Contract) -> Callable[..., Any]:
    def contract(x: Any, y: Any) -> Any:
        return lowered(op, x.shape, y.shape, x.dtype.kind).bound()(x, y)

    return contract
