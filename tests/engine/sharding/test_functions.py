"""Every function of programs, of arrays divided along any of their axes: parts, rows or refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from gradwire_engine.check import Recorded, Recording, interpret
from gradwire_engine.errors import EngineError, Place, ShardingError
from gradwire_engine.loops.loop import MustUnroll
from gradwire_engine.sharding import Along, Division, Part, Value, Walk
from gradwire_engine.sharding.values import Spread
from gradwire_engine.traversal import ancestors
from numpy.testing import assert_allclose

from tests.effort import some
from tests.engine.conftest import named
from tests.engine.ops.sampled import FAMILIES

#: The operands that are divided, each along one axis.
Divided = Mapping[int, int]


def divisions(values: list[Any]) -> Iterator[Divided]:
    """Each operand along each axis, and pairs of them with as many rows."""
    lengths = [(i, *each) for i, x in enumerate(values) for each in enumerate(x.shape)]
    places = [(i, axis) for i, axis, rows in lengths if rows > 1]
    yield from ({i: axis} for i, axis in places)
    for (i, one), (j, other) in product(places, places):
        if i < j and values[i].shape[one] == values[j].shape[other]:
            yield {i: one, j: other}


def part(
    whole: Recorded, own: Mapping[int, tuple[Any, Spread]], rows: int, shard: tuple[int, int]
) -> list[tuple[Value, Any]]:
    """The outputs of a shard, which has its own values of some operands, and what they come to."""
    b, values = whole.b, [*whole.values]
    with b.aside():
        given = {}
        for number, (value, spread) in own.items():
            values.append(value)
            operand = whole.inputs[number]
            var = b.input(operand.type._replace(shape=value.shape))
            given[operand.slot] = Value(var, operand.type, spread)
        first, last = shard
        d = Division(b, rows, last - first, first == 0, lambda origin: Place())
        walk = Walk(d, b.instructions, given)
        slots = [output.slot for output in whole.outputs]
        walk.go(sorted(ancestors(b.instructions, slots)))
        found = [walk[slot] for slot in slots]
        variables = [d.counted(value) for value in found]
        results = interpret(b.tape(variables), values)
        return [(x, results[v.slot]) for x, v in zip(found, variables, strict=True)]


def cuts(rows: int) -> list[tuple[int, int]]:
    """Shards of unlike sizes, one of a row and one of none."""
    ends = sorted({0, 1, rows // 2, rows})
    return [*pairwise(ends), (rows, rows)]


def check(whole: Recorded, shards: list[list[tuple[Value, Any]]]) -> None:
    """Compare what shards give, put together, with the whole."""
    for i, output in enumerate(whole.outputs):
        value, results = shards[0][i][0], [shard[i][1] for shard in shards]
        along = value.rows
        made = np.concatenate(results, along.axis) if along else sum(results)
        assert_allclose(made, whole.found[output.slot], rtol=1e-8, atol=1e-8)


def recorded(recording: Recording, values: list[Any]) -> Recorded | None:
    """What is recorded for values, unless these decide, or have no answer."""
    try:
        made = Recorded(recording, values)
        return made if made.found else None
    except (EngineError, MustUnroll, np.linalg.LinAlgError):
        return None


def recordings(family: str) -> Iterator[tuple[Any, Recorded]]:
    """Some samples of a family, those that values do not decide."""
    for call in some(FAMILIES[family]):
        made = recorded(call.record, call.values)
        if made is not None:
            yield call, made


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_rows(family):
    for call, whole in recordings(family):
        for divided in divisions(call.values):
            with named(call, divided):
                number, axis = next(iter(divided.items()))
                rows = call.values[number].shape[axis]
                shards = []
                with suppress(ShardingError):
                    for shard in cuts(rows):
                        own = {
                            i: (np.take(call.values[i], range(*shard), along), Along(along))
                            for i, along in divided.items()
                        }
                        shards.append(part(whole, own, rows, shard))
                    check(whole, shards)


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_parts_of_sums(family):
    rng = np.random.default_rng(0)
    for call, whole in recordings(family):
        for number, value in enumerate(call.values):
            if value.dtype.kind not in "fc":
                continue
            with named(call, number), suppress(ShardingError):
                some_of_it = np.asarray(rng.normal(size=value.shape), value.dtype)
                terms = [some_of_it, np.asarray(value - some_of_it)]
                shards = [
                    part(whole, {number: (term, Part.OF_SUM)}, 7, (i, i + 1))
                    for i, term in enumerate(terms)
                ]
                check(whole, shards)


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_what_is_equal_for_all_rows(family):
    for call, _ in recordings(family):
        pairs = [divided for divided in divisions(call.values) if len(divided) == 2]
        for (i, axis), (j, along) in [[*d.items()][::order] for d in pairs for order in (1, -1)]:
            with named(call, i, j), suppress(ShardingError):
                values, shape = [*call.values], call.values[j].shape
                values[j] = np.take(values[j], [0], along)

                def record(b, *inputs, call=call, j=j, shape=shape):
                    repeated = b.broadcast(inputs[j], shape)
                    return call.record(b, *inputs[:j], repeated, *inputs[j + 1 :])

                whole = recorded(record, values)
                if whole is None:
                    continue
                rows, shards = values[i].shape[axis], []
                for shard in cuts(rows):
                    own = np.take(values[i], range(*shard), axis), Along(axis)
                    shards.append(part(whole, {i: own}, rows, shard))
                check(whole, shards)
