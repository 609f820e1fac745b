"""Queries of a shard: recorded for all rows, of which none is looked at, then made one of its own.

So what a program makes of the number of rows is that of all. Nothing as large as they are is made:
values are of types only, and those of the variables that are divided are views of one number.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradwire_engine.answer import Array, Leaf, Limits, Poll, Query, Shard
from gradwire_engine.compile.derivatives import ALONG
from gradwire_engine.compile.names import Sources, dotted_path
from gradwire_engine.errors import InputError, Place, ShardingError
from gradwire_engine.loops.loop import BlockArgument
from gradwire_engine.nesting import flatten
from gradwire_engine.ops.arrays.creation import count
from gradwire_engine.ops.arrays.shape import reshape
from gradwire_engine.ops.builder import Builder, Var, refuse_too_large
from gradwire_engine.ops.composites import Composite
from gradwire_engine.ops.constants import Input
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.record.recording import Recording
from gradwire_engine.sharding import Along, Division, Part, Value, Walk
from gradwire_engine.tape import ArrayType
from gradwire_engine.traversal import ancestors

_AT = Place(pointer="/shard")


class BuilderOfAllRows(Builder):
    """A tape under construction whose values may be as large as all rows: none of them is made."""

    def __init__(self, limits: Limits, rows: int, *, strict: bool, poll: Poll) -> None:
        super().__init__(replace(limits, array_bytes=sys.maxsize), strict=strict, poll=poll)
        self._rows = rows
        self._most_bytes = limits.array_bytes

    def afford(self, *kinds: ArrayType, hint: str | None = None) -> None:
        """Constants are made: they may be no larger than arrays of the shard."""
        for kind in kinds:
            refuse_too_large(kind, self._most_bytes, hint)
        super().afford(*kinds, hint=hint)

    def numbers(self, length: int, axis: int = 0, ndim: int = 1) -> Var:
        """The same; those of the rows are no constant, which would be as large as they are."""
        if length != self._rows:
            return super().numbers(length, axis, ndim)
        shape = tuple([length if i == axis else 1 for i in range(ndim)])
        return reshape(count(self, length, DTYPES["int64"]), shape)


def divided(shard: Shard, variables: Mapping[str, Any]) -> frozenset[str]:
    """The paths of the variables of which a shard has some rows.

    Raises: ``InputError`` where there is no such variable, or these have not as many rows.
    """
    leaves = dict(flatten(variables))
    found: dict[str, int] = {}
    for name in shard.of:
        at = Place(id=name[:80], pointer="/shard/of")
        plain = dotted_path(name)
        below = [path for path in leaves if path == plain or path.startswith(f"{plain}.")]
        if not below:
            raise InputError("there is no variable of this name to be divided", at=at)
        for path in below:
            value = leaves[path].value
            if isinstance(value, str) or not value.ndim or _is_composite(variables, path):
                raise InputError(f"{path[:80]} is no array with an axis of rows", at=at)
            found[path] = len(value)
    if not found:
        raise InputError("no variable is named that is divided", at=_AT)
    if len({*found.values()}) > 1:
        listed = ", ".join(f"{path[:40]} {own}" for path, own in found.items())
        raise InputError(f"the numbers of rows differ: {listed}", at=_AT)
    own = next(iter(found.values()))
    if not own <= shard.rows or shard.rows < 1:
        raise InputError(f"a shard has {own} of {shard.rows} rows", at=_AT)
    return frozenset(found)


def _is_composite(variables: Mapping[str, Any], path: str) -> bool:
    """True if a path is that of a part of a tensor in parts."""
    value: Any = variables
    for name in path.split("."):
        if isinstance(value, Composite):
            return True
        if isinstance(value, Leaf):  # under a dotted key
            return False
        value = value[int(name)] if isinstance(value, Sequence) else value.get(name, Leaf(""))
    return False


def of_all_rows(variables: Any, paths: frozenset[str], rows: int) -> Any:
    """The variables, those at ``paths`` as long as there are rows, in no more memory than one."""

    def whole(value: Any, path: str) -> Any:
        if isinstance(value, Leaf):
            return value._replace(value=_long(value.value, rows)) if path in paths else value
        if isinstance(value, Composite):
            return value
        if isinstance(value, Mapping):
            return {key: whole(item, f"{path}.{key}") for key, item in value.items()}
        return [whole(item, f"{path}.{i}") for i, item in enumerate(value)]

    return {name: whole(value, name) for name, value in variables.items()}


def _long(own: Any, rows: int) -> Array:
    return np.broadcast_to(np.zeros((), own.dtype), (rows, *own.shape[1:]))


def check_kind(query: Query, shard: Shard, vectors: Sequence[Any] | None) -> None:
    """Refuse queries whose answers do not add up.

    Raises: ``InputError``.
    """
    kind = query.kind
    listed = query.slices is not None or query.format != "dense"
    if kind == "check" or listed or query.batch:
        what = "a check" if kind == "check" else "coordinates" if listed else "a batch"
        raise InputError(f"the answers of {what} do not add up over shards", at=_AT)
    weighted = kind in ("gradient", "hvp") and vectors is not None
    if shard.residuals and not (kind in ("evaluate", "jvp") or weighted):
        hint = "ask for jvp, or for gradient or hvp with weights of the residuals"
        raise InputError("derivatives of residuals are products", at=_AT, hint=hint)


class PartOfAll:
    """A shard's part of what a program computes of all rows, recorded again on the same tape.

    A single row is not divided, for its axis is as long as one that is repeated: the shard that has
    it has everything.
    """

    def __init__(
        self, recorder: Recording, shard: Shard, variables: Mapping[str, Any], limits: Limits
    ) -> None:
        self.r = recorder
        self.b = b = recorder.b
        # What was recorded of all rows does not count: it is dead.
        b.limits = replace(limits, instructions=limits.instructions + len(b.vars))
        paths = divided(shard, variables)
        own, given = 0, dict[int, Value]()
        arrays = [(p, x.value) for p, x in flatten(variables) if not isinstance(x.value, str)]
        for number, (path, array) in enumerate(arrays):
            if path in paths:
                own, slot = len(array), b.inputs[number]
                whole = b.vars[slot].type
                var = b.again(Input(number), (), whole._replace(shape=array.shape))
                given[slot] = Value(var, whole, None if shard.rows == 1 else Along(0))
                # All rows are no input: what is left of them is dead, and never replayed.
                b.instructions[slot] = b.instructions[slot]._replace(op=BlockArgument(self, number))
                b.inputs[number] = var.slot
        first = shard.first if shard.rows > 1 else own == 1
        self._d = Division(b, shard.rows, own, first, recorder.program.place)
        self._inputs = frozenset(given)
        self._walk = Walk(self._d, b.instructions, given)

    def record(self, outputs: Sequence[Var], sources: Sources) -> None:
        """Record this shard's part of ``outputs``, and of what the sources are made of.

        Raises: ``ShardingError`` where something on the way does not add up, with its place.
        """
        for path, versions in self.r.state.versions.items():
            if len(versions) > 1:
                place = self.r.program.place(self.b.instructions[versions[1].slot].origin)
                message = f"what is assigned to {path[:80]} does not add up over shards"
                raise ShardingError(message, at=place, hint="give the new value another name")
        every = [*outputs, *[var for source in sources.items for var in source.group]]
        slots = ancestors(self.b.instructions, [var.slot for var in every], poll=self.r.poll)
        self._walk.go(sorted(slots))

    def sources(self, sources: Sources, kind: str) -> Sources:
        """The sources, which have to be the same in all shards.

        Raises: ``ShardingError``.
        """
        items = []
        for source in sources.items:
            found = [self._walk[var.slot] for var in source.group]
            barred = source.leaf is not None and not source.leaf.trainable
            for var, value in zip(source.group, found, strict=True):
                differs = value.spread is not None or var.slot in self._inputs
                if differs and var.type.differentiable and (not barred or kind in ALONG):
                    raise ShardingError(
                        f"the derivatives in {source.path[:80]} are of one shard each",
                        at=Place(id=source.path[:80], pointer="/sources"),
                        hint="name sources that are the same in all shards",
                    )
            items.append(source._replace(group=[value.var for value in found]))
        return Sources(sources.nested, items)

    def term(self, var: Var) -> Var:
        """This shard's part of a value; of one without rows it is all in the first, else zero."""
        value = self._walk[var.slot]
        if value.rows is not None:
            hint = "add up over the rows, or take their mean"
            raise ShardingError("this has a value for each row", at=self._place(var), hint=hint)
        return self._d.counted(value)

    def residual(self, var: Var) -> Var:
        """This shard's rows of residuals; of those without rows all are in the first shard."""
        value = self._walk[var.slot]
        if value.spread is Part.OF_SUM or (value.rows is not None and value.rows.axis):
            message = "residuals have their rows along the first axis"
            hint = "their squares are added up; give one or several for each row"
            raise ShardingError(message, at=self._place(var), hint=hint)
        return self._d.counted(value)

    def _place(self, var: Var) -> Place:
        return self.r.program.place(self.b.instructions[var.slot].origin)
