"""Loops of Python as loops of the program: the same lines, recorded again and again.

Terms in the order in which they were made repeat themselves with a period, the terms of one pass.
Each operand is what all passes share, what this pass or one before it made, or what differs: an
element by the number of the pass, or a number. The passes become one ``lax.scan``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradwire.bfloat16 import NAME
from gradwire.stored import RemoteArray
from gradwire.tracing import literals
from gradwire.tracing.evaluation import LocalValues, NotHere
from gradwire.tracing.repetitions import (
    FEWEST_PASSES,
    FEWEST_TERMS,
    NUMBERS,
    Stretch,
    key_of,
    repetitions,
)
from gradwire.tracing.terms import (
    AT,
    ITEM,
    VALUE,
    Body,
    Bound,
    Leaf,
    Scope,
    Term,
    TextFunction,
    arguments_with,
    dependencies,
    leaves_in,
    with_leaves,
)

#: A pass reads what at most so many passes before it made.
_FARTHEST = 8
#: So many loops, one after the other, are looked for.
_MOST_LOOPS = 16
#: Where these are the only dtypes, a number of Python has the precision of any array.
_WIDE = frozenset(map(np.dtype, (np.float64, np.int64, np.bool_, np.complex128)))
_FLOAT = np.dtype(np.float64)


class _Unfit(Exception):
    """A stretch is no loop."""


class _Earlier(NamedTuple):
    """An operand: what the term at ``offset`` of a pass made, so many passes ago."""

    passes: int
    offset: int


def rolled(roots: Sequence[Term], local: LocalValues) -> Sequence[Term]:
    """Terms of the same values, whose long repetitions are loops. ``local`` has their values."""
    stacks: set[Term] = set()
    for _ in range(_MOST_LOOPS):
        order = sorted(dependencies(roots, _is_given), key=lambda term: term.number)
        outer = [term for term in order if term.scope is None]
        if len(outer) < FEWEST_TERMS:
            break
        found = _loop(outer, order, roots, local, stacks)
        if found is None:
            break
        roots = found
    return roots


def _is_given(term: Term) -> bool:
    return isinstance(term, (Leaf, Bound, TextFunction))


def _loop(
    outer: Sequence[Term],
    order: Sequence[Term],
    roots: Sequence[Term],
    local: LocalValues,
    stacks: set[Term],
) -> Sequence[Term] | None:
    """The roots with the longest repetition as a loop; ``None`` if there is none."""
    for start, length, passes in repetitions(outer):
        for skipped in range(1, _FARTHEST + 1):
            stretch = Stretch(start + skipped * length, length, passes - skipped)
            if stretch.passes < FEWEST_PASSES:
                break
            made = _Loop(outer, order, stretch, skipped, local, stacks).replaced(roots)
            if made is not None:
                return made
    return None


class _Loop:
    """A stretch that becomes a loop, if its operands fit."""

    def __init__(
        self,
        terms: Sequence[Term],
        order: Sequence[Term],
        stretch: Stretch,
        farthest: int,
        local: LocalValues,
        stacks: set[Term],
    ) -> None:
        self._terms = terms
        #: All terms, those inside of functions of the program too.
        self._order = order
        self._stretch = stretch
        #: The number of equal passes in front.
        self._farthest = farthest
        self._local = local
        #: What loops left in each pass.
        self._stacks = stacks
        self._position = {term: i for i, term in enumerate(terms)}
        #: What is handed on from pass to pass.
        self._carried: dict[_Earlier, int] = {}
        scope = Scope(None)
        self._carry, self._row = Bound(scope, "carry"), Bound(scope, "row")
        #: Arrays of which each pass reads a row.
        self._rows: list[Term] = []

    def replaced(self, roots: Sequence[Term]) -> Sequence[Term] | None:
        """The roots with the loop in place of the stretch; ``None`` if the operands do not fit."""
        try:
            plan = [self._planned(offset) for offset in range(self._stretch.length)]
            read = self._read_outside(roots)
            self._check_types()
        except (_Unfit, NotHere):
            return None
        return self._spliced(roots, plan, read)

    # What the terms of a pass read

    def _planned(self, offset: int) -> list[Any]:
        """The replacement of each leaf of the terms at an offset."""
        stretch = self._stretch
        made = self._terms[stretch.at(0, offset) : stretch.stop : stretch.length]
        columns = zip(*[leaves_in((term.args, term.kwargs)) for term in made], strict=True)
        is_place = made[0].op == ITEM or made[0].op.startswith(AT)
        return [self._leaf(column, is_place) for column in columns]

    def _leaf(self, column: Sequence[Any], is_place: bool) -> Any:
        """The replacement of a leaf: itself, a carried value, or what the row gives."""
        first = column[0]
        if not isinstance(first, Term):
            text = repr(first)
            is_same = all(one is first or repr(one) == text for one in column)
            return first if is_same else self._numbers(column, is_place)
        begin = self._stretch.start
        places = [self._position.get(term, -1) for term in column]
        if all(term is first for term in column) and places[0] < begin:
            return first
        apart = {place - k * self._stretch.length for k, place in enumerate(places)}
        if min(places) >= 0 and len(apart) == 1:
            passes, offset = divmod(apart.pop() - begin, self._stretch.length)
            if -self._farthest <= passes:
                return self._earlier(_Earlier(-passes, offset))
        if max(places) >= begin:
            raise _Unfit
        return self._elements(column)

    def _earlier(self, operand: _Earlier) -> _Earlier:
        for passes in range(1, operand.passes + 1):
            self._carried.setdefault(_Earlier(passes, operand.offset), len(self._carried))
        return operand

    def _elements(self, column: Sequence[Term]) -> Term:
        """Rows of arrays from outside, or elements of one by the number of the pass."""
        if all(isinstance(term, Leaf) for term in column):
            return self._stack([term.value for term in column if isinstance(term, Leaf)], column)
        whole = column[0].args[0] if column[0].op == ITEM else None
        if whole is None or any(term.op != ITEM or term.args[0] is not whole for term in column):
            raise _Unfit
        if whole not in self._stacks and not isinstance(self._local.of([whole])[0], np.ndarray):
            raise _Unfit
        keys = [[*leaves_in(term.args[1])] for term in column]
        if len({key_of(term) for term in column}) > 1:
            raise _Unfit
        planned = [self._leaf(items, is_place=True) for items in zip(*keys, strict=True)]
        if any(isinstance(each, _Earlier) for each in planned):
            raise _Unfit
        return Term(ITEM, (whole, with_leaves(column[0].args[1], iter(planned))))

    def _stack(self, values: Sequence[Any], column: Sequence[Term]) -> Term:
        if any(isinstance(value, RemoteArray) or hasattr(value, "tocoo") for value in values):
            raise _Unfit
        kinds = {(np.shape(value), np.asarray(value).dtype, type(value)) for value in values}
        if len(kinds) > 1 or (not isinstance(values[0], np.ndarray) and not self._is_wide()):
            raise _Unfit
        return self._add(Term("np.stack", (list(column),)))

    def _numbers(self, column: Sequence[Any], is_place: bool) -> Term:
        """Numbers that differ: by the number of the pass where they rise evenly."""
        first = column[0]
        if not isinstance(first, NUMBERS) or len(set(map(type, column))) > 1:
            raise _Unfit
        if isinstance(first, (int, float)) and not (is_place or self._is_wide()):
            raise _Unfit
        if isinstance(first, int) or (is_place and isinstance(first, np.integer)):
            step = int(column[1]) - int(first)
            if all(int(number) == int(first) + k * step for k, number in enumerate(column)):
                number = self._add(Term("np.arange", (self._stretch.passes,)))
                scaled = number if step == 1 else Term("*", (number, step))
                return scaled if first == 0 else Term("+", (scaled, int(first)))
        return self._add(Leaf(np.array(column), "numbers"))

    def _add(self, rows: Term) -> Term:
        """The part of further rows that a pass reads; the numbers of passes are there once."""
        known = [row.op == rows.op == "np.arange" for row in self._rows]
        if True in known:
            return literals.part(self._row, known.index(True))
        self._rows.append(rows)
        return literals.part(self._row, len(self._rows) - 1)

    def _is_wide(self) -> bool:
        """True if no array of the program has less precision than Python's numbers."""
        given = {leaf for term in self._order for leaf in term.operands if isinstance(leaf, Leaf)}
        dtypes = {getattr(leaf.value, "dtype", _FLOAT) for leaf in given}
        return dtypes.union(*map(_dtypes, self._order)) <= _WIDE

    # What is read of them

    def _read_outside(self, roots: Sequence[Term]) -> set[tuple[int, int]]:
        """The passes and offsets whose results are read elsewhere than in the stretch."""
        stretch = self._stretch
        inside = {
            term: divmod(i, stretch.length)
            for i, term in enumerate(self._terms[stretch.start : stretch.stop])
        }
        read = {inside[root] for root in roots if root in inside}
        for term in self._order:
            operands = (term.result,) if isinstance(term, Body) else term.operands
            found = {inside[operand] for operand in operands if operand in inside}
            if term not in inside:
                if found and (term.scope is not None or isinstance(term, Body)):
                    raise _Unfit  # a function of the program reads what the loop will make
                read |= found
        return read

    def _check_types(self) -> None:
        """Raise an error unless the passes keep the types of what they hand on."""
        if not self._carried:
            raise _Unfit
        kinds = set()
        for number in range(-self._farthest, 2):
            terms = [self._terms[self._stretch.at(number, one.offset)] for one in self._carried]
            values = self._local.of(terms)
            kinds.add(tuple([(np.shape(value), np.asarray(value).dtype) for value in values]))
        if len(kinds) > 1:
            raise _Unfit

    # The loop

    def _spliced(
        self, roots: Sequence[Term], plan: Sequence[Sequence[Any]], read: set[tuple[int, int]]
    ) -> Sequence[Term]:
        stretch = self._stretch
        reach = {one.offset: one.passes for one in self._carried}  # of the farthest, the last
        kept = sorted(
            {offset for number, offset in read if stretch.passes - number > reach.get(offset, 0)}
        )
        after = {
            (number, offset): self._carried[_Earlier(stretch.passes - number, offset)]
            for number, offset in read
            if offset not in kept
        }
        whole = self._scan(plan, kept)
        carries, stacks = literals.part(whole, 0), literals.part(whole, 1)
        stack_of = {offset: literals.part(stacks, i) for i, offset in enumerate(kept)}
        made = {
            self._terms[stretch.at(number, offset)]: literals.part(carries, after[number, offset])
            if (number, offset) in after
            else literals.part(stack_of[offset], number)
            for number, offset in sorted(read)
        }
        self._stacks.update(stack_of.values())
        for term, new in made.items():
            self._local.same(new, term)
        end = self._terms[stretch.stop - 1].number
        for term in self._order:
            if term.number > end and any(operand in made for operand in term.operands):
                made[term] = self._joined(term, made, stack_of) or Term(
                    term.op, *arguments_with(term, made), term.place
                )
        return [made.get(root, root) for root in roots]

    def _scan(self, plan: Sequence[Sequence[Any]], kept: Sequence[int]) -> Term:
        """The loop: its last carry, and the stacked results of these offsets."""
        made: list[Term] = []

        def value_of(entry: Any) -> Any:
            if not isinstance(entry, _Earlier):
                return entry
            if not entry.passes:
                return made[entry.offset]
            return literals.part(self._carry, self._carried[entry])

        for offset, entries in enumerate(plan):
            term = self._terms[self._stretch.at(0, offset)]
            args, kwargs = with_leaves((term.args, term.kwargs), iter(map(value_of, entries)))
            made.append(Term(term.op, args, kwargs, term.place))
        handed = [value_of(_Earlier(one.passes - 1, one.offset)) for one in self._carried]
        scope = self._carry.scope
        assert scope is not None
        result = Term(VALUE, ([handed, [made[offset] for offset in kept]],))
        body = Body(scope, (self._carry, self._row), result)
        body.place = made[0].place
        firsts = [self._terms[self._stretch.at(-one.passes, one.offset)] for one in self._carried]
        rows = self._rows or [Term("np.arange", (self._stretch.passes,))]
        return Term("lax.scan", (body, firsts, rows), place=body.place)

    def _joined(self, term: Term, made: dict[Term, Term], stack_of: dict[int, Term]) -> Term | None:
        """A stack of what consecutive passes left, from the stack of all."""
        if term.op != "np.stack" or term.kwargs or not isinstance(term.args[0], list):
            return None
        stretch, parts = self._stretch, term.args[0]
        places = [self._position.get(part, -1) for part in parts]
        inside = [i for i, place in enumerate(places) if stretch.start <= place < stretch.stop]
        if not inside:
            return None
        first, count = inside[0], len(inside)
        number, offset = divmod(places[first] - stretch.start, stretch.length)
        expected = [stretch.at(number + i, offset) for i in range(count)]
        if offset not in stack_of or places[first : first + count] != expected:
            return None
        rows = Term(ITEM, (stack_of[offset], slice(number, number + count, None)))
        outside = [
            [made.get(part, part) for part in some]
            for some in (parts[:first], parts[first + count :])
        ]
        before, behind = [[Term("np.stack", (some,))] if some else [] for some in outside]
        return Term("np.concatenate", ([*before, rows, *behind],), place=term.place)


def _dtypes(term: Term) -> Iterator[Any]:
    """The dtypes that are arguments of a call, and those of NumPy's numbers."""
    for leaf in leaves_in((term.args, term.kwargs)):
        if isinstance(leaf, np.generic):
            yield leaf.dtype
        elif isinstance(leaf, (np.dtype, type)):
            yield np.dtype(leaf)
        elif isinstance(leaf, str):
            yield np.dtype(leaf) if leaf in np.sctypeDict else _FLOAT if leaf != NAME else leaf
