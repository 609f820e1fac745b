"""Every function that programs can call, run through the checker at sample points.

A family's samples are the list ``SAMPLES`` in ``samples/<family>.py``; names in ``REAL`` there are
left out with complex numbers, for want of meaning or because the samples must have a structure.
"""

import runpy
from dataclasses import replace
from pathlib import Path

import gradwire_engine.ops  # noqa: F401  (fills the registry)
import numpy as np
import pytest
from gradwire_engine.check import Call, check, trace
from gradwire_engine.errors import DtypeMismatch
from gradwire_engine.ops.base import FUNCTIONS

TABLES = {
    path.stem: runpy.run_path(str(path))
    for path in sorted((Path(__file__).parent / "samples").glob("*.py"))
}
SAMPLES = [call for table in TABLES.values() for call in table["SAMPLES"]]
REAL = {name for table in TABLES.values() for name in table.get("REAL", ())}


def converted(x, dtype):
    """The arguments with floating arrays in another dtype; complex ones leave the real line."""
    if isinstance(x, np.ndarray) and x.dtype.kind == "f":
        if np.dtype(dtype).kind == "c":
            return (x * (1 + 0.2j) + 0.1j).astype(dtype)
        return x.astype(dtype)
    if isinstance(x, list | tuple):
        return type(x)(converted(item, dtype) for item in x)
    return x


def in_dtype(call: Call, dtype) -> Call:
    kwargs = {key: converted(value, dtype) for key, value in call.kwargs.items()}
    return replace(call, args=converted(call.args, dtype), kwargs=kwargs)


def takes(call: Call) -> bool:
    try:
        trace(call.record, call.values)
    except DtypeMismatch:
        return False
    return True


def names(calls):
    return [f"{call.function}-{n}" for n, call in enumerate(calls)]


COMPLEX = [
    call
    for call in (in_dtype(s, "complex128") for s in SAMPLES if s.function not in REAL)
    if any(v.dtype.kind == "c" for v in call.values) and takes(call)
]


@pytest.mark.parametrize("family", sorted({f.family for f in FUNCTIONS.values()}))
def test_every_function_has_a_sample(family):
    sampled = {FUNCTIONS[call.function].name for call in SAMPLES}
    assert {f.name for f in FUNCTIONS.values() if f.family == family} <= sampled


@pytest.mark.parametrize("call", SAMPLES, ids=names(SAMPLES))
def test_double(call):
    assert check(call.record, call.values) == []


@pytest.mark.parametrize("call", SAMPLES, ids=names(SAMPLES))
def test_single(call):
    single = in_dtype(call, "float32")
    assert check(single.record, single.values) == []


@pytest.mark.parametrize("call", COMPLEX, ids=names(COMPLEX))
def test_complex(call):
    assert check(call.record, call.values) == []
