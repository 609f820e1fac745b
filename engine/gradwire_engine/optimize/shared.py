"""Sines and cosines of one angle from what they share, the tangent of its half.

NumPy computes float64 tangents by the vector instructions of AVX-512 where it finds them, sines and
cosines one by one: a tangent takes a quarter of the time of a sine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Constant
from gradwire_engine.ops.pointwise.arithmetic import Add, Divide, Multiply
from gradwire_engine.ops.pointwise.half_angles import CosineBySine
from gradwire_engine.ops.pointwise.trigonometric import Sin, Tan
from gradwire_engine.tape import ArrayType, Type

#: Gives the slot of an operation on slots.
Record: TypeAlias = Callable[..., int]

#: Fewest elements for which six quick calls take less time than a slow one.
_FEWEST = 2048
#: NumPy's names of the vector instructions with which tangents are quick.
_VECTORS = ("AVX512_SKX", "X86_V4")


def _has_quick_tangent() -> bool:
    """Whether this NumPy, on this processor, has vectorised tangents."""
    introspect = getattr(np.lib, "introspect", None)
    if introspect is None:
        return False
    found = introspect.opt_func_info(func_name="^tan$", signature="^float64")
    return any(kind["current"] in _VECTORS for kind in found.get("tan", {}).values())


_QUICK_TANGENT = _has_quick_tangent()


def by_half_angle(op: Op, x: int, kind: Type, record: Record) -> int | None:
    """The slot of the sine or cosine of slot ``x``, if its half's tangent gives it in less time.

    ``sin x = 2 t / (1 + t²)`` with ``t = tan(x / 2)``: within 4 units in the last place, since an
    error of ``t`` counts by ``cos x``.  Source: DLMF 4.21.27.
    """
    if not (_QUICK_TANGENT and isinstance(kind, ArrayType) and kind.dtype == np.float64):
        return None
    if kind.size < _FEWEST:
        return None
    half, one = (record(Constant.of(np.asarray(number))) for number in (0.5, 1.0))
    t = record(Tan(), record(Multiply(), x, half))
    ratio = record(Divide(), t, record(Add(), record(Multiply(), t, t), one))
    s = record(Add(), ratio, ratio)
    return s if isinstance(op, Sin) else record(CosineBySine(), x, t, s)
