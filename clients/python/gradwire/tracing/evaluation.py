"""Values of terms for the arguments of a call, computed by NumPy and SciPy themselves.

Python asks for values while a function is recorded: to decide, or for a shape that values decide.
They need not be the service's to the last bit: each is a guard, which the service's answer checks.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from gradwire.bfloat16 import BFLOAT16
from gradwire.tracing.terms import (
    AT,
    ITEM,
    VALUE,
    Body,
    Leaf,
    Term,
    TextFunction,
    dependencies,
)

#: Values that are kept, in bytes; of more, the oldest are computed again where they are needed.
MOST_BYTES = 1 << 28
#: Smaller values are always kept.
_SMALL_BYTES = 1 << 12
#: Operators by their sign, with one operand and with two.
_UNARY: Mapping[str, Callable[..., Any]] = {
    "-": np.negative, "+": np.positive, "~": np.invert,
}  # fmt: skip
_BINARY: Mapping[str, Callable[..., Any]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.true_divide, "//": np.floor_divide,
    "%": np.remainder, "**": np.power, "@": np.matmul, "&": np.bitwise_and, "|": np.bitwise_or,
    "^": np.bitwise_xor, "<<": np.left_shift, ">>": np.right_shift, "==": np.equal,
    "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip
#: Functions of the language without a library's name that NumPy has, too.
_OWN: Mapping[str, Callable[..., Any]] = {"copy": np.copy, "stop_gradient": np.asarray}
#: Those that give a function of the program.
_OF_FUNCTIONS = frozenset({"vmap", "checkpoint", "custom_gradient"})
_UPDATES: Mapping[str, Callable[..., Any]] = {
    "add": np.add.at, "multiply": np.multiply.at, "min": np.minimum.at, "max": np.maximum.at,
}  # fmt: skip


class NotHere(Exception):
    """Only the service can compute a term: NumPy has no such function, or an operand is far."""

    def __init__(self, term: Term) -> None:
        super().__init__(term.op)
        self.term = term


class LocalValues:
    """The values of one recording's terms; ``given`` has those of its leaves. Not thread-safe."""

    def __init__(self, given: Callable[[Leaf], Any], most_bytes: int = MOST_BYTES) -> None:
        self.given: Callable[[Leaf], Any] = given
        self._most_bytes = most_bytes
        self._known: dict[Term, Any] = {}
        #: Terms that have the value of another.
        self._same: dict[Term, Term] = {}
        #: Known values that are large, the oldest first, with their bytes.
        self._large: dict[Term, int] = {}
        self._bytes = 0

    def of(self, terms: Sequence[Term]) -> list[Any]:
        """The value of each term.

        Raises: ``NotHere``.
        """
        order = dependencies(terms, self._needs_nothing)
        #: How often each value will still be read.
        uses = Counter([operand for term in order for operand in term.operands])
        uses.update(terms)
        with np.errstate(all="ignore"):
            for term in order:
                self.learn(term, self._computed(term))
                uses.subtract(term.operands)
                self._make_room(uses)
            return [self._value(term) for term in terms]

    def learn(self, term: Term, value: Any) -> None:
        """Keep the value of a term."""
        self._known[term] = value
        nbytes = _nbytes(value)
        if nbytes > _SMALL_BYTES:
            self._large[term] = nbytes
            self._bytes += nbytes

    def same(self, term: Term, other: Term) -> None:
        """Say that a term has the value of another, by which it is computed."""
        self._same[term] = other

    def _make_room(self, uses: Mapping[Term, int]) -> None:
        if self._bytes <= self._most_bytes:
            return
        for term in [term for term in self._large if not uses.get(term)]:
            self._bytes -= self._large.pop(term)
            del self._known[term]
            if self._bytes <= self._most_bytes:
                return

    def _needs_nothing(self, term: Term) -> bool:
        is_given = isinstance(term, (Leaf, Body, TextFunction)) or term.op in _OF_FUNCTIONS
        return is_given or term in self._known or term in self._same

    def _value(self, term: Term) -> Any:
        if term in self._same:
            return self.of([self._same[term]])[0]
        if term in self._known or not isinstance(term, Leaf):
            return self._known[term]
        try:
            return _here(self.given(term))
        except TypeError as error:
            raise NotHere(term) from error

    def _computed(self, term: Term) -> Any:
        """One operation, by NumPy."""
        try:
            args = [self._with_values(arg) for arg in term.args]
            kwargs = {name: self._with_values(value) for name, value in term.kwargs.items()}
            if term.op == ITEM:
                return _here(args[0][args[1]])
            if term.op == VALUE:
                return args[0]
            if term.op.startswith(AT):
                return _updated(term.op.removeprefix(AT), *args)
            return _here(_function(term.op, len(args))(*args, **kwargs))
        except Exception as error:  # what is wrong with a call, the service says better
            raise NotHere(term) from error

    def _with_values(self, arg: Any) -> Any:
        """An argument with values in place of its terms."""
        if isinstance(arg, Term):
            return self._value(arg)
        if isinstance(arg, (list, tuple)):
            return type(arg)([self._with_values(item) for item in arg])
        if isinstance(arg, dict):
            return {name: self._with_values(item) for name, item in arg.items()}
        if isinstance(arg, slice):
            return slice(*map(self._with_values, (arg.start, arg.stop, arg.step)))
        return arg


def _updated(how: str, whole: Any, key: Any, value: Any) -> Any:
    made = np.array(whole)
    if how == "set":
        made[key] = value
    else:
        _UPDATES[how](made, key, value)
    return made


def _function(op: str, count: int) -> Callable[..., Any]:
    return _named(op) if op[0].isidentifier() else (_UNARY if count == 1 else _BINARY)[op]


@cache
def _named(op: str) -> Callable[..., Any]:
    """A function of NumPy or SciPy by its name in the language."""
    if op in _OWN:
        return _OWN[op]
    library, *path = op.split(".")
    found: Any = {"np": np, "scipy": sys.modules.get("scipy")}[library]
    for name in path:
        found = getattr(found, name)
    function: Callable[..., Any] = found
    return function


def _here(value: Any) -> Any:
    """A value with which NumPy computes as the service does; an error of any other."""
    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype == BFLOAT16 or value.dtype.kind not in "biufc":
            raise TypeError(value.dtype)
    elif not isinstance(value, (int, float, complex, list, tuple)):
        raise TypeError(type(value))  # a sparse array, or one that is elsewhere
    return value


def _nbytes(value: Any) -> int:
    if isinstance(value, (list, tuple, dict)):
        return sum(map(_nbytes, value.values() if isinstance(value, dict) else value))
    return getattr(value, "nbytes", 0)
