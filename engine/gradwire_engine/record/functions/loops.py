"""Loops whose body is a function: of a carry, and of a row of arrays or a counter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradwire_engine.errors import BadArgument
from gradwire_engine.nesting import leaves, rebuild
from gradwire_engine.ops.arrays.slicing import sliced
from gradwire_engine.ops.builder import Var
from gradwire_engine.record.loops import Iterations, RowsOf
from gradwire_engine.record.recorder import Recorder
from gradwire_engine.record.scope import Transformed
from gradwire_engine.record.transformations import vmap

#: From the number of the pass, the carry and a row to the next carry and what the pass writes.
Body = Callable[[Any, Any, Any], tuple[Any, Any]]


def repeat(
    r: Recorder,
    carry: Any,
    body: Body,
    *,
    holds: Callable[[Any], Any] | None = None,
    length: int | Var | None = None,
    rows: Any = None,
) -> tuple[Any, Any]:
    """The last carry, and all that passes wrote, stacked: None of no pass.

    As long as ``holds(carry)``, or ``length`` times, which values may decide; or for each of the
    ``rows`` of nested arrays.
    """
    if isinstance(length, Var):
        counter, length = length, None

        def step(number: Any, carry: Any, row: Any) -> tuple[Any, Any]:
            value, written = body(number, carry[0], row)
            return (value, r.operation("add", carry[1], 1)), written

        (carry, _), written = repeat(
            r, (carry, 0), step, holds=lambda carry: r.operation("less", carry[1], counter)
        )
        return carry, written
    passes = _Applied(r, carry, body, holds, length, rows)
    _, written = r.repeat(passes)
    return passes.value, written


class _Applied(Iterations):
    def __init__(
        self,
        r: Recorder,
        carry: Any,
        body: Body,
        holds: Callable[[Any], Any] | None,
        length: int | None,
        rows: Any,
    ) -> None:
        super().__init__(r)
        self.value = carry
        self._body = body
        self._holds = holds
        self._rows = rows
        self.conditional = holds is not None
        self.length = length if rows is None else _length(rows)

    def holds(self) -> Any:
        """The result of the function of the carry."""
        return True if self._holds is None else self._holds(self.value)

    def arrays(self, first: int) -> list[Var]:
        """All that rows are taken of."""
        arrays: list[Var] = leaves(self._rows) if self._rows is not None else []
        return [sliced(x, 0, first, x.shape[0]) if first else x for x in arrays]

    def turn(self, number: int | Var, rows: Sequence[Var]) -> tuple[str, Any]:
        """Apply the function."""
        if not self.r.truth(self.holds()):
            return "over", None
        row = None
        if self._rows is not None:
            taken = iter(rows)
            static = isinstance(number, int)
            row = rebuild(self._rows, lambda x: RowsOf(x)[number] if static else next(taken))
        self.value, written = self._body(number, self.value, row)
        return "on", written

    def carry(self) -> dict[str, Any]:
        """The value that goes from pass to pass."""
        return {"carry": self.value}

    def put(self, carry: dict[str, Any]) -> None:
        """Go on with this value."""
        self.value = carry["carry"]


def arrays_of(r: Recorder, nested: Any) -> Any:
    """Nested arrays to go through together, as variables."""
    found = rebuild(nested, r.b.array)
    if not all(x.ndim for x in leaves(found)):
        raise BadArgument("a number has no rows to go through")
    return found


def mapped(r: Recorder, f: Callable[[Any], Any], rows: Any) -> Any:
    """The results of ``f`` for each of the rows of nested arrays, stacked."""
    if not _length(rows):
        return of_no_rows(r, f, rows)
    return repeat(r, (), lambda number, carry, row: (carry, f(row)), rows=rows)[1]


def of_no_rows(r: Recorder, f: Callable[[Any], Any], rows: Any) -> Any:
    """The same for arrays without rows: mapped over, since no pass shows the results' shapes."""

    def one(recorder: Recorder, args: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        made = f(*args)
        return [] if made is None else [made]

    return next(iter(vmap(r, Transformed(one)).call(r, [rows], {})), None)


def passes_between(r: Recorder, lower: Any, upper: Any) -> tuple[Any, Any]:
    """The first number and how many there are before ``upper``, which values may decide."""
    bounds = [lower, upper]
    if any(isinstance(x, Var) and x.dtype.kind in "iu" and not x.ndim for x in bounds):
        return lower, r.operation("subtract", upper, lower)
    first, last = [r.integer(x) for x in bounds]
    return first, max(last - first, 0)


def counted(r: Recorder, number: Any, first: Any) -> Any:
    """A counter of passes that begins with ``first``."""
    if isinstance(number, int) and isinstance(first, int):
        return number + first
    return number if isinstance(first, int) and not first else r.operation("add", number, first)


def flipped(r: Recorder, nested: Any) -> Any:
    """The rows of nested arrays, the last one first."""
    return nested and rebuild(nested, lambda x: r.operation("flip", x, 0))


def _length(rows: Any) -> int:
    lengths = {x.shape[0] for x in leaves(rows)}
    if len(lengths) != 1:
        raise BadArgument("arrays that are gone through together have equally many rows")
    (length,) = lengths
    return int(length)
