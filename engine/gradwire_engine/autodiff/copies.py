"""Arrays of copies of a source's elements, in which a Jacobian has fewer colours of rows.

What gathers, slices or pads a source makes copies of its elements; each copy is read by a few rows,
even of an element that all rows read. Products with sums of rows then give the derivatives in all
copies, and those in copies of one element are added. ``∂ y / ∂ x = Σ_i ∂ y / ∂ c_i · S_i``, where
the copies ``c_i = S_i x`` are all that ``y`` reads of ``x``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gradwire_engine.autodiff.known import Value
from gradwire_engine.autodiff.sparsity import Indices, Pattern, Walk
from gradwire_engine.ops.arrays.indexing import ScatterAdd
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.patterns import ARRAY
from gradwire_engine.tape import ArrayType
from gradwire_engine.traversal import ancestors

#: An array of more copies than so many for each element of source and target would be copies of the
#: same for the same rows, whose pairs take longer than what colours save.
_MOST_COPIES = 32


class Copies(NamedTuple):
    """Arrays of copies, none of which depends on another, side by side; or the source alone."""

    parts: list[Var]
    #: The number of the source's element that each element is a copy of, -1 for a zero.
    origins: Indices


def copies_read(b: Builder, target: Var, source: Var, value: Value) -> Copies:
    """The last copies of the source's elements, through which alone ``target`` depends on it.

    An array that anything reads but an instruction that copies is such a last one.
    """
    walk = Walk(b, b.instructions, source.type.size, value)
    needed = sorted(ancestors(b.instructions, [target.slot], range(source.slot + 1)))
    readers: defaultdict[int, list[int]] = defaultdict(list)
    for slot in needed:
        for arg in {*b.instructions[slot].args}:
            readers[arg].append(slot)
    most = _MOST_COPIES * (source.type.size + target.type.size)
    pending, found = [(source.slot, np.arange(source.type.size))], []
    while pending:
        b.poll()
        slot, origins = pending.pop()
        moved = None if slot == target.slot else _moved(walk, readers[slot], most)
        if moved:
            for reader, places in zip(readers[slot], moved, strict=True):
                pending.append((reader, np.where(places < 0, -1, origins[places])))
        else:
            found.append((slot, origins))
    found.sort(key=lambda part: part[0])
    return Copies([b.vars[slot] for slot, _ in found], np.concatenate([x for _, x in found]))


def _moved(walk: Walk, readers: Sequence[int], most: int) -> list[Indices] | None:
    """The elements that each reader copies, if all copy, and none more than so many."""
    found: list[Indices] = []
    for reader in readers:
        kind = walk.instructions[reader].type
        if not isinstance(kind, ArrayType) or kind.size > most:
            return None
        places = walk.origins(reader)
        if places is None:
            return None
        found.append(places)
    return found


class Gathered(NamedTuple):
    """The map from the nonzeros in copies to those in their source."""

    pattern: Pattern
    #: The nonzeros in copies, as the source's follow each other.
    order: Indices
    #: The source's nonzero that each of these is added to; None if each is one of its own.
    places: Indices | None

    @classmethod
    def of(cls, read: Pattern, copies: Copies, width: int) -> Gathered:
        """From the pattern in copies, and the number of the source's elements."""
        columns = copies.origins[read.columns]
        kept = np.flatnonzero(columns >= 0)
        pairs = read.rows[kept] * width + columns[kept]
        rising = np.argsort(pairs, kind="stable")
        pairs, order = pairs[rising], kept[rising]
        firsts = np.diff(pairs, prepend=-1) != 0
        rows, columns = np.divmod(pairs[firsts], max(width, 1))
        places = None if firsts.all() else np.cumsum(firsts) - 1
        return cls(Pattern(rows, columns, (read.shape[0], width)), order, places)

    def added(self, values: Var) -> Var:
        """The source's nonzeros, from those in copies in order."""
        if self.places is None:
            return values
        constant = values.builder.constant
        return ScatterAdd((ARRAY,), self.pattern.rows.shape)(values, constant(self.places))
