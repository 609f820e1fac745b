"""Arrays that are recorded: NumPy's operators, methods and functions make terms of them."""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import DTypeLike

from gradwire.tracing import literals
from gradwire.tracing.shapes import Aval, item_aval, measured
from gradwire.tracing.terms import Leaf, Term
from gradwire.tracing.traces import Trace, not_traceable

Infer = Callable[[], "Aval | None"]


class Tracer:
    """Stands for an array while a function is recorded.

    Shape and dtype are found when they are asked for: mostly by NumPy's rules, else by the service.
    """

    __slots__ = ("__weakref__", "_aval", "_base", "_infer", "_term", "_trace", "_views", "_weak")
    __hash__: ClassVar[None]  # type: ignore[assignment]  # as NumPy's arrays: == compares elements

    def __init__(
        self,
        term: Term,
        trace: Trace,
        aval: Aval | None = None,
        *,
        infer: Infer | None = None,
        weak: bool = False,
    ) -> None:
        self._term = term
        self._trace = trace
        self._aval = aval
        self._infer = infer
        #: Whether it adopts the precision of what it meets, as Python's numbers do.
        self._weak = weak
        #: What shares its elements with it in NumPy: what it is a view of, and views that live.
        self._base: Tracer | None = None
        self._views: list[weakref.ref[Tracer]] = []

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
        """What its elements are."""
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.aval.shape)

    @property
    def size(self) -> int:
        """How many elements it has."""
        return int(np.prod(self.aval.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """The memory that its elements would take."""
        return self.size * self.dtype.itemsize

    def __repr__(self) -> str:
        known = self._aval
        return "Tracer()" if known is None else f"Tracer({known})"

    # What Python asks for

    def __bool__(self) -> bool:
        return bool(self._trace.decide(self._term, bool))

    def __index__(self) -> int:
        return int(self._trace.decide(self._term, operator.index))

    def __int__(self) -> int:
        return int(self._trace.decide(self._term, int))

    def __float__(self) -> NoReturn:
        raise self._no_value("float()", "compute with the array itself")

    def __complex__(self) -> NoReturn:
        raise self._no_value("complex()", "compute with the array itself")

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NoReturn:
        raise self._no_value(
            "a function that cannot be recorded",
            "NumPy's functions, the ufuncs of scipy.special, and those of scipy.linalg and "
            "scipy.special by their module's name can be; arrays are built by numpy.stack, "
            "numpy.concatenate and numpy.zeros_like",
        )

    def item(self, *_: Any) -> NoReturn:
        """Not possible: its value is not known here."""
        raise self._no_value("item()", "compute with the array itself")

    def tolist(self) -> NoReturn:
        """Not possible: its values are not known here."""
        raise self._no_value("tolist()", "compute with the array itself")

    def _no_value(self, asked: str, hint: str) -> Exception:
        return not_traceable(f"a recorded array has no value yet that {asked} could take", hint)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[Tracer]:
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        return iter([self[i] for i in range(self.shape[0])])

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    # Elements

    def __getitem__(self, key: Any) -> Tracer:
        term = literals.item(self._term, key, self._to_term)
        found = Tracer(term, self._trace, infer=lambda: item_aval(self, key), weak=self._weak)
        if is_basic(key):
            self.shares(found)
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(self._term, Leaf):
            raise not_traceable(
                "assigning to elements of an argument would change the caller's array",
                "assign to a copy of it: x = x.copy()",
            )
        self._check_unshared()
        phrase = literals.Phrase(self._to_term)
        phrase.hole(self._term)
        phrase.text(".at[")
        phrase.index(key)
        phrase.text("].set(")
        phrase.value(value)
        phrase.text(")")
        self._term = phrase.term()

    def shares(self, view: Tracer) -> None:
        """Keep in mind that in NumPy the other one is a view of this one."""
        view._base = self
        self._views.append(weakref.ref(view))

    def updated(self, result: Tracer) -> Tracer:
        """What an operator that works in place leaves: this array, with the elements of another.

        Arguments and numbers are not changed: as with Python's numbers, the name gets a new value.
        """
        if isinstance(self._term, Leaf) or self.shape == ():
            return result
        self._check_unshared()
        kept = result if result.dtype == self.dtype else result.astype(self.dtype)
        self._term = kept._term
        return self

    def _check_unshared(self) -> None:
        if self._base is not None or any(view() is not None for view in self._views):
            raise not_traceable(
                "elements of this array are shared with another one (a view), which a recording "
                "does not follow",
                "copy one of them first, or assign to the array by one index",
            )

    def _to_term(self, value: Any) -> Term | None:
        return to_term(value, self._trace)

    # Functions

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from gradwire.tracing.numpy_calls import call_ufunc

        return call_ufunc(self._trace, ufunc, method, inputs, kwargs)

    def __array_function__(
        self, function: Any, types: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        from gradwire.tracing.numpy_calls import call_function

        return call_function(self._trace, function, args, kwargs)

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return np

    # Attributes and methods of arrays

    @property
    def T(self) -> Tracer:  # noqa: N802 - NumPy's name
        """The array with its axes in reverse."""
        return self._view("T", lambda: Aval(self.shape[::-1], self.dtype))

    @property
    def mT(self) -> Tracer:  # noqa: N802 - NumPy's name
        """The array with its last two axes exchanged."""
        return self._view("mT", lambda: Aval((*self.shape[:-2], *self.shape[:-3:-1]), self.dtype))

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

    def _view(self, attribute: str, infer: Infer) -> Tracer:
        view = Tracer(Term(("", f".{attribute}"), (self._term,)), self._trace, infer=infer)
        self.shares(view)
        return view

    def astype(self, dtype: DTypeLike, **_: Any) -> Tracer:
        """The same values in another dtype."""
        term = Term(("", f".astype({np.dtype(dtype).name!r})"), (self._term,))
        return Tracer(term, self._trace, infer=lambda: Aval(self.shape, np.dtype(dtype)))

    def copy(self, order: str = "K") -> Tracer:
        """The same values as an array of its own."""
        return Tracer(Term(("copy(", ")"), (self._term,)), self._trace, infer=lambda: self.aval)

    def flatten(self, order: str = "C") -> Tracer:
        """The elements in one axis."""
        term = Term(("np.ravel(", ")"), (self._term,))
        return Tracer(term, self._trace, infer=lambda: Aval((self.size,), self.dtype))

    def reshape(self, *shape: Any, **kwargs: Any) -> Tracer:
        """The same elements in other axes."""
        given = shape[0] if len(shape) == 1 else shape
        reshaped: Any = np.reshape
        result: Tracer = reshaped(self, given, **kwargs)
        return result

    def transpose(self, *axes: Any) -> Tracer:
        """The array with its axes in another order."""
        given = None if not axes else axes[0] if len(axes) == 1 else axes
        transposed: Any = np.transpose
        result: Tracer = transposed(self, given)
        return result

    def fill(self, value: Any) -> None:
        """Set all elements."""
        self[...] = value

    def sort(self, axis: int = -1, **kwargs: Any) -> None:
        """Sort in place."""
        self[...] = np.sort(self, axis, **kwargs)


def to_term(value: Any, trace: Trace) -> Term | None:
    """What a value is computed by; ``None`` for what is written out."""
    if isinstance(value, Tracer):
        return value._term
    if isinstance(value, np.ndarray):
        return trace.constant(value)
    if hasattr(value, "__array__") and not isinstance(value, (np.generic, type)):
        return trace.constant(np.asarray(value))
    return None


def is_basic(key: Any) -> bool:
    """Whether an index gives a view: integers, slices, ``None`` and ``...`` alone."""
    if isinstance(key, tuple):
        return all(map(is_basic, key))
    return key is None or key is ... or isinstance(key, (int, np.integer, slice))


def _operator(ufunc: np.ufunc) -> tuple[Any, Any]:
    def forward(self: Tracer, other: Any) -> Any:
        return self.__array_ufunc__(ufunc, "__call__", self, other)

    def backward(self: Tracer, other: Any) -> Any:
        return self.__array_ufunc__(ufunc, "__call__", other, self)

    return forward, backward


def _in_place(ufunc: np.ufunc) -> Any:
    def update(self: Tracer, other: Any) -> Tracer:
        return self.updated(self.__array_ufunc__(ufunc, "__call__", self, other))

    return update


def _unary(ufunc: np.ufunc) -> Any:
    def apply(self: Tracer) -> Any:
        return self.__array_ufunc__(ufunc, "__call__", self)

    return apply


def _method(name: str) -> Any:
    function = getattr(np, name)

    def method(self: Tracer, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    method.__name__ = name
    method.__doc__ = f"As ``numpy.{name}``."
    return method


_BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.true_divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "pow": np.power,
    "matmul": np.matmul,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "lshift": np.left_shift,
    "rshift": np.right_shift,
}
_COMPARED = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
_UNARY = {"neg": np.negative, "pos": np.positive, "abs": np.absolute, "invert": np.invert}
_METHODS = (
    "all any argmax argmin argsort clip conj conjugate cumprod cumsum diagonal dot max mean min "
    "nonzero prod ptp ravel repeat round searchsorted squeeze std sum swapaxes take trace var"
).split()

for _name, _ufunc in _BINARY.items():
    _forward, _backward = _operator(_ufunc)
    setattr(Tracer, f"__{_name}__", _forward)
    setattr(Tracer, f"__r{_name}__", _backward)
    setattr(Tracer, f"__i{_name}__", _in_place(_ufunc))
for _name, _ufunc in _COMPARED.items():
    setattr(Tracer, f"__{_name}__", _operator(_ufunc)[0])
for _name, _ufunc in _UNARY.items():
    setattr(Tracer, f"__{_name}__", _unary(_ufunc))
for _name in _METHODS:
    setattr(Tracer, _name, _method(_name))
