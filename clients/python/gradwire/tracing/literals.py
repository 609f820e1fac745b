"""Calls as text with holes: known values are written out, computed ones are holes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import EllipsisType
from typing import Any

import numpy as np

from gradwire.errors import NotTraceable
from gradwire.tracing.terms import Term, user_place

#: Returns the term of a computed value, or ``None`` for a value to write out.
ToTerm = Callable[[Any], "Term | None"]


class Phrase:
    """A piece of program text that is being written."""

    __slots__ = ("_operands", "_parts", "_text", "_to_term")

    def __init__(self, to_term: ToTerm) -> None:
        self._to_term = to_term
        self._parts: list[str] = []
        self._text = ""
        self._operands: list[Term] = []

    def pieces(self) -> tuple[tuple[str, ...], tuple[Term, ...]]:
        """The text between the holes, and the terms in them."""
        return (*self._parts, self._text), tuple(self._operands)

    def term(self) -> Term:
        """The term of this text."""
        return Term(*self.pieces())

    def text(self, text: str) -> None:
        """Write text as it is."""
        self._text += text

    def hole(self, term: Term) -> None:
        """Leave a hole for a term."""
        self._parts.append(self._text)
        self._text = ""
        self._operands.append(term)

    def value(self, value: Any) -> None:
        """Write any argument: a number, a list of arrays, a dtype."""
        term = self._to_term(value)
        if term is not None:
            self.hole(term)
        elif isinstance(value, (list, tuple, range)):
            self._sequence(value)
        elif isinstance(value, Mapping):
            self._mapping(value)
        else:
            self._text += literal(value)

    def operand(self, value: Any) -> None:
        """Write an argument of an operator: negative numbers in parentheses."""
        start = len(self._text)
        self.value(value)
        if self._text[start : start + 1] == "-":
            self._text = f"{self._text[:start]}({self._text[start:]})"

    def arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Write the arguments of a call, without its parentheses."""
        between = ""
        for arg in args:
            self._text += between
            self.value(arg)
            between = ", "
        for name, arg in kwargs.items():
            self._text += f"{between}{name}="
            self.value(arg)
            between = ", "

    def index(self, key: Any) -> None:
        """Write an index, without its brackets."""
        items = key if isinstance(key, tuple) else (key,)
        for position, item in enumerate(items):
            if position:
                self._text += ", "
            if isinstance(item, slice):
                self._slice(item)
            else:
                self.value(item)
        if not items:
            self._text += "..."
        elif isinstance(key, tuple) and len(items) == 1:
            self._text += ","

    def _slice(self, item: slice) -> None:
        self._bound(item.start)
        self._text += ":"
        self._bound(item.stop)
        if item.step is not None:
            self._text += ":"
            self._bound(item.step)

    def _bound(self, bound: Any) -> None:
        if bound is not None:
            self.value(bound)

    def _sequence(self, items: Sequence[Any]) -> None:
        opened, closed = ("[", "]")
        if isinstance(items, tuple) and items:
            opened, closed = "(", ",)" if len(items) == 1 else ")"
        self._text += opened
        for position, item in enumerate(items):
            if position:
                self._text += ", "
            self.value(item)
        self._text += closed

    def _mapping(self, items: Mapping[Any, Any]) -> None:
        self._text += "{"
        for position, (key, item) in enumerate(items.items()):
            self._text += f"{', ' if position else ''}{literal(key)}: "
            self.value(item)
        self._text += "}"


def call(function: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], to_term: ToTerm) -> Term:
    """``function(*args, **kwargs)`` as a term."""
    phrase = Phrase(to_term)
    phrase.text(f"{function}(")
    phrase.arguments(args, kwargs)
    phrase.text(")")
    return phrase.term()


def infix(operator: str, left: Any, right: Any, to_term: ToTerm) -> Term:
    """``left operator right`` as a term."""
    phrase = Phrase(to_term)
    phrase.operand(left)
    phrase.text(f" {operator} ")
    phrase.operand(right)
    return phrase.term()


def item(term: Term, key: Any, to_term: ToTerm) -> Term:
    """``term[key]`` as a term."""
    phrase = Phrase(to_term)
    phrase.hole(term)
    phrase.text("[")
    phrase.index(key)
    phrase.text("]")
    return phrase.term()


def literal(value: Any) -> str:
    """A Python value as program text; ``NotTraceable`` if it has none."""
    if value is None or isinstance(value, (bool, str)):
        return repr(value)
    if isinstance(value, EllipsisType):
        return "..."
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return repr(np.dtype(value).name)
    if isinstance(value, np.generic):
        return f"np.{value.dtype.name}({literal(value.item())})"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return _real(value)
    if isinstance(value, complex):
        return f"complex({_real(value.real)}, {_real(value.imag)})"
    if isinstance(value, type) and value in _PYTHON_DTYPES:
        return repr(_PYTHON_DTYPES[value])
    raise NotTraceable(
        f"a value of type {type(value).__name__} cannot be part of a program: {value!r:.80}",
        place=user_place(),
        hint="numbers, strings, dtypes, arrays and lists of these can, as NumPy takes them",
    )


_PYTHON_DTYPES = {float: "float64", int: "int64", bool: "bool", complex: "complex128"}


def _real(value: float) -> str:
    if math.isfinite(value):
        return repr(float(value))
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
