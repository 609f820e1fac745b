"""All functions by their names, in all forms.

They are within 1.5 units in the last place, those of floats within 2; special values as IEEE 754
and C have them. Functions of vectors call the C library's where few lanes need it; those of one
number call nothing but each other and what processors have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache

from gradwire_engine.backends.llvm.functions import (
    areas,
    exponentials,
    far_angles,
    lengths,
    logarithms,
    special,
    trigonometric,
)
from gradwire_engine.backends.llvm.functions.forms import DOUBLES, VECTORS, Form
from gradwire_engine.backends.llvm.functions.singles import angles as single_angles
from gradwire_engine.backends.llvm.functions.singles import areas as single_areas
from gradwire_engine.backends.llvm.functions.singles import exponentials as single_exponentials
from gradwire_engine.backends.llvm.functions.singles import logarithms as single_logarithms

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
#: Those that floats have in other formulas.
_OF_FLOATS: Mapping[str, Callable[[Form], str]] = {
    "exp": single_exponentials.exp,
    "exp2": single_exponentials.exp2,
    "expm1": single_exponentials.expm1,
    "sinh": single_exponentials.sinh,
    "cosh": single_exponentials.cosh,
    "tanh": single_exponentials.tanh,
    "log": single_logarithms.log,
    "log1p": single_logarithms.log1p,
    "log2": single_logarithms.log2,
    "log10": single_logarithms.log10,
    "pow": single_logarithms.power,
    "sin": single_angles.sin,
    "cos": single_angles.cos,
    "tan": single_angles.tan,
    "asin": single_angles.asin,
    "acos": single_angles.acos,
    "atan": single_angles.atan,
    "atan2": single_angles.atan2,
    "asinh": single_areas.asinh,
    "acosh": single_areas.acosh,
    "atanh": single_areas.atanh,
    "erf": single_exponentials.erf,
    "erfc": single_exponentials.erfc,
}
#: Functions that those of one number call.
_PARTS: Mapping[str, Callable[[Form], str]] = {"far_rest": far_angles.rest}
_OF_TWO = frozenset(("pow", "hypot", "atan2", "fmod"))
#: Functions that the C library does not have.
_NOT_IN_C = frozenset(("erfcx", "digamma"))
#: A call: the type of its value, and whom; processors' functions of more than one operand.
_CALL = re.compile(r"call (?P<kind>[^@]+) @(?P<name>[\w.]+)\(")
#: Where a function returns what it usually does: what is before, the condition, and the value.
_USUALLY = re.compile(
    r"^(?P<before>.*?)  br i1 (?P<seldom>%\w+), label %seldom, label %often\n"
    r"often:\n  ret (?P<kind>\w+) (?P<value>\S+)\n",
    re.DOTALL,
)
_INTRINSIC = {"fma": 3, "copysign": 2, "maximum": 2, "minimum": 2}
NAMES = tuple(_WRITTEN)


def operands(name: str) -> int:
    """The number of operands of a function."""
    return 2 if name in _OF_TWO else 1


def symbol(name: str, form: Form) -> str:
    """The name that machine code calls a function by."""
    if name not in NAMES:
        raise KeyError(name)
    return form.prefix + name


def usual_symbol(name: str, form: Form) -> str:
    """The name of the function that does what another one usually does."""
    return f"{form.prefix}usual_{name}"


def has_seldom(name: str, form: Form) -> bool:
    """True if there is a function that does what another one usually does."""
    return symbol(name, form) in _usual_texts(form)


def number_symbol(name: str) -> str:
    """The name of a function of one number on this processor: the C library's, where it has it."""
    if name not in NAMES:
        raise KeyError(name)
    return symbol(name, DOUBLES) if name in _NOT_IN_C else name


#: The names of all that is compiled for this processor.
SYMBOLS = (
    *[symbol(name, VECTORS) for name in NAMES],
    *[number_symbol(name) for name in sorted(_NOT_IN_C)],
)


@cache
def _texts(form: Form) -> Mapping[str, str]:
    """The text of each function by its symbol."""
    of_floats, parts = (_OF_FLOATS if form.single else {}), ({} if form.wide else _PARTS)
    written = {**_WRITTEN, **of_floats, **parts}
    return {form.prefix + name: write(form) for name, write in written.items()}


@cache
def _usual_texts(form: Form) -> Mapping[str, str]:
    """The texts of functions that end before what others of one number seldom do, by their symbols.

    They give a value, and if it is not the right one.
    """
    found = {name: _USUALLY.match(text) for name, text in _texts(form).items()}
    return {name: _usual_text(name, form, each) for name, each in found.items() if each}


def _usual_text(name: str, form: Form, found: re.Match[str]) -> str:
    kind, both = form.element, f"{{ {form.element}, i1 }}"
    usual = usual_symbol(name.removeprefix(form.prefix), form)
    whole = f"define {kind} @{name}("
    return (
        f"{found['before'].replace(whole, f'define {both} @{usual}(')}"
        f"  %usual = insertvalue {both} poison, {kind} {found['value']}, 0\n"
        f"  %both = insertvalue {both} %usual, i1 {found['seldom']}, 1\n  ret {both} %both\n}}\n"
    )


def _with_called(names: Iterable[str], form: Form) -> list[str]:
    """The symbols of functions, and of those that they call, in the library's order."""
    texts = _texts(form)
    found: set[str] = set()
    missing = [symbol(name, form) for name in names]
    while missing:
        name = missing.pop()
        if name in texts and name not in found:
            found.add(name)
            missing += [each["name"] for each in _CALL.finditer(texts[name])]
    return [name for name in texts if name in found]


def _declared(text: str) -> list[str]:
    """Declarations of what a text calls beside functions of this library."""
    called = {found["name"]: found["kind"] for found in _CALL.finditer(text)}
    outside = sorted([name for name in called if not name.startswith("gw_")])
    return [_declaration(name, called[name]) for name in outside]


def _declaration(name: str, kind: str) -> str:
    if name.startswith("llvm.vector.reduce"):
        return f"declare {kind} @{name}({VECTORS.truths})"
    count = _INTRINSIC.get(name.split(".")[1], 1) if name.startswith("llvm.") else operands(name)
    return f"declare {kind} @{name}({', '.join([kind] * count)})"


@cache
def library(form: Form = VECTORS) -> str:
    """The text of all functions in a form, beside vectors numbers that the C library lacks."""
    made = [*_texts(form).values()]
    if form.wide:
        made += [_texts(DOUBLES)[name] for name in _with_called(_NOT_IN_C, DOUBLES)]
    else:
        made += _usual_texts(form).values()
    text = "\n".join(made)
    return "\n".join([*_declared(text), text])


def functions_text(names: Iterable[str], form: Form) -> str:
    """The text of functions, and of those that they call, for a module of which they are part.

    What functions usually do is among them. Texts of different forms have no line in common that
    declares or defines.
    """
    found, usual = _with_called(names, form), _usual_texts(form)
    text = "\n".join([*[_texts(form)[k] for k in found], *[usual[k] for k in found if k in usual]])
    defined = re.sub("^define ", "define internal ", text, flags=re.MULTILINE)
    return "\n".join([*_declared(text), defined])
