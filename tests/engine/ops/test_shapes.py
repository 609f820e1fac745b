"""Every function's samples again with shapes that bite: what is accepted has to be right.

Scalars, arrays without elements, of one element, with new axes of length 1, read backwards and in
another order of memory. Where a result is not finite, or an index beyond the smaller array, or the
matrix of ones singular, there are no differences to compare with, but types and batching hold.
"""

import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gradwire_engine.check import Call, check, evaluate, trace
from gradwire_engine.errors import EngineError

HERE = Path(__file__).parent
SAMPLES = [
    call
    for path in sorted((HERE / "samples").glob("*.py"))
    for call in runpy.run_path(str(path))["SAMPLES"]
    if call.values
]


def backwards(x):
    """The same elements, two apart in memory and from the last to the first."""
    if not x.ndim:
        return x
    wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
    wide[..., 1::2] = x[..., ::-1]
    return wide[..., ::-1][..., ::2]


VARIANTS = {
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


def mapped(x, function):
    if isinstance(x, np.ndarray):
        return function(x)
    return type(x)(mapped(i, function) for i in x) if isinstance(x, list | tuple) else x


def variant(call: Call, function) -> Call:
    kwargs = {key: mapped(value, function) for key, value in call.kwargs.items()}
    return replace(call, args=mapped(call.args, function), kwargs=kwargs)


def accepted(call: Call) -> bool:
    try:
        trace(call.record, call.values)
    except EngineError:
        return False
    return True


@pytest.mark.parametrize("call", SAMPLES, ids=[f"{c.function}-{i}" for i, c in enumerate(SAMPLES)])
def test_shapes(call):
    for name, function in VARIANTS.items():
        other = variant(call, function)
        if not accepted(other):
            continue
        try:
            finite = all(np.isfinite(z).all() for z in evaluate(other.record, other.values))
        except (IndexError, np.linalg.LinAlgError):
            continue
        assert check(other.record, other.values, order=int(finite)) == [], name
