"""Which values of a generated function are Python's floats and bools, not NumPy's scalars.

Operators on Python's floats take a third of the time of those on NumPy's scalars, and functions of
``math`` a quarter of that of ufuncs.  Where they raise, IEEE arithmetic may have an answer (1 / 0
is infinite): functions are written in two ways, and the *quick* one is left for the other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradwire_engine.backends.numpy.text import Text
from gradwire_engine.tape import Tape, scalar_char

#: What leaves a quick function: errors of Python's arithmetic and of ``math``.
LEFT = (ArithmeticError, ValueError)
#: What makes NumPy's scalars, by the dtypes' characters.
_NUMPY = {"d": "float64", "?": "truth"}


class Scalars:
    """Writes the values of a tape's slots so that each has the form which its readers need.

    The slots that are ``carried`` from one pass of a loop to the next have Python's form in a quick
    function wherever their type has one.
    """

    def __init__(self, tape: Tape, text: Text, *, quick: bool, carried: Sequence[int] = ()) -> None:
        self._tape = tape
        self.quick = quick
        self._codes: dict[int, str] = {}
        #: Slots whose values are, or may be, Python's.
        self._python: set[int] = set()
        text.bind(math, "math")
        text.bind(float, "float")
        text.bind(np.float64, "float64")
        text.bind(np.bool_, "truth")
        if quick:
            self._python.update(slot for slot in carried if self._char(slot) in _NUMPY)
            for slot, (op, args, _, _) in enumerate(tape.instructions):
                code = op.scalar_code([tape.instructions[a].type for a in args])
                if code:
                    self._codes[slot] = code
                    self._python.add(slot)
                    self._python.update(a for a in args if self._char(a) == "d")

    def constant(self, slot: int, value: Any) -> Any:
        """A constant in the form that the slot has."""
        return float(value) if self._is_float(slot) else value

    def code(self, slot: int, names: Mapping[int, str]) -> str:
        """The right-hand side of what has scalar code, else nothing."""
        code = self._codes.get(slot, "")
        return code.format(*[names[a] for a in self._tape.instructions[slot].args])

    def operands(self, slot: int, names: Mapping[int, str]) -> list[str]:
        """What the operation of a slot without scalar code is called with."""
        op, args, _, _ = self._tape.instructions[slot]
        if op.template and not self._char(slot):  # beside arrays operators take both forms
            return [names[a] for a in args]
        return [self.leaving(a, names[a]) for a in args]

    def entering(self, slot: int, value: str) -> str:
        """A value of NumPy's in the form that the slot has."""
        return f"float({value})" if self._is_float(slot) else value

    def unstacked(self, slot: int, value: str) -> str:
        """An item of a stack, where quick functions leave values of either form."""
        char = self._char(slot)
        plain = slot in self._python or char not in _NUMPY
        return self.entering(slot, value) if plain else f"{_NUMPY[char]}({value})"

    def leaving(self, slot: int, value: str) -> str:
        """The value of a slot as NumPy's scalar, or array."""
        return f"{_NUMPY[self._char(slot)]}({value})" if slot in self._python else value

    def _is_float(self, slot: int) -> bool:
        return slot in self._python and self._char(slot) == "d"

    def _char(self, slot: int) -> str:
        return scalar_char(self._tape.instructions[slot].type)
