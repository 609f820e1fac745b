"""Every function that programs can call, run through the checker at sample points."""

import pytest
from gradwire_engine.check import Recorded, check, examine
from gradwire_engine.errors import DtypeMismatch
from gradwire_engine.ops.base import FUNCTIONS

from tests.effort import some
from tests.engine.conftest import named
from tests.engine.ops.sampled import FUNCTIONS_SAMPLED, REAL, in_dtype


@pytest.mark.parametrize("family", sorted({f.family for f in FUNCTIONS.values()}))
def test_every_function_has_a_sample(family):
    assert {f.name for f in FUNCTIONS.values() if f.family == family} <= FUNCTIONS_SAMPLED.keys()


@pytest.mark.parametrize("function", FUNCTIONS_SAMPLED)
def test_double(function):
    for call in FUNCTIONS_SAMPLED[function]:
        with named(call):
            assert check(call.record, call.values) == []


@pytest.mark.parametrize("function", FUNCTIONS_SAMPLED)
def test_single(function):
    for sample in some(FUNCTIONS_SAMPLED[function]):
        call = in_dtype(sample, "float32")
        with named(call):
            assert check(call.record, call.values) == []


#: Functions with a sample that is converted to complex numbers.
OF_COMPLEX = {
    function: changed
    for function, calls in FUNCTIONS_SAMPLED.items()
    if (
        changed := [
            call
            for call in [in_dtype(c, "complex128") for c in calls if c.function not in REAL]
            if any(value.dtype.kind == "c" for value in call.values)
        ]
    )
}


@pytest.mark.parametrize("function", OF_COMPLEX)
def test_complex(function):
    for call in some(OF_COMPLEX[function]):
        with named(call):
            try:
                recorded = Recorded(call.record, call.values)
            except DtypeMismatch:
                continue
            assert examine(recorded) == []
