"""The gradient beside differences: both recorded on one tape, and compared once they are known."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from gradwire_engine.answer import Check, Query
from gradwire_engine.autodiff.matrices import for_seeds, stand_in
from gradwire_engine.autodiff.retrace import Retrace
from gradwire_engine.ops.arrays.diagonals import OnDiagonal
from gradwire_engine.ops.arrays.joining import Concatenate
from gradwire_engine.ops.arrays.shape import reshape
from gradwire_engine.ops.base import FUNCTIONS, Op
from gradwire_engine.ops.boundaries import CustomVjp
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.constants import Assigned, Copy, Item, StopGradient, UnrecordedPath
from gradwire_engine.ops.loops import Loop
from gradwire_engine.ops.promotion import finfo
from gradwire_engine.tape import ArrayType
from gradwire_engine.traversal import ancestors

#: Of larger sources, and of those after so many elements, only a random direction is compared.
_MOST_ELEMENTS, _MOST_IN_ALL = 256, 1024
#: Derivatives to be compared, of those of a query, by the source's path.
BESIDE = "beside"
_DOUBLE = np.dtype(np.float64)


class Differences:
    """Records central differences of ``f = Re Σ_t t_barᴴ t``, whose gradient is the target's.

    Of fourth order: ``(8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h``, where elements are moved by
    ``step`` times their size, or times one if that is larger. Source: DLMF 3.4.15.
    """

    def __init__(
        self, b: Builder, targets: Sequence[Var], bars: Sequence[Var], step: float | None
    ) -> None:
        self.b = b
        pairs = zip(targets, bars, strict=True)
        self.pairs = [(t, bar) for t, bar in pairs if t.type.differentiable]
        self.held = _held(b, [t for t, _ in self.pairs])
        self.step = step
        self.left = _MOST_IN_ALL

    def beside(self, gradient: Var | None, group: Sequence[Var]) -> dict[str, list[Var | None]]:
        """The inputs of ``judged``, for a source whose variables are ``group``."""
        b, x = self.b, group[0]
        b.origin = min(b.origin, ~b.origin)
        size = b.cast(_call("maximum", _call("abs", x), 1.0), x.dtype)
        precision = max(_precision(v) for v in [x, *[t for t, _ in self.pairs]])
        step = self.step or precision**0.2  # the error of the formula about that of rounding
        whole = [_call("sum", _call("abs", _paired(*pair))) for pair in self.pairs]
        rounding = reduce(add, whole, b.scalar(0, _DOUBLE)) * (10 * precision / step)
        known: list[Var | None] = [rounding, b.constant(np.float64(precision))]
        count = x.type.size
        if not 0 < count <= min(_MOST_ELEMENTS, self.left):
            direction = _drawn(x) * size
            along = reshape(self._slopes(group, reshape(direction, (1, *x.shape)), step), ())
            zero = b.full(0, ArrayType(_DOUBLE, x.shape))
            terms = zero if gradient is None else _paired(direction, gradient)
            largest = _call("sum", _call("abs", terms))
            return {"direction": [_call("sum", terms), along, largest, *known]}
        self.left -= count
        units = OnDiagonal(count, count, 0)(reshape(size, (count,)))
        moves = Concatenate(0)(units, units * 1j) if x.dtype.kind == "c" else units
        slopes = b.cast(self._slopes(group, reshape(moves, (-1, *x.shape)), step), x.dtype)
        real, *imaginary = _call("split", slopes, moves.shape[0] // count)
        elements = reshape(real + imaginary[0] * 1j if imaginary else real, x.shape) / size
        return {"elements": [gradient, elements, _call("max", _call("abs", elements)), *known]}

    def _slopes(self, group: Sequence[Var], moves: Var, step: float) -> Var:
        """``∂f(x + s m) / ∂s`` at 0 for each of ``moves``."""
        h = moves * step
        values = self._values(group, Concatenate(0)(h, -h, h * 2, h * -2))
        right, left, far_right, far_left = _call("split", values, 4)
        slopes: Var = ((right - left) * 8 - (far_right - far_left)) / (12 * step)
        return slopes

    def _values(self, group: Sequence[Var], moves: Var) -> Var:
        """``f`` where the source, all its variables together, is moved by each of ``moves``."""
        b, by = self.b, stand_in(group[0])
        moved = _Moved({**self.held, **{var: var + by for var in group}})
        parts = [_call("sum", _paired(moved(target), bar)) for target, bar in self.pairs]
        (values,) = for_seeds([reduce(add, parts, b.scalar(0, _DOUBLE))], by, moves)
        assert values is not None
        return values


class _Moved(Retrace):
    """The recording repeated from moved sources; a program's own rules are of what they replace."""

    def again(self, slot: int, op: Op, operands: Sequence[Var]) -> Var:
        """Record for a derivative's sake."""
        b = operands[0].builder
        b.origin = min(b.origin, ~b.origin)
        whole = b.instructions[operands[0].slot]
        if isinstance(op, Item) and isinstance(whole.op, CustomVjp):
            return b.vars[whole.args[op.index]]
        return op(*operands)


def _held(b: Builder, targets: Sequence[Var]) -> dict[Var, Var]:
    """The values that derivatives of ``targets`` take as constant, each mapped to itself.

    Not what a rule of the program's own is for: the rule stands for its derivative.

    Raises: ``UnrecordedPath``, where each pass of a loop has a value of its own to hold.
    """
    found: dict[int, Var] = {}
    for slot in sorted(ancestors(b.instructions, [x.slot for x in targets])):
        op, args, _, _ = b.instructions[slot]
        if isinstance(op, StopGradient | Assigned):
            found[slot] = b.vars[slot]
        if isinstance(op, Loop) and _holds(op):
            raise UnrecordedPath
        behind = [*args[: op.count]] if isinstance(op, CustomVjp) else []
        while behind:
            before = b.instructions[at := behind.pop()]
            if isinstance(before.op, StopGradient | Copy):
                found.pop(at, None)
                behind += before.args
    return {var: var for var in found.values()}


def _holds(loop: Loop) -> bool:
    inside = [made.op for made in loop.body.tape.instructions]
    return any(isinstance(x, StopGradient) or (isinstance(x, Loop) and _holds(x)) for x in inside)


def judged(derivatives: dict[str, Any], query: Query) -> dict[str, Check]:
    """Take what is to be compared out of the derivatives, and say how it compares.

    Without a gradient, zeros are compared. What is not finite agrees with nothing. Of many
    examples, the one that differs most from what it may counts.
    """
    checks: dict[str, Check] = {}
    for path, recorded in derivatives.pop(BESIDE).items():
        ((kind, (gradient, differences, largest, rounding, precision)),) = recorded.items()
        rtol = precision**0.4 if query.rtol is None else query.rtol
        atol = precision**0.5 if query.atol is None else query.atol
        gradient = np.float64(0) if gradient is None else gradient
        errors = np.asarray(np.abs(np.subtract(differences, gradient)), np.float64)
        errors = np.where(np.isfinite(errors), errors, np.inf)
        allowed = np.nan_to_num(atol + rtol * largest + rounding, nan=0, posinf=0)
        excess = (errors.T - allowed).T  # an example's for each of its elements
        at = np.unravel_index(np.argmax(excess), errors.shape)
        place = tuple([int(i) for i in at]) if kind == "elements" or query.batch else None
        checks[path] = Check(bool(excess[at] <= 0), float(errors[at]), place)
    return checks


def _call(name: str, x: Var, *args: Any) -> Any:
    return FUNCTIONS[name].record(x.builder, x, *args)


def _drawn(like: Var) -> Var:
    """Numbers between -1 and 1 in the shape of ``like``, the same ones every time."""
    b = like.builder
    keys = (0, 1) if like.dtype.kind == "c" else (0,)
    drawn = [_call("random.uniform", b.constant(np.int64(key)), like.shape) for key in keys]
    real, *imaginary = [b.cast(u * 2 - 1, like.dtype) for u in drawn]
    return real + imaginary[0] * 1j if imaginary else real


def _paired(x: Var, y: Var) -> Var:
    """``Re x* y`` for each element, in double precision."""
    product: Var = _call("real", _call("multiply", _call("conj", x), y))
    return x.builder.cast(product, _DOUBLE)


def _precision(x: Var) -> float:
    return float(finfo(x.dtype).eps)
