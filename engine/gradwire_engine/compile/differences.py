"""The gradient beside differences: both recorded on one tape, and compared once they are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from gradwire_engine.optimize.half_precision import touched, unrounded, wide
from gradwire_engine.tape import ArrayType, StackType
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

    Of float16 and bfloat16, ``f`` is computed in float32 and not rounded, which would give it steps
    of about the size of the differences.
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
        b, x = self.b, _in_single(group[0])
        b.origin = min(b.origin, ~b.origin)
        size = b.cast(_call("maximum", _call("abs", x), 1.0), x.dtype)
        by = stand_in(x)
        moved = _Moved({**self.held, **{var: _in_single(var) + by for var in group}})
        value = self._sum([_paired(moved(target), bar) for target, bar in self.pairs])
        kinds = [group[0].type, *[target.type for target, _ in self.pairs], *moved.kinds]
        precision = max(map(_precision, map(wide, kinds)))
        step = self.step or precision**0.2  # the error of the formula about that of rounding
        whole = self._sum([_call("abs", _paired(*pair)) for pair in self.pairs])
        rounding = whole * (10 * precision / step)
        known: list[Var | None] = [rounding, b.constant(np.float64(max(map(_precision, kinds))))]
        count = x.type.size
        if not 0 < count <= min(_MOST_ELEMENTS, self.left):
            direction = _drawn(x) * size
            move = reshape(direction, (1, *x.shape))
            along = reshape(_slopes(value, by, move, step), ())
            zero = b.full(0, ArrayType(_DOUBLE, x.shape))
            terms = zero if gradient is None else _paired(direction, gradient)
            largest = _call("sum", _call("abs", terms))
            return {"direction": [_call("sum", terms), along, largest, *known]}
        self.left -= count
        units = OnDiagonal(count, count, 0)(reshape(size, (count,)))
        moves = Concatenate(0)(units, units * 1j) if x.dtype.kind == "c" else units
        found = _slopes(value, by, reshape(moves, (-1, *x.shape)), step)
        real, *imaginary = _call("split", b.cast(found, x.dtype), moves.shape[0] // count)
        elements = reshape(real + imaginary[0] * 1j if imaginary else real, x.shape) / size
        return {"elements": [gradient, elements, _call("max", _call("abs", elements)), *known]}

    def _sum(self, parts: Sequence[Var]) -> Var:
        return reduce(add, [_call("sum", x) for x in parts], self.b.scalar(0, _DOUBLE))


class _Moved(Retrace):
    """The recording repeated from moved sources; a program's own rules are of what they replace.

    float16 and bfloat16 are float32 there, also in the stacks that loops read.
    """

    def __init__(self, others: Mapping[Var, Var]) -> None:
        super().__init__(others)
        self.first = 0
        #: The types on the way from the sources.
        self.kinds: set[ArrayType | StackType] = set()

    def differs(self, slot: int) -> bool:
        """True also of stacks and loops of half precision: no instruction converts these."""
        kind = self._instructions[slot].type
        return super().differs(slot) or not (isinstance(kind, ArrayType) or wide(kind) == kind)

    def again(self, slot: int, op: Op, operands: Sequence[Var]) -> Var:
        """Record for a derivative's sake."""
        b = operands[0].builder
        b.origin = min(b.origin, ~b.origin)
        whole = b.instructions[operands[0].slot]
        if isinstance(op, Item) and isinstance(whole.op, CustomVjp):
            return b.vars[whole.args[op.index]]
        _, args, kind, _ = self._instructions[slot]
        kinds = [kind, *[self._instructions[arg].type for arg in args]]
        self.kinds.update(touched(op, kinds))
        return unrounded(op, kinds)(*map(_in_single, operands))


def _slopes(value: Var, by: Var, moves: Var, step: float) -> Var:
    """``∂ value / ∂ s`` at 0 where ``by`` is ``s m``, for each of the ``moves`` m."""
    h = moves * step
    (values,) = for_seeds([value], by, Concatenate(0)(h, -h, h * 2, h * -2))
    assert values is not None
    right, left, far_right, far_left = _call("split", values, 4)
    slopes: Var = ((right - left) * 8 - (far_right - far_left)) / (12 * step)
    return slopes


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


def _in_single(x: Var) -> Var:
    """``x`` as float32 if it is float16 or bfloat16, else itself."""
    kind = wide(x.type)
    return x.builder.cast(x, kind.dtype) if isinstance(kind, ArrayType) else x


def _paired(x: Var, y: Var) -> Var:
    """``Re x* y`` for each element, in double precision."""
    b = x.builder
    x, y = [b.cast(v, np.result_type(wide(v.type).dtype, _DOUBLE)) for v in (x, y)]
    product: Var = _call("real", _call("multiply", _call("conj", x), y))
    return product


def _precision(kind: ArrayType | StackType) -> float:
    return float(finfo(kind.dtype).eps) if kind.differentiable else 0.0
