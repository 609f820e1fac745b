"""Conversions of float16 and bfloat16 give the bits of NumPy and ml_dtypes, for all of them."""

from __future__ import annotations

import numpy as np
import pytest
from gradwire_engine.answer import Leaf
from gradwire_engine.engine import Engine
from numpy.testing import assert_array_equal

from tests.engine.conftest import called

pytest.importorskip("llvmlite")

from gradwire_engine.backends.llvm.backend import NativeBackend
from gradwire_engine.backends.llvm.halves import Halves

HALVES = pytest.mark.parametrize("dtype", ["float16", "bfloat16"])


@pytest.fixture(params=["instructions", "none"], autouse=True)
def processor(request, monkeypatch):
    """One with instructions for float16, if this is one, and one without."""
    if request.param == "none":
        monkeypatch.setattr(Halves, "has_float16", False)


def machine_code(text, x):
    engine = Engine(backend=NativeBackend())
    call = called(engine, text, {"x": Leaf(x)}, "evaluate")
    for _ in range(3):
        found = call.replay(lambda: None).value
    ops = [i.op.name for i in call.entry.paths[0].tiers.executable.replayed.instructions]
    assert "native" in ops
    return found


def same(got, expected):
    assert got.dtype == expected.dtype
    bits = f"u{got.itemsize}"
    numbers = ~np.isnan(expected)
    assert_array_equal(np.isnan(got), ~numbers)
    assert_array_equal(got.view(bits)[numbers], expected.view(bits)[numbers])


@HALVES
def test_all_are_read(dtype):
    x = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    with np.errstate(all="ignore"):
        same(machine_code("-astype(x, 'float32')", x), -x.astype(np.float32))


@HALVES
@pytest.mark.parametrize("step", [1, 97])
def test_floats_between_them_are_rounded(dtype, step):
    """Of each sign, exponent and first digits, the ends and the middles of what is left.

    Every 97th: a number of them that vectors do not divide.
    """
    low = [0, 1, 0x0FFF, 0x1000, 0x1001, 0x2FFF, 0x3000, 0x3001, 0x7FFF, 0x8000, 0x8001, 0xFFFF]
    bits = (np.arange(1 << 16, dtype=np.uint32)[:, None] << 16) | np.array(low, np.uint32)
    x = bits.ravel().view(np.float32)[::step].copy()
    with np.errstate(all="ignore"):
        same(machine_code(f"astype(-x, '{dtype}')", x), (-x).astype(dtype))
