"""Every function that programs can call, run through the checker at sample points."""

import pytest
from gradwire_engine.check import Recorded, check, examine
from gradwire_engine.errors import DtypeMismatch
from gradwire_engine.ops.base import FUNCTIONS

from tests.engine.conftest import named
from tests.engine.ops.sampled import FAMILIES, FUNCTIONS_SAMPLED, REAL, in_dtype, some_of_each


def test_every_function_has_a_sample():
    assert {f.name for f in FUNCTIONS.values()} <= FUNCTIONS_SAMPLED.keys()


@pytest.mark.parametrize("family", FAMILIES)
def test_double(family):
    for call in FAMILIES[family]:
        with named(call):
            assert check(call.record, call.values) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_single(family):
    for sample in some_of_each(FAMILIES[family]):
        call = in_dtype(sample, "float32")
        with named(call):
            assert check(call.record, call.values) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_complex(family):
    calls = [in_dtype(call, "complex128") for call in FAMILIES[family] if call.function not in REAL]
    for call in some_of_each([c for c in calls if any(v.dtype.kind == "c" for v in c.values)]):
        with named(call):
            try:
                recorded = Recorded(call.record, call.values)
            except DtypeMismatch:
                continue
            assert examine(recorded) == []
