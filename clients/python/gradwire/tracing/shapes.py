"""Shape and dtype inference for recorded arrays, by NumPy's rules."""

from __future__ import annotations

import math
import re
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradwire.bfloat16 import (
    BFLOAT16,
    FLOAT16,
    NAME,
    can_cast,
    dtype_of,
    in_place_of,
    name_of,
    promoted,
    widened,
)
from gradwire.tracing.terms import Term, leaves_in
from gradwire.tracing.traces import Trace, unknown_inside

#: Elements of the largest placeholders that a function is called with to infer its result.
LARGEST_STAND_IN = 1_000_000
#: The same for functions of more than linear time.
LARGEST_MATRIX = 40_000
#: The axes of each array in a signature.
_CORE = re.compile(r"\(([^)]*)\)")


class Aval(NamedTuple):
    """An array's shape and dtype: an abstract value."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def __str__(self) -> str:
        return f"{name_of(self.dtype)}[{', '.join(map(str, self.shape))}]"


class AbstractArray:
    """An array of known shape and dtype, but of unknown elements."""

    __slots__ = ()
    #: True if it adopts the precision of its operands.
    _weak: bool

    @property
    @abstractmethod
    def aval(self) -> Aval:
        """Shape and dtype."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of its axes."""
        return self.aval.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype."""
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.aval.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.aval.shape)

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


def elementwise(ufunc: np.ufunc, inputs: tuple[Any, ...], output: int = 0) -> Aval | None:
    """The result of a ufunc, by broadcasting."""
    shapes = [
        np.shape(value) if not isinstance(value, AbstractArray) else value.shape for value in inputs
    ]
    kinds = tuple([_kind(value) for value in inputs])
    try:
        dtypes = ufunc.resolve_dtypes((*in_place_of(kinds), *[None] * ufunc.nout))
        if ufunc.signature is None:
            shape = np.broadcast_shapes(*shapes)
        else:
            shape = _contracted(ufunc.signature, shapes, output)
        return Aval(shape, promoted(dtypes[len(inputs) + output], kinds))
    except (TypeError, ValueError):
        return None  # the service will say what is wrong


def _contracted(signature: str, shapes: Sequence[tuple[int, ...]], output: int) -> tuple[int, ...]:
    """The shape by a signature like ``(n?,k),(k,m?)->(n?,m?)``: axes may be absent for ``?``."""
    given, made = [_CORE.findall(side) for side in signature.split("->")]
    lengths: dict[str, int] = {}
    loops = []
    for shape, core in zip(shapes, given, strict=True):
        names = core.split(",")
        while len(names) > len(shape):
            names.remove(next(name for name in names if name.endswith("?")))
        loops.append(shape[: len(shape) - len(names)])
        for name, length in zip(names, shape[len(shape) - len(names) :], strict=True):
            if lengths.setdefault(name.rstrip("?"), length) != length:
                raise ValueError("unequal lengths")
    names = [name for name in made[output].split(",") if name]
    core_shape = [lengths[name.rstrip("?")] for name in names if name.rstrip("?") in lengths]
    return (*np.broadcast_shapes(*loops), *core_shape)


def has_mask(key: Any) -> bool:
    """True if recorded booleans among indices decide the shape of what is taken."""
    items = key if isinstance(key, tuple) else (key,)
    return any(isinstance(item, AbstractArray) and item.dtype == bool for item in items)


def is_basic(key: Any) -> bool:
    """True if an index gives a view: integers, slices, ``None`` and ``...`` alone."""
    if isinstance(key, tuple):
        return all(map(is_basic, key))
    if isinstance(key, AbstractArray):  # an integer that was computed is a number in NumPy
        return key.ndim == 0 and key.dtype.kind in "iu"
    return key is None or key is ... or isinstance(key, (int, np.integer, slice))


def item_aval(array: AbstractArray, key: Any) -> Aval | None:
    """The result of indexing, unless a mask decides its shape."""
    if has_mask(key):
        return None
    items = key if isinstance(key, tuple) else (key,)
    stand_ins = tuple([_index(item) for item in items])
    try:
        found = stand_in(array.aval)[stand_ins]
    except IndexError:
        return None
    return Aval(np.shape(found), array.dtype)


class _ByValues:
    """Says that values decide a result's shape."""


BY_VALUES = _ByValues()


def called(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The results' shapes and dtypes of a NumPy or SciPy function of recorded arrays.

    It is called with arrays like these, of several kinds of values: where their shapes differ, or
    no call succeeds, ``BY_VALUES``; ``None`` where the arrays are too large to be tried. Results
    that are no arrays are ``None``. bfloat16 is as float16, which NumPy knows.
    """
    module = getattr(function, "__module__", None) or "scipy"
    heavy = "linalg" in module or module.startswith("scipy")
    largest = LARGEST_MATRIX if heavy else LARGEST_STAND_IN
    given = args, dict(kwargs)
    if any(isinstance(leaf, AbstractArray) and leaf.size > largest for leaf in leaves_in(given)):
        return None
    key = function, *_hashable(given)
    if None in key[1:]:
        return _tried(function, given)
    if (found := _KNOWN.get(key)) is None:
        if len(_KNOWN) > _MOST_KNOWN:
            _KNOWN.clear()
        found = _KNOWN[key] = _tried(function, given)
    return found


#: What has been inferred, by the function and its arguments' types.
_KNOWN: dict[Any, Any] = {}
_MOST_KNOWN = 4096


def _hashable(value: Any) -> Iterator[Any]:
    """The arguments but for recorded values; ``None`` stands for what is not hashable."""
    if isinstance(value, AbstractArray):
        yield value.aval
    elif isinstance(value, (list, tuple, dict)):
        yield type(value), *(value if isinstance(value, dict) else ()), len(value)
        for item in value.values() if isinstance(value, dict) else value:
            yield from _hashable(item)
    elif isinstance(value, (int, float, str, np.dtype, np.generic, type, type(None))):
        yield type(value), repr(value)
    else:
        yield None


def _tried(function: Callable[..., Any], given: tuple[Any, dict[str, Any]]) -> Any:
    dtypes = set(_dtypes(given))
    if {BFLOAT16, FLOAT16} <= dtypes:
        return None
    module = getattr(function, "__module__", None) or ""
    # LAPACK takes pivots as they come, also those outside of the array: the first is in any.
    trusts = "linalg" in module or "sparse" in module
    found = []
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for like in _STAND_INS:
            with suppress(Exception):  # the service's error is better
                args, kwargs = _with_stand_ins(given, _zeros if trusts else like, like)
                found.append(_avals(function(*args, **kwargs), BFLOAT16 in dtypes))
    return found[0] if len({_shapes(each) for each in found}) == 1 else BY_VALUES


def _shapes(avals: Any) -> Any:
    if isinstance(avals, Aval):
        return avals.shape
    return None if avals is None else (tuple, *map(_shapes, avals))


def _avals(made: Any, narrow: bool) -> Any:
    if isinstance(made, (list, tuple)):
        return tuple([_avals(part, narrow) for part in made])
    if made is None or not isinstance(made, (np.ndarray, np.generic, int, float, complex)):
        return None
    dtype = np.asarray(made).dtype
    return Aval(np.shape(made), BFLOAT16 if narrow and dtype == FLOAT16 else dtype)


def by_values(term: Term, trace: Trace, like: AbstractArray | None) -> Aval:
    """A shape that values decide, which becomes a guard, and the dtype, that of ``like`` if any."""
    shape = trace.decide(Term("np.shape", (term,)), _lengths)
    return Aval(shape, like.dtype if like is not None else measured(term, trace).dtype)


def _lengths(shape: Any) -> tuple[int, ...]:
    return tuple([int(length) for length in np.ravel(shape)])


def measured(term: Term, trace: Trace) -> Aval:
    """A term's shape and dtype, which hang on the types of arguments alone."""
    if term.scope is not None:
        raise unknown_inside()
    value = np.asarray(trace.values([term])[0])
    return Aval(value.shape, value.dtype)


@lru_cache(maxsize=4096)
def stand_in(aval: Aval) -> NDArray[Any]:
    """A read-only array of that shape and dtype which takes no memory."""
    return np.broadcast_to(np.ones((), aval.dtype), aval.shape)


def _ones(aval: Aval) -> NDArray[Any]:
    shape, dtype = aval
    if len(shape) > 1 and shape[-1] == shape[-2]:  # an identity can be inverted
        return np.broadcast_to(np.eye(shape[-1], dtype=dtype), shape)
    return stand_in(aval)


def _zeros(aval: Aval) -> NDArray[Any]:
    return np.broadcast_to(np.zeros((), aval.dtype), aval.shape)


def _varied(step: float, aval: Aval) -> NDArray[Any]:
    """Positive and negative numbers, integers from 0 to 3, or booleans."""
    waves = np.cos(step * np.arange(1, math.prod(aval.shape) + 1))
    kind = aval.dtype.kind
    values = waves > 0 if kind == "b" else np.rint(2 + 2 * waves) if kind in "iu" else waves + 0.1
    made: NDArray[Any] = values.reshape(aval.shape).astype(aval.dtype)
    return made


#: Arrays of several kinds of values: how many are equal, rise, fall or turn differs.
_STAND_INS: Sequence[Callable[[Aval], NDArray[Any]]] = (
    _ones,
    _zeros,
    *[partial(_varied, step) for step in (0.3, 1.0, 1.7, 2.2, 3.0)],
)


def _with_stand_ins(
    value: Any,
    whole: Callable[[Aval], NDArray[Any]],
    like: Callable[[Aval], NDArray[Any]],
) -> Any:
    """Arguments with arrays in place of recorded ones: ``whole`` gives those of integers."""
    if isinstance(value, AbstractArray):
        shape, dtype = value.aval
        return (whole if dtype.kind in "iu" else like)(Aval(shape, *in_place_of((dtype,))))
    if isinstance(value, (list, tuple)):
        items = [_with_stand_ins(item, whole, like) for item in value]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, dict):
        return {name: _with_stand_ins(item, whole, like) for name, item in value.items()}
    if BFLOAT16 in _dtypes(value):
        is_dtype = isinstance(value, (np.dtype, str, type))
        return FLOAT16 if is_dtype else widened(np.asarray(value)).astype(FLOAT16)
    return value


def _dtypes(value: Any) -> Iterator[np.dtype[Any]]:
    """The dtypes of arrays in arguments, and those that are arguments."""
    if isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _dtypes(item)
    elif isinstance(value, (AbstractArray, np.ndarray, np.generic)):
        yield value.dtype
    elif isinstance(value, np.dtype) or value in (NAME, FLOAT16.name):
        yield dtype_of(value)
    elif isinstance(value, type) and issubclass(value, np.generic):
        yield np.dtype(value)


def _index(item: Any) -> Any:
    return np.zeros(item.shape, np.intp) if isinstance(item, AbstractArray) else item


def _kind(value: Any) -> Any:
    if isinstance(value, AbstractArray):
        weak = {"f": float, "i": int, "c": complex}.get(value.dtype.kind) if value._weak else None
        return value.dtype if weak is None else weak
    if isinstance(value, (bool, np.generic, np.ndarray)) or not isinstance(
        value, (int, float, complex)
    ):
        return value.dtype if hasattr(value, "dtype") else np.asarray(value).dtype
    return type(value)


def check_cast(ufunc: np.ufunc, made: Any, target: Any, casting: Any = "same_kind") -> None:
    """Raise NumPy's error unless a ufunc may write its result into an array."""
    if not can_cast(made.dtype, target.dtype, casting):
        raise TypeError(
            f"Cannot cast ufunc {ufunc.__name__!r} output from {made.dtype!r} to "
            f"{target.dtype!r} with casting rule {casting!r}"
        )
