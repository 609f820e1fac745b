"""All functions of vectors by their names.

They are within 1.5 units in the last place; special values as IEEE 754 and C have them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from gradwire_engine.backends.llvm.functions import (
    areas,
    exponentials,
    lengths,
    logarithms,
    special,
    trigonometric,
)
from gradwire_engine.backends.llvm.functions.vectors import LANES, TRUTHS, VECTOR

_WRITTEN: Mapping[str, Callable[[], str]] = {
    "exp": exponentials.exp,
    "exp2": exponentials.exp2,
    "expm1": exponentials.expm1,
    "sinh": exponentials.sinh,
    "cosh": exponentials.cosh,
    "tanh": exponentials.tanh,
    "log": logarithms.log,
    "log2": logarithms.log2,
    "log10": logarithms.log10,
    "log1p": logarithms.log1p,
    "pow": logarithms.power,
    "cbrt": logarithms.cbrt,
    "hypot": lengths.hypot,
    "fmod": lengths.fmod,
    "sin": trigonometric.sin,
    "cos": trigonometric.cos,
    "tan": trigonometric.tan,
    "asin": trigonometric.asin,
    "acos": trigonometric.acos,
    "atan": trigonometric.atan,
    "atan2": trigonometric.atan2,
    "asinh": areas.asinh,
    "acosh": areas.acosh,
    "atanh": areas.atanh,
    "erf": special.erf,
    "erfc": special.erfc,
    "erfcx": special.erfcx,
    "lgamma": special.lgamma,
    "digamma": special.digamma,
}
_OF_TWO = frozenset(("pow", "hypot", "atan2", "fmod"))
#: Functions that the C library does not have: numbers are computed as vectors of them.
_NOT_IN_C = frozenset(("erfcx", "digamma"))
NAMES = tuple(_WRITTEN)


def operands(name: str) -> int:
    """The number of operands of a function."""
    return 2 if name in _OF_TWO else 1


def symbol(name: str, *, wide: bool) -> str:
    """The name that machine code calls a function by: the C library's for numbers."""
    if name not in NAMES:
        raise KeyError(name)
    if wide:
        return f"gw_{name}"
    return f"gw_number_{name}" if name in _NOT_IN_C else name


#: The names of all that is compiled here.
SYMBOLS = (
    *[symbol(name, wide=True) for name in NAMES],
    *[symbol(name, wide=False) for name in sorted(_NOT_IN_C)],
)


def _of_number(name: str) -> str:
    return (
        f"define double @{symbol(name, wide=False)}(double %x) {{\n"
        f"  %v = insertelement {VECTOR} zeroinitializer, double %x, i32 0\n"
        f"  %z = call {VECTOR} @gw_{name}({VECTOR} %v)\n"
        f"  %y = extractelement {VECTOR} %z, i32 0\n  ret double %y\n}}\n"
    )


@cache
def library() -> str:
    """The text of all functions."""
    declared = [
        f"declare double @{name}({', '.join(['double'] * operands(name))})"
        for name in NAMES
        if name not in _NOT_IN_C
    ]
    declared += [
        f"declare {VECTOR} @llvm.{name}.v{LANES}f64({VECTOR})"
        for name in ("fabs", "floor", "rint", "sqrt")
    ]
    declared.append(f"declare {VECTOR} @llvm.copysign.v{LANES}f64({VECTOR}, {VECTOR})")
    declared.append(f"declare {VECTOR} @llvm.fma.v{LANES}f64({VECTOR}, {VECTOR}, {VECTOR})")
    declared.append(f"declare i1 @llvm.vector.reduce.or.v{LANES}i1({TRUTHS})")
    made = [write() for write in _WRITTEN.values()]
    made += [*map(_of_number, sorted(_NOT_IN_C))]
    return "\n".join([*declared, *made])
