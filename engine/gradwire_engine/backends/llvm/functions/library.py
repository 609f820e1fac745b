"""All functions by their names, in all forms.

They are within 1.5 units in the last place; special values as IEEE 754 and C have them. Functions
of vectors call the C library's where few lanes need it; those of numbers call nothing but each
other and what processors have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import NamedTuple

from gradwire_engine.backends.llvm.functions import (
    areas,
    exponentials,
    far_angles,
    lengths,
    logarithms,
    special,
    trigonometric,
)
from gradwire_engine.backends.llvm.functions.forms import VECTORS, Form

_WRITTEN: Mapping[str, Callable[[Form], str]] = {
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
#: Functions that those of one number call.
_PARTS: Mapping[str, Callable[[Form], str]] = {"far_rest": far_angles.rest}
_OF_TWO = frozenset(("pow", "hypot", "atan2", "fmod"))
#: Functions that the C library does not have: numbers are computed as vectors of them.
_NOT_IN_C = frozenset(("erfcx", "digamma"))
#: A call: the type of its value, and whom; processors' functions of more than one operand.
_CALL = re.compile(r"call (?P<kind>[^@]+) @(?P<name>[\w.]+)\(")
_INTRINSIC = {"fma": 3, "fshl": 3, "copysign": 2}
NAMES = tuple(_WRITTEN)


def operands(name: str) -> int:
    """The number of operands of a function."""
    return 2 if name in _OF_TWO else 1


def symbol(name: str, form: Form) -> str:
    """The name that machine code calls a function by."""
    if name not in NAMES:
        raise KeyError(name)
    return form.prefix + name


def number_symbol(name: str) -> str:
    """The name of a function of one number on this processor: the C library's, where it has it."""
    if name not in NAMES:
        raise KeyError(name)
    return f"gw_number_{name}" if name in _NOT_IN_C else name


#: The names of all that is compiled for this processor.
SYMBOLS = (
    *[symbol(name, VECTORS) for name in NAMES],
    *[number_symbol(name) for name in sorted(_NOT_IN_C)],
)


def _of_number(name: str) -> str:
    vector = VECTORS.numbers
    return (
        f"define double @{number_symbol(name)}(double %x) {{\n"
        f"  %v = insertelement {vector} zeroinitializer, double %x, i32 0\n"
        f"  %z = call {vector} @{symbol(name, VECTORS)}({vector} %v)\n"
        f"  %y = extractelement {vector} %z, i32 0\n  ret double %y\n}}\n"
    )


@cache
def _texts(form: Form) -> Mapping[str, str]:
    """The text of each function by its symbol."""
    written = {**_WRITTEN, **({} if form.wide else _PARTS)}
    return {form.prefix + name: write(form) for name, write in written.items()}


def _declared(text: str, form: Form) -> list[str]:
    """Declarations of what a text calls beside functions of this library."""
    called = {found["name"]: found["kind"] for found in _CALL.finditer(text)}
    outside = sorted([name for name in called if not name.startswith("gw_")])
    return [_declaration(name, called[name], form) for name in outside]


def _declaration(name: str, kind: str, form: Form) -> str:
    if name.startswith("llvm.vector.reduce"):
        return f"declare {kind} @{name}({form.truths})"
    count = _INTRINSIC.get(name.split(".")[1], 1) if name.startswith("llvm.") else operands(name)
    return f"declare {kind} @{name}({', '.join([kind] * count)})"


@cache
def library(form: Form = VECTORS) -> str:
    """The text of all functions in a form, beside vectors what the C library does not have."""
    made = [*_texts(form).values()]
    if form.wide:
        made += [*map(_of_number, sorted(_NOT_IN_C))]
    text = "\n".join(made)
    return "\n".join([*_declared(text, form), text])


class Functions(NamedTuple):
    """Definitions of functions, and declarations of what these call: a module declares once."""

    declared: frozenset[str]
    text: str


def functions(names: Iterable[str], form: Form) -> Functions:
    """Functions, and those that they call, for a module that defines them for itself."""
    texts = _texts(form)
    found: set[str] = set()
    missing = [symbol(name, form) for name in names]
    while missing:
        name = missing.pop()
        if name not in found:
            found.add(name)
            missing += [each["name"] for each in _CALL.finditer(texts[name])]
            missing = [each for each in missing if each in texts]
    text = "\n".join([each for name, each in texts.items() if name in found])
    declared = frozenset(_declared(text, form))
    return Functions(declared, re.sub("^define ", "define internal ", text, flags=re.MULTILINE))


def functions_text(names: Iterable[str], form: Form) -> str:
    """The same as one text."""
    declared, text = functions(names, form)
    return "\n".join([*sorted(declared), text])
