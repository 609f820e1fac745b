"""A recorded array as a value of Python: what Python decides by is fetched, and kept as a guard."""

from __future__ import annotations

import math
import operator
from abc import abstractmethod
from typing import Any, NoReturn

import numpy as np
from numpy.typing import DTypeLike

from gradwire import hints
from gradwire.tracing.terms import Term
from gradwire.tracing.traces import Trace, not_traceable


class Conversions:
    """``bool(x)``, ``int(x)`` and the other conversions, allowed or not."""

    __slots__ = ()
    _trace: Trace

    @property
    @abstractmethod
    def _term(self) -> Term:
        """The term of its current elements."""

    def __bool__(self) -> bool:
        return bool(self._trace.decide(self._term, bool))

    def __index__(self) -> int:
        return int(self._trace.decide(self._term, operator.index))

    def __int__(self) -> int:
        return int(self._trace.decide(self._term, int))

    def __floor__(self) -> int:
        return int(self._trace.decide(self._term, math.floor))

    def __ceil__(self) -> int:
        return int(self._trace.decide(self._term, math.ceil))

    def __trunc__(self) -> int:
        return int(self._trace.decide(self._term, math.trunc))

    def __round__(self, digits: int | None = None) -> Any:
        if digits is not None:
            rounded: Any = np.round
            return rounded(self, digits)
        return self._trace.decide(self._term, round)

    def __float__(self) -> NoReturn:
        raise self._no_value("float(), or an element of a plain array,", hints.A_VALUE)

    def __complex__(self) -> NoReturn:
        raise self._no_value("complex(), or an element of a plain array,", hints.A_VALUE)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NoReturn:
        raise self._no_value(
            "a function that cannot be recorded, or assignment to elements of a plain array,",
            hints.AN_ARRAY,
        )

    def item(self, *_: Any) -> NoReturn:
        """Not possible: its value is not known here."""
        raise self._no_value("item()", "compute with the array itself")

    def _no_value(self, asked: str, hint: str) -> Exception:
        return not_traceable(
            f"{asked} needs numbers, which a recorded array does not have yet", hint
        )
