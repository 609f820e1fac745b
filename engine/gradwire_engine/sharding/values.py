"""Values of a shard: the same in all shards, with an axis of its own rows, or a part of a sum."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from typing import NamedTuple, TypeAlias

from gradwire_engine.errors import Place, ShardingError
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.tape import ArrayType, Shape, TupleType, Type


class Along(NamedTuple):
    """Rows along ``axis``, of which each has ``each`` elements, one after the other."""

    axis: int
    each: int = 1


class Part(Enum):
    """The values of all shards add up to that of the whole."""

    OF_SUM = "part of a sum"


#: None is the same in all shards.
Spread: TypeAlias = Along | Part | None


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """One value of a recording: its variable in this shard, and its ``whole`` type, of all rows.

    What is the same in all shards may ``also`` be read as rows, if it is equal along an axis as
    long as there are rows. ``counts`` marks the numbers of the shard's own rows instead, which
    only an index into rows may read. The ``items`` are those of a value that has several.
    """

    var: Var
    whole: Type
    spread: Spread = None
    also: Sequence[Value] = ()
    counts: bool = False
    items: Sequence[Spread] | None = None

    @property
    def rows(self) -> Along | None:
        """Where its rows are, if it has any."""
        return self.spread if isinstance(self.spread, Along) else None

    @property
    def shape(self) -> Shape:
        """Lengths of the axes for all rows."""
        assert not isinstance(self.whole, TupleType)
        return self.whole.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)


class Division(NamedTuple):
    """A shard: ``own`` of several ``rows``. The ``first`` one counts what has no rows."""

    b: Builder
    rows: int
    own: int
    first: bool
    place: Callable[[int], Place]

    @contextmanager
    def of_all_rows(self) -> Iterator[None]:
        """Record meanwhile what is as large as all rows: types, of which no value is made."""
        before = self.b.limits
        self.b.limits = replace(before, array_bytes=sys.maxsize)
        try:
            yield
        finally:
            self.b.limits = before

    def each(self, length: int) -> int | None:
        """The elements of each row in an axis of this length, if it may be one of rows."""
        whole = bool(length) and length % self.rows == 0
        return length // self.rows if whole else None

    def shape(self, shape: Shape, along: Along) -> Shape:
        """A shape of all rows as this shard has it."""
        axis, each = along
        return (*shape[:axis], each * self.own, *shape[axis + 1 :])

    def counted(self, value: Value) -> Var:
        """The variable of a value among terms: zeros but in the first shard if it is the same."""
        if self.first or value.spread is not None:
            return value.var
        kind = value.var.type
        return self.b.full(0, ArrayType(kind.dtype, kind.shape, kind.weak))


def as_rows(value: Value, along: Along) -> Var:
    """A value in an operation whose rows are ``along`` an axis of it, if it has that axis.

    Raises: ``ShardingError`` where it has one value for each row, but is no part of the shard.
    """
    if value.spread is not None:
        if value.spread != along:
            raise ShardingError(
                "this combines each row with other rows",
                hint="rows may only be combined with what is the same for all rows",
            )
        return value.var
    if along.axis < 0 or value.shape[along.axis] == 1:
        return value.var
    for reading in value.also:
        if reading.rows == along and not reading.counts:
            return reading.var
    raise one_value_per_row(value)


def one_value_per_row(value: Value) -> ShardingError:
    """The error of what is as long as there are rows, but no variable divided into shards."""
    hint = "send it as a variable whose rows are divided like the others"
    if any(reading.counts for reading in value.also):
        return ShardingError("the numbers of the rows are values of their own here", hint=hint)
    shape = list(value.shape)
    return ShardingError(f"an array of shape {shape} has one value for each row", hint=hint)


def decided_by_rows(at: Place | None = None) -> ShardingError:
    """The error of a decision that shards would make by their own rows."""
    return ShardingError(
        "a decision here depends on values of rows, which differ from shard to shard",
        at=at,
        hint="where(c, a, b) chooses for each row",
    )
