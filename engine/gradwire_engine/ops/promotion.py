"""Dtypes by name, and NumPy 2's promotion, in which literals are weak.

bfloat16 is none of NumPy's dtypes: it meets others as float32 does, and stays what it is where it
holds all of their numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np

from gradwire_engine.errors import BadArgument, DtypeMismatch
from gradwire_engine.tape import INEXACT, DType

_NAMES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
    "float16 bfloat16 float32 float64 complex64 complex128"
).split()
BFLOAT16: DType = np.dtype(ml_dtypes.bfloat16)
DTYPES: dict[str, DType] = {
    name: BFLOAT16 if name == "bfloat16" else np.dtype(name) for name in _NAMES
}
#: Dtypes of which bfloat16 holds all numbers.
_HELD = frozenset(DTYPES[name] for name in ("bool", "int8", "uint8", "bfloat16"))
_ALIASES = {"float": "float64", "int": "int64", "complex": "complex128", "double": "float64"}
_PYTHON: dict[str, bool | int | float | complex] = {"b": False, "i": 0, "u": 0, "f": 0.0, "c": 0j}
_RANK = {"b": 0, "i": 1, "u": 1, "f": 2, "V": 2, "c": 3}

#: Dtype and weakness of an operand.
Kind = tuple[DType, bool]


def dtype_of(name: Any) -> DType:
    """The dtype that a program or request names: ``"float32"``, or a dtype itself."""
    if isinstance(name, np.dtype):
        return name
    found = DTYPES.get(_ALIASES.get(name, name)) if isinstance(name, str) else None
    if found is None:
        raise BadArgument("this is not a dtype", hint=f"one of {', '.join(DTYPES)}")
    return found


@lru_cache(maxsize=4096)  # bounded: clients choose what is asked
def promoted(kinds: tuple[Kind, ...]) -> Kind:
    """Dtype and weakness of an operation on operands of these kinds."""
    strong = [dtype for dtype, weak in kinds if not weak]
    if not strong:
        return np.result_type(*[dtype for dtype, _ in kinds]), True
    literals = [_PYTHON[dtype.kind] for dtype, weak in kinds if weak]
    common = _common(strong)
    if common == BFLOAT16:
        if not any(isinstance(literal, complex) for literal in literals):
            return common, False
        common = DTYPES["float32"]
    return np.result_type(common, *literals), False


def _common(dtypes: Sequence[DType]) -> DType:
    """The dtype of what meets without literals."""
    if BFLOAT16 not in dtypes:
        return np.result_type(*dtypes)
    if _HELD.issuperset(dtypes):
        return BFLOAT16
    return np.result_type(np.float32, *[dtype for dtype in dtypes if dtype != BFLOAT16])


@lru_cache(maxsize=4096)
def check_strict(kinds: tuple[Kind, ...]) -> None:
    """Refuse operands that only promotion would bring together, as TensorFlow does."""
    strong = [dtype for dtype, weak in kinds if not weak]
    for dtype in strong[1:]:
        if dtype != strong[0]:
            raise DtypeMismatch(
                f"operands are {strong[0].name} and {dtype.name}, and promotion is strict",
                hint="convert one of them with astype",
            )
    for dtype, weak in kinds:
        if weak and strong and _RANK[dtype.kind] > _RANK[strong[0].kind]:
            raise DtypeMismatch(f"a {dtype.name} literal cannot become {strong[0].name}")


@lru_cache(maxsize=4096)
def inexact(kind: Kind) -> Kind:
    """The dtype of ``exp`` and its like: floats stay, integers widen as NumPy's ufuncs do."""
    dtype, weak = kind
    if dtype.kind in INEXACT:
        return kind
    if dtype.itemsize >= 4:
        return DTYPES["float64"], weak
    return DTYPES["float32" if dtype.itemsize == 2 else "float16"], weak


@lru_cache(maxsize=4096)
def inexact_promoted(kinds: tuple[Kind, ...]) -> Kind:
    """As ``inexact`` for several operands: each integer widens by itself, then they promote."""
    dtype, weak = promoted(kinds)
    strong = [kind for kind, is_weak in kinds if not is_weak]
    if dtype.kind in INEXACT or not strong or _common(strong) != dtype:
        return inexact((dtype, weak))
    return _common([inexact((kind, False))[0] for kind in strong]), False


@lru_cache(maxsize=4096)
def quotient_promoted(kinds: tuple[Kind, ...]) -> Kind:
    """The dtype in which NumPy divides: integers of all sizes in float64."""
    dtype, weak = promoted(kinds)
    return (dtype if dtype.kind in INEXACT else DTYPES["float64"]), weak


@lru_cache(maxsize=4096)
def special_promoted(kinds: tuple[Kind, ...]) -> Kind:
    """The dtype of SciPy's special functions: as that of ``exp``, but float32 at least."""
    dtype, weak = inexact_promoted(kinds)
    return (DTYPES["float32"] if dtype.itemsize == 2 else dtype), weak


def finfo(dtype: DType) -> Any:
    """The limits of a floating dtype, as NumPy's ``finfo``."""
    return ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]


def real_of(dtype: DType) -> DType:
    """The dtype of the real part."""
    return {"c8": DTYPES["float32"], "c16": DTYPES["float64"]}.get(dtype.str[1:], dtype)
