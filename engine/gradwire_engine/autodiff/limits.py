"""Derivatives where a rule divides 0 by 0: at norms of 0, at equal eigen- and singular values.

What is smooth there all the same, an even function of a norm or a function of a matrix, has a limit
there: the quotient of the slopes of both sides along a line on which norms grow and equal values
part. Cotangents are on the tape as functions of norms and values, so the slopes are pushforwards.
All this is recorded only for values that are singular, by a decision that guards the tape; what has
no limit keeps its convention, with a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce

import numpy as np

from gradwire_engine.ops.arrays.shape import unsqueeze
from gradwire_engine.ops.base import FUNCTIONS, Cotangents, Op
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.constants import Copy, Item
from gradwire_engine.ops.linalg.singular import Svd, SvdVals
from gradwire_engine.ops.linalg.spectral import EigValsH, OfVectors, Quotient, gaps, pair_quotient
from gradwire_engine.ops.pointwise.arithmetic import Absolute
from gradwire_engine.ops.pointwise.comparison import (
    Less,
    LessEqual,
    LogicalAnd,
    LogicalNot,
    NotEqual,
)
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.pointwise.trigonometric import Hypot
from gradwire_engine.ops.reductions.norms import Norm
from gradwire_engine.ops.reductions.reductions import Max
from gradwire_engine.ops.rules import ByFormula, limit
from gradwire_engine.tape import ArrayType, Instruction
from gradwire_engine.traversal import ancestors

_KINK = "a second derivative passes through a norm or an absolute value at 0, where there is none"
_VECTORS = "a derivative passes through vectors of values that are equal, or nearly"
#: Markers of cotangents that are looked at where a length is 0.
_OF_LENGTHS = frozenset(("radial", "even", "flat"))
LENGTHS = Norm, Absolute, Hypot, SvdVals
_AGAIN = "a derivative of a limit at a singular point may differ from the limit of the derivative"


def equal_lengths(code: Sequence[Instruction], last: int) -> dict[int, int]:
    """Of lengths of equal operands up to ``last``, the first, by the slots of the others."""
    lengths = [slot for slot in range(last + 1) if type(code[slot].op) in LENGTHS]
    if len(lengths) < 2:
        return {}
    first: dict[tuple[Op, tuple[int, ...]], int] = {}
    numbers: dict[int, int] = {}
    for slot in sorted(ancestors(code, lengths)):
        op, args, _, _ = code[slot]
        key = op, tuple([numbers[arg] for arg in args])
        # Inputs of equal types are not equal.
        numbers[slot] = first.setdefault(key, slot) if args else slot
    return {slot: numbers[slot] for slot in lengths if numbers[slot] != slot}


class Limits:
    """The limits that one reverse walk over the slots up to ``last`` needs."""

    def __init__(
        self,
        b: Builder,
        pullback: Callable[..., list[Var | None]],
        targets: Sequence[Var],
        sources: Sequence[Var],
        active: Sequence[int],
    ) -> None:
        self._b = b
        self._pullback = pullback
        self._sources = sources
        self._active = active
        self._targets = [target.slot for target in targets]
        self._last = max(self._targets)
        #: The limits of markers by their slots, once they are looked for.
        self._radial: dict[int, Var] | None = None
        #: Within the walks that find slopes, limits are those found before.
        self._within = False

    def added(self, slot: int, w_bar: Var, bars: Cotangents) -> Cotangents:
        """The cotangents of a formula's operands, with those that are limits."""
        op, args, _, origin = self._b.instructions[slot]
        assert isinstance(op, ByFormula)
        if slot > self._last:
            return bars
        if op.rule == "limit" and self._active[args[2]] and not self._within:
            self._b.warn("singular", _AGAIN, origin)
        if op.rule not in _OF_LENGTHS or not self._active[args[4]]:
            return bars
        if self._radial is None:
            self._radial = {}
            self._of_norms(self._radial)
        slope = self._radial.get(slot) if op.rule != "even" else None
        if slope is None:
            return bars
        return *bars[:-1], w_bar * self._b.cast(slope, w_bar.dtype)

    def quotient(self, slot: int) -> Quotient:
        """Divides by ``w_j ± w_i`` for the values ``w`` that come with the vectors at ``slot``."""

        def divide(h: Var, w: Var, sign: int, like: Sequence[Var]) -> Var:
            plain = pair_quotient(h, w, sign)
            if self._within or not h.type.size:
                return plain
            return self._parted(slot, h, w, sign, like, plain)

        return divide

    def _of_norms(self, found: dict[int, Var]) -> None:
        """Find the limits of all markers, those that others depend on first."""
        b, code = self._b, self._b.instructions
        depths = [0] * (self._last + 1)
        markers: dict[int, list[int]] = {}
        reached = ancestors(code, self._targets)
        for slot in sorted(reached):
            op, args, _, _ = code[slot]
            depths[slot] = max([depths[arg] for arg in args], default=0)
            if type(op) is ByFormula and op.rule in _OF_LENGTHS and self._active[args[4]]:
                depths[slot] += 1
                markers.setdefault(depths[slot], []).append(slot)
        lengths = {code[slot].args[3] for marked in markers.values() for slot in marked}
        zeros = {z: self._vanishing(b.vars[z]) for z in lengths}
        some = None
        for zero in zeros.values():
            flag = _any(zero)
            some = flag if some is None else some | flag
        if some is None or not (b.regions or b.holds(some)):
            return
        roots = [b.vars[s] for s in sorted(reached) if self._active[s] and self._is_length(s)]
        grow = [b.cast(self._vanishing(root), root.dtype) for root in roots]
        # Another line, on which norms of other vectors grow otherwise and sources move, too.
        same = equal_lengths(code, self._last)
        vectors = [self._of(same.get(root.slot, root.slot)) for root in roots]
        draws = [np.random.default_rng(vector) for vector in vectors]
        speeds = [draw.uniform(0.5, 2, root.shape) for draw, root in zip(draws, roots, strict=True)]
        unlike = [
            b.cast(b.constant(v), z_dot.dtype) * z_dot
            for z_dot, v in zip(grow, speeds, strict=True)
        ]
        steps = [np.random.default_rng(7).normal(size=x.shape) for x in self._sources]
        moved = [b.cast(b.constant(v), x.dtype) for v, x in zip(steps, self._sources, strict=True)]
        for _, marked in sorted(markers.items()):
            every = [b.vars[code[slot].args[i]] for slot in marked for i in (2, 3, 4)]
            first = self._along(every, roots, grow)
            second = self._along(every, [*roots, *self._sources], [*unlike, *moved])
            for i, slot in enumerate(marked):
                z_bar, z, _ = every[3 * i : 3 * i + 3]
                slope, (h_dot, z_dot, x_dot) = first[3 * i], second[3 * i : 3 * i + 3]
                scale = _largest(slope) + _largest(z_bar) + _largest(h_dot)
                error = _size(z_bar) + _size(h_dot - slope * z_dot)
                smooth = zeros[z.slot] & LessEqual()(error, scale * _tolerance(z))
                op = code[slot].op
                if isinstance(op, ByFormula) and op.rule == "flat":
                    flat = LessEqual()(_size(slope), scale * _tolerance(z))
                    smooth = smooth & flat
                rough = NotEqual()(smooth, zeros[z.slot])
                moves = NotEqual()(x_dot, x_dot.constant(0))  # or it is 0 all along
                if b.holds(_any(rough & moves)):
                    b.warn("singular", _KINK, code[slot].origin)
                found[slot] = limit(Where()(smooth, slope, z.constant(0)), z)

    def _is_length(self, slot: int) -> bool:
        """True if the value at a slot is a norm, or the singular values of a matrix."""
        op, args, _, _ = self._b.instructions[slot]
        if isinstance(op, Item):
            return op.index == 1 and isinstance(self._b.instructions[args[0]].op, Svd)
        return isinstance(op, LENGTHS) or (isinstance(op, ByFormula) and op.rule == "length")

    def _of(self, slot: int) -> Sequence[int]:
        """The slots of what the length there is of."""
        op, args, _, _ = self._b.instructions[slot]
        return self._b.instructions[args[0]].args if isinstance(op, Item) else args

    def _vanishing(self, z: Var) -> Var:
        """Where a length is 0, a singular value for its matrix."""
        op = self._b.instructions[z.slot].op
        if not isinstance(op, Item | SvdVals) or not z.type.size:
            return z.equals(0)
        longest = max(self._b.vars[self._of(z.slot)[0]].shape)
        least = Max.over(z, (z.ndim - 1,), keepdims=True) * (longest * _tolerance(z) ** 2)
        return LessEqual()(z, least)

    def _parted(self, slot: int, h: Var, w: Var, sign: int, like: Sequence[Var], plain: Var) -> Var:
        """``plain``, with limits where it divides by next to nothing."""
        b = self._b
        both, gap, eps = LogicalAnd(), gaps(w, sign), _tolerance(w)
        largest = unsqueeze(Max.over(_size(w), (w.ndim - 1,), keepdims=True), (w.ndim,))
        ramp = np.arange(1, w.shape[-1] + 1)
        parted = [b.cast(b.constant(v), w.dtype) for v in (ramp, ramp * ramp)]
        (apart, apart_2), zero = (gaps(v, sign) for v in parted), w.constant(0)
        close = both(LessEqual()(_size(gap), largest * eps), NotEqual()(apart, zero))
        if not (b.regions or b.holds(_any(close))):
            return plain
        roots = [*self._values(slot)]
        h_dot, h_dot_2 = [
            self._along([h], roots, [b.broadcast(v, root.shape) for root in roots])[0]
            for v in parted
        ]
        one = w.constant(1)
        slope = h_dot / b.cast(Where()(apart.equals(0), one, apart), h.dtype)
        # On a line on which they part otherwise, the quotient is the same.
        steady = _size(h_dot_2 - slope * b.cast(apart_2, h.dtype))
        steady = LessEqual()(steady, (_largest(h_dot_2) + _largest(slope)) * eps)
        size = reduce(lambda x, y: x + y, [_largest(x) for x in like])
        least = (size + _largest(slope) * _largest(w)) * (eps * eps * 1e3)
        follows = LessEqual()(_size(h - slope * b.cast(gap, h.dtype)), least)
        smooth = both(close, both(follows, steady))
        doubt = both(both(close, LogicalNot()(smooth)), Less()(least, _size(h)))
        if b.holds(_any(doubt)):
            b.warn("degenerate", _VECTORS, b.instructions[slot].origin)
        return Where()(smooth, limit(slope, unsqueeze(w, (w.ndim - 1,))), plain)

    def _values(self, slot: int) -> Iterable[Var]:
        """The eigen- or singular values of the matrix whose vectors are at ``slot``."""
        code = self._b.instructions
        alone, index = (SvdVals, 1) if isinstance(code[slot].op, Svd) else (EigValsH, 0)
        for var in self._b.vars[: self._last + 1]:
            op, args, _, _ = code[var.slot]
            if isinstance(op, Item) and op.index == index:
                whole = code[args[0]]
                if isinstance(whole.op, OfVectors) and whole.args == code[slot].args:
                    yield var
            elif isinstance(op, alone) and args == code[slot].args:
                yield var

    def _along(
        self, outputs: Sequence[Var], sources: Sequence[Var], tangents: Sequence[Var]
    ) -> list[Var]:
        """Tangents of the outputs, 0 where they do not depend on the sources."""
        b, pullback = self._b, self._pullback
        origin, self._within = b.origin, True
        seeds = [Copy()(b.full(1, ArrayType(y.dtype, y.shape))) for y in outputs]
        bars = pullback(b, outputs, seeds, sources, limits=self)
        reached = [(bar, dot) for bar, dot in zip(bars, tangents, strict=True) if bar is not None]
        found = pullback(b, [x for x, _ in reached], [x for _, x in reached], seeds, limits=self)
        b.origin, self._within = origin, False
        return [
            b.full(0, ArrayType(y.dtype, y.shape)) if dot is None else dot
            for y, dot in zip(outputs, found, strict=True)
        ]


def _any(flags: Var) -> Var:
    found: Var = FUNCTIONS["any"].record(flags.builder, flags)
    return found


def _largest(x: Var) -> Var:
    """The largest size of an element."""
    size = _size(x)
    return Max.over(size, tuple(range(size.ndim))) if size.ndim else size


def _size(x: Var) -> Var:
    return Absolute()(x)


def _tolerance(x: Var) -> float:
    """The square root of the rounding unit: so far a slope gives a difference up to rounding."""
    return float(np.sqrt(np.finfo(x.dtype).eps))
