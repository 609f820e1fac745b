"""Finds the values of a generated function that are Python's floats and bools, not NumPy's scalars.

Operators on Python's floats take a third of the time of those on NumPy's scalars, and functions of
``math`` a quarter of that of ufuncs.  Where they raise, IEEE arithmetic may have an answer (1 / 0
is infinite): functions are written in two ways, and the *quick* one is left for the other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradwire_engine.backends.numpy.emit import INLINED, ON_NUMBERS
from gradwire_engine.backends.numpy.text import Text
from gradwire_engine.ops.constants import Constant
from gradwire_engine.polling import polled
from gradwire_engine.tape import Tape, Type, scalar_char

#: Exceptions that leave a quick function: those of Python's arithmetic and of ``math``.
LEFT = (ArithmeticError, ValueError)
#: Constructors of NumPy's scalars, by the dtypes' characters.
_NUMPY = {"d": "float64", "?": "truth"}
#: The names that code has, functions of ``math`` without the module that they would be sought in.
_NAMES = {
    **{f"math_{name}": value for name, value in vars(math).items() if callable(value)},
    "round": round,
    "float": float,
    "float64": np.float64,
    "truth": np.bool_,
}


class Scalars:
    """Writes the values of a tape's slots so that each has the form which its readers need.

    The slots that are ``carried`` from one pass of a loop to the next have Python's form in a quick
    function wherever their type has one.
    """

    def __init__(self, tape: Tape, text: Text, *, quick: bool, carried: Sequence[int] = ()) -> None:
        self._tape = tape
        self._text = text
        self.quick = quick
        #: Code of slots: of scalars, and of the others.
        self.codes: dict[int, str] = {}
        self._inlined: dict[int, str] = {}
        #: Slots whose values are, or may be, Python's.
        self._python: set[int] = set()
        #: The values of constants without axes, which have a form for each reader.
        self._constants: dict[int, Any] = {}
        text.names.update(_NAMES)
        if quick:
            self._python.update(slot for slot in carried if self._char(slot) in _NUMPY)
            self._find_code()

    def _find_code(self) -> None:
        made, char = self._tape.instructions, self._char
        for slot, (op, args, _, _) in enumerate(polled(made, self._text.poll)):
            if type(op) is Constant:
                if char(slot):
                    self._constants[slot] = op.value
                continue
            types = [made[a].type for a in args]
            code = ON_NUMBERS[type(op)](op, types)
            if code:
                self.codes[slot] = code.replace("math.", "math_")
                self._python.add(slot)
                self._python.update(a for a in args if char(a) == "d")
            else:
                code = INLINED[type(op)](op, self._text.bind, *types)
                if code:
                    self._inlined[slot] = code

    def type(self, slot: int) -> Type:
        """The type of a slot."""
        return self._tape.instructions[slot].type

    def operand_types(self, slot: int) -> list[Any]:
        """The types of the operands of a slot."""
        made = self._tape.instructions
        return [made[a].type for a in made[slot].args]

    def constant(self, slot: int, value: Any) -> Any:
        """A constant in the form that the slot has."""
        return float(value) if self._is_float(slot) else value

    def code(self, slot: int, names: Mapping[int, str]) -> str:
        """The right-hand side of what is an expression, else nothing."""
        args = self._tape.instructions[slot].args
        code = self.codes.get(slot)
        if code:
            return code.format(*[self._number(a, names) for a in args])
        code = self._inlined.get(slot)
        return self.entering(slot, code.format(*self.operands(slot, names))) if code else ""

    def operands(self, slot: int, names: Mapping[int, str]) -> list[str]:
        """The arguments of an operation whose slot has no scalar code."""
        op, args, _, _ = self._tape.instructions[slot]
        if not op.elementwise or self._char(slot):
            return [self.leaving(a, names[a]) for a in args]
        # Beside arrays operators take both forms, and arrays soonest.
        name = names.__getitem__ if op.template else lambda a: self.leaving(a, names[a])
        return [self._array(a) if a in self._constants else name(a) for a in args]

    def _number(self, slot: int, names: Mapping[int, str]) -> str:
        """A value where Python's numbers are taken, constants as they are written."""
        value = self._constants.get(slot)
        if value is None or value.dtype.char not in _NUMPY or not np.isfinite(value):
            return names[slot]
        written = repr(value.item())
        return f"({written})" if written.startswith("-") else written

    def _array(self, slot: int) -> str:
        """A constant as an array, which NumPy need not make of it every time."""
        return self._text.bind(np.asarray(self._constants[slot]), f"a{slot}")

    def entering(self, slot: int, value: str) -> str:
        """A value of NumPy's in the form that the slot has."""
        return f"float({value})" if self._is_float(slot) else value

    def sent(self, slot: int, value: str) -> str:
        """An input, which may be an array without axes, in the form that the slot has."""
        plain = self._is_float(slot) or not self._char(slot)
        return self.entering(slot, value if plain else f"{value}[()]")

    def unstacked(self, slot: int, value: str) -> str:
        """An item of a stack, where quick functions leave values of either form."""
        char = self._char(slot)
        plain = slot in self._python or char not in _NUMPY
        return self.entering(slot, value) if plain else f"{_NUMPY[char]}({value})"

    def leaving(self, slot: int, value: str) -> str:
        """The value of a slot as NumPy's scalar, or array."""
        if slot in self._constants:
            return self._text.bind(self._constants[slot], f"n{slot}")
        return f"{_NUMPY[self._char(slot)]}({value})" if slot in self._python else value

    def _is_float(self, slot: int) -> bool:
        return slot in self._python and self._char(slot) == "d"

    def _char(self, slot: int) -> str:
        return scalar_char(self._tape.instructions[slot].type)
