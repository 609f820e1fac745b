"""Slopes by differences with several steps, and how far each is in doubt."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from gradwire_engine.autodiff.matrices import for_seeds
from gradwire_engine.ops.arrays.joining import Concatenate
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.builder import Var

#: The doubt about what is not finite.
_UNKNOWN = float(np.finfo(np.float64).max)


class Moves(NamedTuple):
    """Directions, one in each row, with their ``lengths``, in which to take each of ``steps``."""

    rows: Var
    lengths: Var
    steps: Sequence[float]


class Estimate(NamedTuple):
    """A slope for each row, by how much it may be wrong, and two parts of that.

    ``kink`` is half of what slopes to the right and to the left differ by, or 0 where smaller steps
    show that this is curvature; ``rounding`` comes from that of a value.
    """

    slope: Var
    doubt: Var
    kink: Var
    rounding: Var


def slopes(value: Var, by: Var, moves: Sequence[Moves], rounding: Var) -> Estimate:
    """``∂ value / ∂ s`` at 0 where ``by`` is ``s`` times a row, for a unit of the row's length.

    By each step ``h`` it is ``(8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h``, of fourth order.
    Against it speak: another slope to the right than to the left, each of second order; other ones
    by the next step; and ``rounding``, that of a value, as given and as the smallest step shows it.
    Of the next step, the slope on one side suffices, if it is that of this step, and this one is
    the same on both sides: then the next step reaches a kink or a jump on the other side alone.
    Further moves are smaller ones. Where they leave the value as it is, and the first do not, they
    show nothing. The estimate with the least doubt is given. Source: DLMF 3.4.15.
    """
    steps = [(rows * h, lengths * h) for rows, lengths, each in moves for h in each]
    sided = [Concatenate(0)(row, -row, row * 2, row * -2) for row, _ in steps]
    (values,) = for_seeds([value], by, Concatenate(0)(*sided, steps[0][0] * 0))
    assert values is not None
    *points, here = _call("split", values, 4 * len(steps) + 1)
    estimates: list[Estimate] = []
    still: Var | None = None
    for _, _, each in moves:
        start = len(estimates)
        found, kinks, sides, lengths = [], [], [], [h for _, h in steps[start : start + len(each)]]
        for i, h in enumerate(lengths, start):
            right, left, far_right, far_left = points[4 * i : 4 * i + 4]
            found.append(((right - left) * 8 - (far_right - far_left)) / (h * 12))
            beyond, before = right * 4 - far_right - here * 3, here * 3 - left * 4 + far_left
            kinks.append(_call("abs", beyond - before) / (h * 4))
            sides.append((beyond / (h * 2), before / (h * 2)))
        noise = _call("maximum", kinks[-1] * lengths[-1], rounding) if len(each) > 1 else rounding
        turns = _turns(found, kinks, sides)
        sharp = [kinks[0], *[_sharp(one, other) for one, other in pairwise(kinks)]]
        for slope, kink, edge, h, turn in zip(found, kinks, sharp, lengths, turns, strict=True):
            doubt = kink + noise / h + turn * 2
            known = _call("isfinite", doubt)
            if still is not None:
                known = _call("logical_and", known, _call("less_equal", _still(slope, kink), still))
            doubt = _call("where", known, doubt, _UNKNOWN)
            estimates.append(Estimate(slope, doubt, edge, rounding / h))
        still = _still(found[-1], kinks[-1])
    return reduce(_surer, estimates)


def _surer(one: Estimate, other: Estimate) -> Estimate:
    surer = _call("less", other.doubt, one.doubt)
    return Estimate(*[_call("where", surer, y, x) for x, y in zip(one, other, strict=True)])


def _still(slope: Var, kink: Var) -> Var:
    """True where a step leaves the value as it is."""
    change: Var = _call("abs", slope) + kink
    return change.equals(0)


def _turns(
    found: Sequence[Var], kinks: Sequence[Var], sides: Sequence[tuple[Var, Var]]
) -> Sequence[Var]:
    """The gap between each slope and the next: on both sides, or on one side that is like it."""
    turns = [gap + bent for gap, bent in zip(_apart(found), _apart(kinks), strict=True)]
    for side in zip(*sides, strict=True) if len(found) > 1 else ():
        aside = [_call("abs", slope - one) for slope, one in zip(found, side, strict=True)]
        # On one side only, slopes that agree by chance are likelier.
        gaps = [(gap + more) * 2 for gap, more in zip(_apart(side), aside, strict=True)]
        turns = [_call("minimum", turn, gap) for turn, gap in zip(turns, gaps, strict=True)]
    return turns


def _sharp(one: Var, other: Var) -> Var:
    """The kink by the smaller of two steps, or 0 where it shrinks with them, as curvature does."""
    edge: Var = _call("where", _call("less", other * 1.5, one), 0.0, other)
    return edge


def _apart(found: Sequence[Var]) -> list[Var]:
    """The gap between each and the next one, on the side where that is nearer."""
    gaps = [_call("abs", x - y) for x, y in pairwise(found)]
    if not gaps:
        return [found[0] * 0]
    between = [_call("minimum", x, y) for x, y in pairwise(gaps)]
    return [gaps[0], *between, gaps[-1]]


def _call(name: str, x: Var, *args: Any) -> Any:
    return FUNCTIONS[name].record(x.builder, x, *args)
