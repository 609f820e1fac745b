"""Recorded arrays: NumPy's operators, methods and functions make terms of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from weakref import ref

import numpy as np

from gradwire import hints
from gradwire.chunked import is_dask
from gradwire.hidden import plain
from gradwire.stored import RemoteArray
from gradwire.tracing import literals, wrappers
from gradwire.tracing.array_methods import Methods
from gradwire.tracing.elements import Elements, unknown_copy
from gradwire.tracing.lazy_arrays import RecordableArray, unwrapped
from gradwire.tracing.operators import Operators
from gradwire.tracing.shapes import (
    BY_VALUES,
    Aval,
    by_values,
    check_cast,
    has_mask,
    is_basic,
    item_aval,
    measured,
)
from gradwire.tracing.terms import Leaf, Scope, Term, dependencies
from gradwire.tracing.to_python import DECIDING, Conversions
from gradwire.tracing.traces import Trace, foreign, not_traceable, recording
from gradwire.tracing.views import View

#: NumPy without its annotations, which do not know recorded arrays.
_np: Any = np
#: Types of operands that never take over.
_PLAIN = frozenset({int, float, bool, complex, np.ndarray, np.float64, RecordableArray})
_NUMBERS = (float, complex, np.generic)
#: Types of values that are written out as they are.
_WRITTEN_OUT = frozenset({int, float, bool, str, type(None)})
#: By a kind of dtypes, that of Python's numbers.
_OF_PYTHON = {"f": np.float64, "c": np.complex128, "i": np.int64, "u": np.int64}
#: What NumPy's arrays and numbers have, and not each recorded value.
_OF_NUMPY = frozenset({*dir(np.ndarray), *dir(np.float64)})
#: Gives a shape and dtype, ``BY_VALUES``, or ``None`` where rules give none.
Infer = Callable[[], Any]


class Tracer(Operators, Methods, Elements, Conversions):
    """Stands for an array while a function is recorded.

    Shape and dtype are inferred on first use: mostly by NumPy's rules. A shape that no rule gives,
    without ``infer``, hangs on values: that it is the same in later calls is a guard. Views behave
    as in NumPy: writing to one changes its base, and the other way round.
    """

    __slots__ = (
        "__weakref__", "_aval", "_infer", "_is_argument", "_is_ordered", "_like", "_scope",
        "_trace", "_weak",
    )  # fmt: skip

    def __init__(
        self,
        term: Term,
        aval: Aval | None = None,
        *,
        infer: Infer | None = None,
        trace: Trace | None = None,
        weak: bool = False,
        is_argument: bool = False,
        is_ordered: bool = False,
        like: Tracer | None = None,
    ) -> None:
        self._own = term
        #: Its recording, the current one by default.
        self._trace = recording() if trace is None else trace
        self._aval = aval
        self._infer = infer
        if aval is None:
            term.array = ref(self)
        #: A value of its dtype, if its shape depends on values.
        self._like = like
        #: True if it adopts the precision of its operands, as Python's numbers do.
        self._weak = weak
        #: True if its elements are the caller's, which must not change.
        self._is_argument = is_argument
        self._is_ordered = is_ordered
        #: The function of the program in which it was made.
        self._scope: Scope | None = self._trace.scope
        self._view: View | None = None
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
                raise unknown_copy()
            else:
                self._own = view.take(view.base._term)
                view.seen = view.base.changes
        return self._own

    @property
    def numpy_class(self) -> type:
        """The class that the value has without a recording."""
        own = self._own
        if self._is_argument and isinstance(own, Leaf) and not isinstance(own.value, _NUMBERS):
            return np.ndarray  # one without axes is no number
        return super().numpy_class

    @property
    def is_ordered(self) -> bool:
        """True if it is known to be in C order."""
        return self._is_ordered or (self._view is None and self.ndim < 2)

    @property
    def aval(self) -> Aval:
        """Shape and dtype."""
        if self._aval is None:
            self._be_inferred()
            if self._aval is None:
                if self._infer is None:
                    self._aval = by_values(self._term, self._trace, self._like)
                else:
                    self._aval = measured(self._term, self._trace)
            self._infer = None
        return self._aval

    def _be_inferred(self) -> None:
        """Infer shape and dtype, unless values decide them."""
        for term in dependencies(self._own.operands, _is_settled):  # a chain may be long
            array = _array_of(term)
            if array is not None:
                array._take(array._infer())
        if self._infer is not None:
            self._take(self._infer())

    @property
    def known_dtype(self) -> np.dtype[Any] | None:
        """The dtype, if it is known without asking the service."""
        if self._aval is None and self._like is None:
            self._be_inferred()
        known = self._aval or self._like
        return None if known is None else known.dtype

    def _take(self, inferred: Any) -> None:
        """Keep what has been inferred; what values decide is asked for when it is needed."""
        if inferred is BY_VALUES:
            self._infer = None
        else:
            self._aval = inferred

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype, which may be known before the shape is."""
        if self._aval is None and self._like is not None:
            return self._like.dtype
        return self.aval.dtype

    @property
    def T(self) -> Any:  # noqa: N802 - NumPy's name
        """The array with its axes in reverse."""
        return self.transpose()

    @property
    def mT(self) -> Any:  # noqa: N802 - NumPy's name
        """The array with its last two axes exchanged."""
        return _np.swapaxes(self, -1, -2)

    @property
    def flat(self) -> Tracer:
        """The elements in one axis, which are assigned to whatever their order in memory."""
        raveled = literals.raveled
        made = _Flat(
            raveled(self._term), infer=lambda: Aval((self.size,), self.dtype), trace=self._trace
        )
        made.be_view(self, raveled, lambda _, new: literals.reshaped(new, self.shape))
        return made

    @property
    def real(self) -> Any:
        """The real part."""
        made = _np.real(self)
        return python_number(made) if self._weak else made

    @property
    def imag(self) -> Any:
        """The imaginary part."""
        made = _np.imag(self)
        return python_number(made) if self._weak else made

    def conjugate(self, *args: Any, **kwargs: Any) -> Any:
        """The complex conjugates; the array itself if it is real."""
        if self.dtype.kind != "c" and not (args or kwargs):
            return self
        made = _np.conjugate(self, *args, **kwargs)
        return python_number(made) if self._weak else made

    conj = conjugate

    def __getattr__(self, name: str) -> Any:
        if name[0] != "_" and name in _OF_NUMPY and hasattr(self.numpy_class, name):
            raise not_traceable(f"a recorded array has no attribute {name!r}", hints.RECORDED)
        raise AttributeError(f"'Tracer' object has no attribute {name!r}")

    def _described(self) -> str:
        known = self._aval
        return "Tracer()" if known is None else f"Tracer({known})"

    def tolist(self) -> Any:
        """Its rows as nested lists of Python numbers, which are recorded; one if it has no axes."""
        return [row.tolist() for row in self] if self.ndim else python_number(self)

    def item(self, *index: Any) -> Any:
        """Its only element, or one at an index, as a Python number; an integer is decided."""
        if self.dtype.kind in DECIDING:
            return self._decided_item(index)
        if not index and self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        place = index[0] if len(index) == 1 else index
        found = self[place] if isinstance(place, tuple) and place else self.reshape(-1)[place or 0]
        return python_number(found)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[Tracer]:
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        return iter([self[i] for i in range(self.shape[0])])

    def __contains__(self, value: Any) -> bool:
        return bool(_np.any(self == value))

    def __copy__(self) -> Any:
        return _np.copy(self)

    def __deepcopy__(self, _: Any) -> Any:
        return _np.copy(self)

    # Elements

    def __getitem__(self, key: Any) -> Tracer:
        if isinstance(key, str):
            raise not_traceable("a recorded array has no columns by name", hints.FRAMES)

        key = unwrapped(key)

        def take(term: Term) -> Term:
            return literals.item(term, key, self._to_term)

        found = Tracer(
            take(self._term),
            infer=None if has_mask(key) else lambda: item_aval(self, key),
            trace=self._trace,
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

    # Functions

    def _applied(self, ufunc: np.ufunc, *operands: Any) -> Any:
        for operand in operands:
            if type(operand) not in _PLAIN:
                if wrappers.takes_over_operator(operand):
                    return NotImplemented
                if wrappers.takes_over(type(operand), "__array_ufunc__"):
                    return ufunc(*operands)
        return self._trace.operator(ufunc, operands)

    def _updated(self, ufunc: np.ufunc, other: Any) -> Tracer:
        result: Tracer = self._applied(ufunc, self, other)
        if result is NotImplemented or self._is_number():
            return result  # numbers are not changed: the name gets another
        check_cast(ufunc, result, self)
        if result.shape != self.shape:
            raise ValueError(
                f"non-broadcastable output operand with shape {self.shape} doesn't match the "
                f"broadcast shape {result.shape}"
            )
        self.replace((result if result.dtype == self.dtype else result.astype(self.dtype))._term)
        return self

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(wrappers.takes_over(type(value), "__array_ufunc__") for value in inputs):
            return NotImplemented
        return self._trace.ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(
        self, function: Any, types: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        if any(wrappers.takes_over(kind, "__array_function__") for kind in types):
            return NotImplemented
        return self._trace.function(function, args, kwargs)

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return np

    def _to_term(self, value: Any) -> Term | None:
        return to_term(value, self._trace)


class _Flat(Tracer):
    """The elements of an array in one axis, as ``numpy.flatiter``: some are a copy of them."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Tracer:
        found = super().__getitem__(key)
        return found if found._view is None or found._is_number() else _np.copy(found)


def _array_of(term: Term) -> Any:
    """The recorded array that a term was made for, if it is still there."""
    return None if term.array is None else term.array()


def _is_settled(term: Term) -> bool:
    """True unless the shape of a term's array is to be inferred by rules."""
    array = _array_of(term)
    return array is None or array._aval is not None or array._infer is None


def python_number(value: Tracer) -> Any:
    """A recorded number as the Python number that ``item()`` gives: of double precision."""
    dtype = np.dtype(_OF_PYTHON.get(value.dtype.kind, value.dtype))
    if value.dtype == np.uint64:  # it may exceed those that are recorded
        return value._decided_item(())
    term = value._term if dtype == value.dtype else Term("np.astype", (value._term, dtype))
    return truth(Tracer(term, Aval((), dtype), trace=value._trace, weak=True))


def truth(value: Any, *, of_python: bool = True) -> Any:
    """A recorded truth value, which is decided where the recorded code asks if it ``is True``."""
    if isinstance(value, Tracer):
        if not value._trace.decides_truths or value.known_dtype != np.bool_ or value.shape:
            return value
        value = np.bool_(bool(value))
    return bool(value) if of_python and isinstance(value, np.bool_) else value


def to_term(value: Any, trace: Trace | None = None) -> Term | None:
    """The term of a value of a recording, by default the current one; ``None`` to write it out."""
    if type(value) in _WRITTEN_OUT:  # most are, so without detours
        return None
    if isinstance(value, Term):
        return value
    if isinstance(value, Tracer):
        return to_own_term(value, trace)
    if isinstance(value, RecordableArray):
        return to_term(unwrapped(value), trace)
    if isinstance(value, np.ndarray):
        return (trace or recording()).constant(wrappers.checked(value))
    if hasattr(value, "tocoo"):
        return (trace or recording()).constant(value)
    if isinstance(value, RemoteArray) or is_dask(value):
        kind = "a Dask array" if is_dask(value) else f"a {type(value).__name__}"
        raise not_traceable(
            f"the function reads {kind} from outside, whose values are not here",
            "pass it as an argument",
        )
    if hasattr(value, "__array__") and not isinstance(value, (np.generic, type)):
        return (trace or recording()).constant(plain(value, "an array from outside"))
    return None


def to_own_term(value: Tracer, trace: Trace | None = None) -> Term:
    """The term of a recorded array, which must belong to this recording."""
    if value._trace is not (trace or recording()):
        raise foreign()
    return value._term


def term_of(op: str, *args: Any, **kwargs: Any) -> Term:
    """``op(*args, **kwargs)`` as a term."""
    return literals.call(op, args, kwargs, to_term)
