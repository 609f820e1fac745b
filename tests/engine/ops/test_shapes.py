"""Every function's samples again with shapes that bite: what is accepted has to be right.

Scalars, arrays without elements, of one element, with new axes of length 1, read backwards and in
another order of memory. Where a result is not finite, or an index beyond the smaller array, or the
matrix of ones singular, there are no differences to compare with, but types and batching hold.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from gradwire_engine.check import Call, Recorded, examine
from gradwire_engine.errors import EngineError

from tests.effort import some
from tests.engine.conftest import named
from tests.engine.ops.sampled import FAMILIES, by_function, with_arrays


def backwards(x):
    """The same elements, two apart in memory and from the last to the first."""
    if not x.ndim:
        return x
    wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
    wide[..., 1::2] = x[..., ::-1]
    return wide[..., ::-1][..., ::2]


VARIANTS: dict[str, Callable[[Any], Any]] = {
    "scalar": lambda x: x.reshape(-1)[:1].reshape(()) if x.size else x,
    "none along the first axis": lambda x: x[:0] if x.ndim else x,
    "none along the last axis": lambda x: x[..., :0] if x.ndim else x,
    "one along the first axis": lambda x: x[:1] if x.ndim else x,
    "one along the last axis": lambda x: x[..., :1] if x.ndim else x,
    "a new first axis": lambda x: x[None],
    "a new last axis": lambda x: x[..., None],
    "backwards in memory": backwards,
    "columns first in memory": np.asfortranarray,
}


def layouts(call: Call) -> tuple[Any, ...]:
    """The shapes and strides of arrays, in which variants differ."""
    return tuple([(v.shape, v.strides) for v in call.values])


def variants(call: Call) -> Iterator[tuple[str, Call]]:
    """Variants of the call, each once."""
    met = {layouts(call)}
    for name, variant in VARIANTS.items():
        other = with_arrays(call, variant)
        if layouts(other) not in met:
            met.add(layouts(other))
            yield name, other


@pytest.mark.parametrize("family", FAMILIES)
def test_shapes(family):
    for calls in by_function(FAMILIES[family]).values():
        examine_variants(some([other for call in calls for other in variants(call)]))


def examine_variants(calls: Iterable[tuple[str, Call]]) -> None:
    for name, call in calls:
        with named(name, call):
            try:
                recorded = Recorded(call.record, call.values)
            except EngineError:
                continue
            try:
                outputs = [recorded.found[z.slot] for z in recorded.outputs]
            except (IndexError, np.linalg.LinAlgError):
                continue
            finite = all(np.isfinite(z).all() for z in outputs)
            assert examine(recorded, order=int(finite)) == []
