"""The gradient beside differences: both recorded on one tape, and compared once they are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from math import log2
from operator import add
from typing import Any

import numpy as np

from gradwire_engine.answer import Check, Query
from gradwire_engine.autodiff.matrices import stand_in
from gradwire_engine.batching.retrace import Retrace
from gradwire_engine.diagnose.slopes import Estimate, Moves, slopes
from gradwire_engine.loops.loop import Loop
from gradwire_engine.ops.arrays.diagonals import OnDiagonal
from gradwire_engine.ops.arrays.joining import Concatenate
from gradwire_engine.ops.arrays.shape import reshape
from gradwire_engine.ops.base import FUNCTIONS, Op
from gradwire_engine.ops.boundaries import CustomVjp
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.constants import Assigned, Copy, Item, StopGradient, UnrecordedPath
from gradwire_engine.ops.promotion import finfo
from gradwire_engine.optimize.half_precision import touched, unrounded, wide
from gradwire_engine.tape import ArrayType, StackType
from gradwire_engine.traversal import ancestors

#: Of larger sources, and of those after so many elements, only a random direction is compared.
_MOST_ELEMENTS, _MOST_IN_ALL = 256, 1024
#: Derivatives to be compared, of those of a query, by the source's path.
BESIDE = "beside"
#: The steps: powers of two near the precision to these, so that few moves are rounded. By the
#: first, the error of the formula is about that of rounding; smaller ones are for fast functions,
#: and beside kinks and jumps.
_POWERS = (0.2, 0.3, 0.4)
_DOUBLE = np.dtype(np.float64)
_UNIT = ArrayType(_DOUBLE, (1,))


class Differences:
    """Records differences of ``f = Re Σ_t t_barᴴ t``, whose gradient is the target's.

    Elements are moved by a step times their size, or times one if that is larger. Where the
    ``query`` wants several steps, these are also taken times the size or one, whichever is smaller.

    Of float16 and bfloat16, ``f`` is computed in float32 and not rounded, which would give it steps
    of about the size of the differences. So is the gradient once more, and that one is compared.
    """

    def __init__(
        self,
        b: Builder,
        targets: Sequence[Var],
        bars: Sequence[Var],
        start: int,
        query: Query,
    ) -> None:
        self.b = b
        pairs = zip(targets, bars, strict=True)
        self.pairs = [(t, bar) for t, bar in pairs if t.type.differentiable]
        self.held = _held(b, [t for t, _ in self.pairs])
        #: The slot from which on gradients are recorded.
        self.start = start
        #: The only step, unless it is to be chosen.
        self.step = query.step
        self.several = query.several
        self.left = _MOST_IN_ALL

    def beside(self, gradient: Var | None, group: Sequence[Var]) -> dict[str, list[Var | None]]:
        """The inputs of ``judged``, for a source whose variables are ``group``."""
        b, x = self.b, _in_single(group[0])
        b.origin = min(b.origin, ~b.origin)
        by = stand_in(x)
        moved = _Moved({**self.held, **{var: _in_single(var) + by for var in group}})
        value = self._sum([_paired(moved(target), bar) for target, bar in self.pairs])
        kinds = [group[0].type, *[target.type for target, _ in self.pairs], *moved.kinds]
        precision = max(map(_precision, map(wide, kinds)))
        powers = _POWERS if self.several else _POWERS[:1]
        steps = [self.step] if self.step else [2 ** round(p * log2(precision)) for p in powers]
        rounding = self._sum([_call("abs", _paired(*pair)) for pair in self.pairs])
        rounding = rounding * (10 * precision)
        given = b.full(0, group[0].type) if gradient is None else gradient
        exact = given
        if any(wide(kind) != kind for kind in kinds):
            unmoved = {**self.held, **{var: _in_single(var) for var in group}}
            exact = _Moved(unmoved, self.start)(given)
        least = _call("abs", x)
        size = b.cast(_call("maximum", least, 1.0), x.dtype)
        least = _call("where", _call("equal", least, 0), 1.0, _call("minimum", least, 1.0))
        least = b.cast(least, x.dtype)
        known = b.constant(np.float64(precision))
        count = x.type.size
        if not 0 < count <= min(_MOST_ELEMENTS, self.left):
            direction = _drawn(x) * size
            row, unit = reshape(direction, (1, *x.shape)), b.full(1, _UNIT)
            moves = [Moves(row, unit, steps)]
            if count and self.several:
                part = _call("min", _call("real", least / size))
                moves.append(Moves(row * part, unit * b.cast(part, _DOUBLE), steps))
            found = _shaped(slopes(value, by, moves, rounding), b.scalar(0, _DOUBLE))
            terms = [_paired(direction, bar) for bar in (given, exact)]
            norm = _call("sqrt", _call("sum", terms[1] * terms[1]))
            return {"direction": [*[_call("sum", each) for each in terms], *found, known, norm]}
        self.left -= count
        moves = [self._singly(each, steps) for each in ((size, least) if self.several else (size,))]
        found = _shaped(slopes(value, by, moves, rounding), x)
        return {"elements": [given, exact, *found, known, None]}

    def _singly(self, size: Var, steps: Sequence[float]) -> Moves:
        """Moves of one element in each row, by its ``size``; imaginary ones follow real ones."""
        count = size.type.size
        size = reshape(size, (count,))
        rows, lengths = OnDiagonal(count, count, 0)(size), self.b.cast(_call("real", size), _DOUBLE)
        if size.dtype.kind == "c":
            rows = Concatenate(0)(rows, rows * 1j)
            lengths = Concatenate(0)(lengths, lengths)
        return Moves(rows, lengths, steps)

    def _sum(self, parts: Sequence[Var]) -> Var:
        return reduce(add, [_call("sum", x) for x in parts], self.b.scalar(0, _DOUBLE))


class _Moved(Retrace):
    """The recording repeated from moved sources; a program's own rules are of what they replace.

    float16 and bfloat16 are float32 there, also in the stacks that loops read.
    """

    def __init__(self, others: Mapping[Var, Var], start: int | None = None) -> None:
        super().__init__(others)
        self.first = 0
        #: The slot from which on nothing is rounded, wherever it comes from.
        self.start = start
        #: The types on the way from the sources.
        self.kinds: set[ArrayType | StackType] = set()

    def differs(self, slot: int) -> bool:
        """True also of stacks and loops of half precision: no instruction converts these."""
        _, args, kind, _ = self._instructions[slot]
        halves = wide(kind) != kind
        if self.start is not None and slot >= self.start and args and halves:
            return True
        return super().differs(slot) or (halves and not isinstance(kind, ArrayType))

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


def _shaped(found: Estimate, like: Var) -> list[Var]:
    """The estimate in the shape of ``like``: a slope, its doubt, and the two parts of that."""
    parts: list[Any] = [like.builder.cast(found.slope, like.dtype), *found[1:]]
    if like.dtype.kind == "c":
        (real, imaginary), *doubts = [_call("split", each, 2) for each in parts]
        parts = [real + imaginary * 1j, *[one + other for one, other in doubts]]
    return [reshape(each, like.shape) for each in parts]


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


@np.errstate(invalid="ignore", over="ignore")
def judged(derivatives: dict[str, Any], query: Query) -> dict[str, Check]:
    """Take what is to be compared out of the derivatives, and say how it compares.

    Without a gradient, zeros are compared. What is not finite agrees with nothing. What disagrees
    is wrong by more than the doubt about a slope that differs little between steps, but for a kink.
    Of many elements and examples, the worst one counts.
    """
    checks: dict[str, Check] = {}
    for path, recorded in derivatives.pop(BESIDE).items():
        ((kind, found),) = recorded.items()
        gradient, exact, slope, doubt, kink, rounding, precision, largest = found
        rtol = precision**0.4 if query.rtol is None else query.rtol
        atol = precision**0.5 if query.atol is None else query.atol
        if largest is None:
            sure = np.nan_to_num(np.abs(slope) - doubt, nan=0, posinf=0, neginf=0)
            largest = sure.max(tuple(range(bool(query.batch), sure.ndim)), initial=0)
        errors = np.asarray(np.abs(slope - gradient), np.float64)
        errors = np.where(np.isfinite(errors), errors, np.inf)
        # What is less than the rounding of its estimate does not agree for that.
        sizes = np.abs(slope) + np.abs(gradient)
        near = (np.minimum(rounding, sizes / 10).T + atol).T
        # Rounding of a gradient in half precision may bring a wrong one near, or a right one apart.
        known = np.isfinite(errors) & np.isfinite(exact)
        excess = np.where(known, np.abs(slope - exact), errors)
        excess = excess - np.nan_to_num((near.T + rtol * largest).T, nan=0, posinf=0)
        steady = doubt - kink <= near + (np.abs(slope) + kink) / 10
        wrong = steady & np.isfinite(slope) & (excess > doubt)
        # Between the slopes on both sides of a kink, differences agree with a gradient by chance.
        unsure = (excess > 0) | (kink > near + np.abs(slope) / 10)
        chosen = next((each for each in (wrong, unsure) if each.any()), ~unsure)
        at = np.unravel_index(np.argmax(np.where(chosen, excess, -np.inf)), errors.shape)
        place = tuple([int(i) for i in at]) if kind == "elements" or query.batch else None
        ok = not unsure[at]
        checks[path] = Check(ok, ok or bool(wrong[at]), float(errors[at]), place)
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
