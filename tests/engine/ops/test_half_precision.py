"""Functions of float16 and bfloat16 are those of float32, rounded once: so are their slopes."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from gradwire_engine.autodiff.reverse import gradient
from gradwire_engine.check import Call, Recorded
from gradwire_engine.errors import EngineError
from gradwire_engine.ops.halves import HALVES
from numpy.testing import assert_allclose

from tests.effort import some
from tests.engine.ops.sampled import FUNCTIONS_SAMPLED, with_arrays

#: Dtypes, and factors of the samples' numbers: ordinary ones, zeros, such whose squares are no
#: numbers of float16, and such whose squares it has not.
CASES = [(HALVES[0], scale) for scale in (1.0, 0.0, 1e-4, 300.0)] + [(HALVES[1], 1.0)]
#: Twice the unit: of x @ x each half of the slope is rounded.
UNITS = {"float16": 2.0**-9, "bfloat16": 2.0**-6}
SMALLEST = {"float16": 2.0**-24, "bfloat16": 2.0**-126}


def answers(call: Call) -> tuple[list[Any], list[Any]]:
    """The results of a call, and the gradients of their sum."""
    recorded = Recorded(call.record, call.values)
    targets = [z for z in recorded.outputs if z.type.differentiable]
    sources = [x for x in recorded.inputs if x.type.differentiable]
    slopes = gradient(recorded.b, targets, sources) if targets and sources else []
    made = [*recorded.outputs, *[bar for bar in slopes if bar is not None]]
    found = recorded.compute(made)
    return [found[z.slot] for z in made], [z.type for z in made]


def scaled(call: Call, by: float) -> Call:
    return with_arrays(call, lambda x: x * by if x.dtype.kind == "f" else x)


def floats(call: Call, dtype: Any) -> Call:
    return with_arrays(call, lambda x: x.astype(dtype) if x.dtype.kind in "fV" else x)


# Draws have as many bits as the dtype resolves.
@pytest.mark.parametrize(
    "name", [name for name in sorted(FUNCTIONS_SAMPLED) if not name.startswith("random.")]
)
def test_is_float32_rounded_once(name):
    for (dtype, scale), sample in product(CASES, some(FUNCTIONS_SAMPLED[name])):
        with np.errstate(invalid="ignore"):
            call = scaled(sample, scale)
        half = floats(call, dtype)
        try:
            found, kinds = answers(half)
        except EngineError:
            continue  # linear algebra takes neither
        expected, _ = answers(floats(half, np.float32))
        assert_rounded(found, expected, kinds, str(half))


def assert_rounded(found: list[Any], expected: list[Any], kinds: list[Any], what: str) -> None:
    """Of those that are half precision, the numbers that were expected in float32."""
    for x, y, kind in zip(found, expected, kinds, strict=True):
        if kind.dtype in HALVES:
            with np.errstate(all="ignore"):
                exact = np.asarray(y).astype(kind.dtype).astype(np.float32)
            bounds = UNITS[kind.dtype.name], SMALLEST[kind.dtype.name]
            assert_allclose(np.asarray(x, np.float32), exact, *bounds, err_msg=what)


def test_a_tie_of_more_elements_than_float16_counts():
    call = Call.of("max", np.ones(70_000, np.float16))
    (_, slope), _ = answers(call)
    assert set(slope.tolist()) == {float(np.float16(1 / 70_000))}
