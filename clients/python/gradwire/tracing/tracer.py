"""Recorded arrays: NumPy's operators, methods and functions make terms of them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

import numpy as np
from numpy.typing import DTypeLike

from gradwire import hints
from gradwire.tracing import literals
from gradwire.tracing.array_methods import Methods
from gradwire.tracing.operators import Operators
from gradwire.tracing.shapes import AbstractArray, Aval, item_aval, measured
from gradwire.tracing.terms import AT, Bound, Leaf, Scope, Term
from gradwire.tracing.traces import Trace, not_traceable
from gradwire.tracing.views import View

Infer = Callable[[], "Aval | None"]


class Tracer(Operators, Methods, AbstractArray):
    """Stands for an array while a function is recorded.

    Shape and dtype are inferred on first use: mostly by NumPy's rules, else by the service. Views
    behave as in NumPy: writing to one changes its base, and the other way round.
    """

    __slots__ = (
        "__weakref__", "_aval", "_changes", "_infer", "_is_argument", "_is_ordered", "_like",
        "_own", "_scope", "_trace", "_view", "_weak",
    )  # fmt: skip

    def __init__(
        self,
        term: Term,
        trace: Trace,
        aval: Aval | None = None,
        *,
        infer: Infer | None = None,
        weak: bool = False,
        is_argument: bool = False,
        is_ordered: bool = False,
        like: Tracer | None = None,
    ) -> None:
        self._own = term
        self._trace = trace
        self._aval = aval
        self._infer = infer
        #: A value of its dtype, if its shape depends on values.
        self._like = like
        #: True if it adopts the precision of its operands, as Python's numbers do.
        self._weak = weak
        #: True if its elements are the caller's, which must not change.
        self._is_argument = is_argument
        self._is_ordered = is_ordered
        #: The function of the program in which it was made.
        self._scope: Scope | None = trace.scope
        self._view: View[Tracer] | None = None
        #: The number of changes of its elements, or of those that it shares.
        self._changes = 0

    @property
    def _term(self) -> Term:
        """The term of its current elements."""
        view = self._view
        if view is not None and view.seen != view.base.changes:
            if view.of_number(self):
                self._stop_sharing()
            elif view.may_be_copy:
                raise _unknown_copy()
            else:
                self._own = view.take(view.base._term)
                view.seen = view.base.changes
        return self._own

    @property
    def changes(self) -> int:
        """The number of changes of its elements, or of those that it shares."""
        return self._changes if self._view is None else self._view.base.changes

    @property
    def is_ordered(self) -> bool:
        """True if it is known to be in C order."""
        return self._is_ordered or (self._view is None and self.ndim < 2)

    @property
    def aval(self) -> Aval:
        """Shape and dtype."""
        if self._aval is None:
            inferred = None if self._infer is None else self._infer()
            self._aval = measured(self._term, self._trace) if inferred is None else inferred
            self._infer = None
        return self._aval

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of its axes."""
        return self.aval.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype."""
        if self._aval is None and self._like is not None:
            return self._like.dtype
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.aval.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.aval.shape, dtype=np.int64))

    @property
    def itemsize(self) -> int:
        """The memory that an element would take."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The memory that its elements would take."""
        return self.size * self.dtype.itemsize

    @property
    def device(self) -> str:
        """The device, for NumPy."""
        return "cpu"

    @property
    def T(self) -> Tracer:  # noqa: N802 - NumPy's name
        """The array with its axes in reverse."""
        return self.transpose()

    @property
    def mT(self) -> Tracer:  # noqa: N802 - NumPy's name
        """The array with its last two axes exchanged."""
        return self.swapaxes(-1, -2)

    @property
    def flat(self) -> Tracer:
        """The elements in one axis."""
        result: Tracer = self._trace.in_one_axis(self)
        return result

    @property
    def real(self) -> Tracer:
        """The real part."""
        part: Any = np.real
        result: Tracer = part(self)
        return result

    @property
    def imag(self) -> Tracer:
        """The imaginary part."""
        part: Any = np.imag
        result: Tracer = part(self)
        return result

    def __repr__(self) -> str:
        known = self._aval
        return "Tracer()" if known is None else f"Tracer({known})"

    def __format__(self, _: str) -> str:
        return repr(self)

    # Conversions to Python's values

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
            return self.round(digits)
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

    def tolist(self) -> list[Any]:
        """Its rows as nested lists; its numbers are recorded arrays."""
        return [row.tolist() if row.ndim else row for row in self]

    def _no_value(self, asked: str, hint: str) -> Exception:
        return not_traceable(
            f"{asked} needs numbers, which a recorded array does not have yet", hint
        )

    def __len__(self) -> int:
        if not self.shape:
            raise not_traceable("len() of a recorded number", hints.RECORDED)
        return self.shape[0]

    def __iter__(self) -> Iterator[Tracer]:
        if not self.shape:
            raise not_traceable("iteration over a recorded number", hints.RECORDED)
        return iter([self[i] for i in range(self.shape[0])])

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    def __copy__(self) -> Tracer:
        return self.copy()

    def __deepcopy__(self, _: Any) -> Tracer:
        return self.copy()

    # Elements

    def __getitem__(self, key: Any) -> Tracer:
        if isinstance(key, str):
            raise not_traceable("a recorded array has no columns by name", hints.FRAMES)

        def take(term: Term) -> Term:
            return literals.item(term, key, self._to_term)

        found = Tracer(
            take(self._term),
            self._trace,
            infer=lambda: item_aval(self, key),
            weak=self._weak,
            like=self,
        )
        if is_basic(key):
            found.be_view(
                self,
                take,
                lambda base, new: self._with_items(base, key, "set", new),
                may_be_number=key is not ...
                and not (isinstance(key, tuple) and any(item is ... for item in key)),
            )
            found._is_ordered = self.is_ordered and (
                isinstance(key, (int, np.integer))
                or (isinstance(key, slice) and key.step in (None, 1))
            )
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        self.update(key, "set", value)

    def update(self, key: Any, how: str, value: Any) -> None:
        """Change elements in place: ``set``, ``add``, ``multiply``, ``min`` or ``max`` them."""
        self.replace(self._with_items(self._term, key, how, self._as_elements(key, value)))

    def _with_items(self, term: Term, key: Any, how: str, value: Any) -> Term:
        given = value if isinstance(value, Term) else literals.converted(value, self._to_term)
        return Term(f"{AT}{how}", (term, literals.converted(key, self._to_term), given))

    def _as_elements(self, key: Any, value: Any) -> Any:
        """A value as assignment converts it: of this array's dtype, less its first axes of 1."""
        if isinstance(value, (list, tuple)):
            array: Any = np.array
            value = array(value)
        if not isinstance(value, Tracer):
            value = np.asarray(value).astype(self.dtype)[()]
        elif not value._weak and value.dtype != self.dtype:
            value = value.astype(self.dtype)
        if value.ndim:
            target = item_aval(self, key)
            more = 0 if target is None else value.ndim - len(target.shape)
            if more > 0 and value.shape[:more] == (1,) * more:
                value = value.reshape(value.shape[more:])
        return value

    def be_view(
        self,
        base: Tracer,
        take: Callable[[Term], Term],
        put: Callable[[Term, Term], Term] | None = None,
        *,
        may_be_number: bool = False,
        may_be_copy: bool = False,
    ) -> None:
        """Share elements with another array, as views do."""
        self._view = View(base, take, put, may_be_number, may_be_copy)

    def replace(self, term: Term) -> None:
        """Replace its elements, also in the arrays that share them."""
        self._check_writable()
        self._put(term)

    def _is_number(self) -> bool:
        """True if it is a NumPy scalar, not an array without axes, as ``x[0, ...]`` is."""
        return self.shape == () and (self._view is None or self._view.of_number(self))

    def _stop_sharing(self) -> None:
        self._changes, self._view = self.changes, None

    def _put(self, term: Term) -> None:
        if self._view is not None and self._view.of_number(self):
            self._stop_sharing()
        view = self._view
        if view is None:
            self._changes += 1
        else:
            if view.may_be_copy:
                raise _unknown_copy()
            if view.put is None:
                raise not_traceable("this view is read-only", "assign to the array itself")
            view.base._put(view.put(view.base._term, term))
            view.seen = view.base.changes
        self._own = term

    def _check_writable(self) -> None:
        root = self
        while root._view is not None and not root._view.of_number(root):
            root = root._view.base
        if root._is_argument or isinstance(root._own, (Leaf, Bound)):
            raise not_traceable(
                "assigning to elements of an argument would change the caller's array",
                "assign to a copy of it: x = x.copy()",
            )
        if root._scope is not self._trace.scope:
            raise not_traceable(
                "an array from outside is changed inside a function of vmap, cond, scan or a "
                "loop of the program",
                "return the new values from the function",
            )

    # Functions

    def _applied(self, ufunc: np.ufunc, *operands: Any) -> Any:
        for operand in operands:
            if not isinstance(operand, Tracer) and _defers(operand):
                return NotImplemented
        return self._trace.operator(ufunc, operands)

    def _updated(self, ufunc: np.ufunc, other: Any) -> Tracer:
        result: Tracer = self._applied(ufunc, self, other)
        if result is NotImplemented or self._is_number():
            return result  # numbers are not changed: the name gets another
        if not np.can_cast(result.dtype, self.dtype, "same_kind"):
            raise TypeError(
                f"Cannot cast ufunc {ufunc.__name__!r} output from {result.dtype!r} to "
                f"{self.dtype!r} with casting rule 'same_kind'"
            )
        if result.shape != self.shape:
            raise ValueError(
                f"non-broadcastable output operand with shape {self.shape} doesn't match the "
                f"broadcast shape {result.shape}"
            )
        self.replace((result if result.dtype == self.dtype else result.astype(self.dtype))._term)
        return self

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return self._trace.ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(
        self, function: Any, types: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        return self._trace.function(function, args, kwargs)

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return np

    def _to_term(self, value: Any) -> Term | None:
        return to_term(value, self._trace)


def _unknown_copy() -> Exception:
    return not_traceable(
        "elements are changed after a reshape that may be a view or a copy, depending on their "
        "order in memory",
        "copy the array, before or after it is reshaped",
    )


def to_term(value: Any, trace: Trace) -> Term | None:
    """The term of a recorded value; ``None`` for a value to write out."""
    if isinstance(value, Tracer):
        return to_own_term(value, trace)
    if isinstance(value, np.ndarray):
        return trace.constant(value)
    if hasattr(value, "tocoo"):
        return trace.constant(value)
    if hasattr(value, "__array__") and not isinstance(value, (np.generic, type)):
        return trace.constant(np.asarray(value))
    return None


def to_own_term(value: Tracer, trace: Trace) -> Term:
    """The term of a recorded array, which must belong to this recording."""
    if value._trace is not trace:
        raise not_traceable(
            "a recorded array was used outside of its recording",
            "pass it as an argument, or return it",
        )
    return value._term


def is_basic(key: Any) -> bool:
    """True if an index gives a view: integers, slices, ``None`` and ``...`` alone."""
    if isinstance(key, tuple):
        return all(map(is_basic, key))
    if isinstance(key, Tracer):  # an integer that was computed is a number in NumPy
        return key.ndim == 0 and key.dtype.kind in "iu"
    return key is None or key is ... or isinstance(key, (int, np.integer, slice))


def _defers(operand: Any) -> bool:
    """True if an operand overrides operators with arrays."""
    return getattr(operand, "__array_ufunc__", operand) is None
