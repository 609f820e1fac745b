"""Plain arrays that become recorded when a recorded value is assigned to their elements.

``g = np.zeros(3); g[0] = x[0] ** 2``: an array that is made while a function is recorded is one of
NumPy's until then, and what is computed of it alone is computed at once.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gradwire.bfloat16 import INEXACT
from gradwire.tracing.shapes import AbstractArray
from gradwire.tracing.terms import Scope
from gradwire.tracing.traces import Trace, current, not_traceable

#: Folders of code whose arrays stay plain: it computes with them in C.
_COMPILED = (
    str(Path(__file__).parent.parent),
    str(Path(np.__file__).parent),
    str(Path(np.__file__).parent.parent / "scipy"),
)
#: The attributes of a recordable array itself; all others are those of the recorded array.
_OWN = frozenset(
    "_recorded _trace _scope _plain _value _view_of base flags plain record recorded "
    "strides".split()
)
_PLACE = np.dtype(np.intp).itemsize
_attribute = np.ndarray.__getattribute__
#: NumPy's own way to change a dtype in place; since 2.5 the public one is deprecated.
_set_dtype: Any = getattr(np.ndarray, "_set_dtype", np.ndarray.dtype.__set__)  # type: ignore[attr-defined]


class RecordableArray(np.ndarray):
    """An array of NumPy's that was made while a function is recorded.

    The array that owns the elements is the recorded one, and its views are views of that.
    """

    __hash__: ClassVar[None]  # as NumPy's arrays: == compares elements

    #: The recorded array, once it is one.
    _recorded: AbstractArray | None
    #: The recording, and the function of the program, in which it was made.
    _trace: Trace | None
    _scope: Scope | None
    _plain: NDArray[Any] | None

    def __array_finalize__(self, made_of: Any) -> None:
        trace = current()
        self._recorded = self._plain = None
        self._trace = trace
        self._scope = None if trace is None else trace.scope

    @property
    def plain(self) -> NDArray[Any]:
        """The same elements as an array of NumPy's own class, the same one each time."""
        if self._plain is None:
            self._plain = self.view(np.ndarray)
        return self._plain

    @property
    def recorded(self) -> AbstractArray | None:
        """The recorded array, if it or the array that it is a view of has been assigned one."""
        if self._recorded is None:
            owner = _owner(self)
            if owner is not self and owner._recorded is not None:
                self._recorded = self._view_of(owner, owner._recorded)
        return self._recorded

    def record(self) -> Any:
        """The recorded array with these elements, which it is from now on."""
        owner = _owner(self)
        if owner._recorded is None:
            trace = current()
            if trace is None or owner._trace is not trace or owner.base is not None:
                raise not_traceable(
                    "assignment to elements of an array from outside",
                    "assign to a copy of it, numpy.array(x), or to an array that is made inside of "
                    "the function, by numpy.zeros(shape) or numpy.zeros_like(x)",
                )
            owner._recorded = trace.recorded_copy(np.ndarray.copy(owner.plain, "K"), owner._scope)
            _spoil(owner)
        return self.recorded

    def _view_of(self, owner: RecordableArray, recorded: Any) -> Any:
        """The view of a recorded array that this is of its owner, by the places of elements."""
        width, shape = _attribute(owner, "itemsize"), _attribute(owner, "shape")
        steps = [_address(self) - _address(owner), *self.strides]
        if _attribute(self, "dtype") not in (recorded.dtype, _attribute(owner, "dtype")):
            raise not_traceable(
                "a view of another dtype of an array with recorded elements",
                "assign to the array itself",
            )
        offset, *strides = [step // width * _PLACE for step in steps]
        numbers = np.empty(math.prod(shape), np.intp)  # of elements, as they lie in memory
        by_axes = [step // width * _PLACE for step in owner.strides]
        np.ndarray(shape, np.intp, numbers, 0, by_axes)[...] = np.arange(numbers.size).reshape(
            shape
        )
        mine = np.ndarray(_attribute(self, "shape"), np.intp, numbers, offset, strides)
        assert owner._trace is not None
        return owner._trace.recorded_view(recorded, mine.copy())

    def __getattribute__(self, name: str) -> Any:
        if name not in _OWN and name[:2] != "__":
            recorded = _attribute(self, "recorded")
            if recorded is not None:
                return getattr(recorded, name)
        return _attribute(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _OWN and _attribute(self, "recorded") is not None:
            raise not_traceable(
                f"{name} of an array with recorded elements cannot be assigned",
                "x = x.reshape(shape) is another shape of it, x.astype(dtype) another dtype",
            )
        np.ndarray.__setattr__(self, name, value)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "at" and holds_recorded((inputs, kwargs)):
            inputs = (_changed(inputs[0]), *inputs[1:])
        return _again(getattr(ufunc, method), inputs, kwargs)

    def __array_function__(
        self, function: Callable[..., Any], types: Any, args: Any, kwargs: Mapping[str, Any]
    ) -> Any:
        changes = self._trace is not None and function in self._trace.mutations
        if changes and args and holds_recorded((args[1:], dict(kwargs))):
            args = (_changed(args[0]), *args[1:])
        return _again(function, args, kwargs)

    def __getitem__(self, key: Any) -> Any:
        if self.recorded is None and not holds_recorded(key):
            return recordable(self.plain[unwrapped(key)], self)
        found = self.recorded
        if found is None:
            trace = current()
            assert trace is not None
            found = trace.recorded_copy(self.plain, self._scope)
        return found[unwrapped(key)]  # type: ignore[index]

    def __setitem__(self, key: Any, value: Any) -> None:
        if self.recorded is None and not holds_recorded((key, value)):
            np.ndarray.__setitem__(self, unwrapped(key), unwrapped(value))
        elif not self.flags.writeable:
            raise ValueError("assignment destination is read-only")
        else:
            self.record()[unwrapped(key)] = unwrapped(value)

    def __iter__(self) -> Iterator[Any]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    @property
    def flat(self) -> Any:
        """The elements in one axis, to read and to assign."""
        return self.reshape(-1) if self.flags.c_contiguous else self.plain.flat

    def dot(self, b: Any, out: Any = None) -> Any:
        """The product with another array."""
        return np.dot(self, b, out=out)

    def fill(self, value: Any) -> None:
        """Set all elements."""
        self[...] = value

    def _value(self) -> Any:
        """The current value: a recorded array, or a plain one."""
        recorded = self.recorded
        return self.plain if recorded is None else recorded

    def __eq__(self, other: Any) -> Any:
        return np.equal(self, other)

    def __ne__(self, other: Any) -> Any:
        return np.not_equal(self, other)

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    def __copy__(self) -> Any:
        return recordable(np.copy(self._value()))

    def __deepcopy__(self, _: Any) -> Any:
        return recordable(np.copy(self._value()))


def _of_value(name: str) -> Any:
    """The method that is the one of the plain or recorded array that an array is now."""

    def method(self: RecordableArray, *args: Any) -> Any:
        return getattr(self._value(), name)(*args)

    return method


for _name in "bool index int float complex format repr str".split():
    setattr(RecordableArray, f"__{_name}__", _of_value(f"__{_name}__"))


def recordable(made: Any, of: Any = ()) -> Any:
    """An array that NumPy has made of ``of`` as one that may become recorded; others as they are.

    One that shares elements with an array from outside may not, but copies of it may.
    """
    if type(made) is not np.ndarray or made.dtype.kind not in f"biu{INEXACT}" or current() is None:
        return made
    owner = _root(made)
    if type(owner) is RecordableArray:
        return made.view(RecordableArray)
    if owner.base is not None or any(_root(array) is owner for array in _arrays(of)):
        return made.view(RecordableArray)
    in_order: Any = "F" if made.flags.fnc else "C"
    copy = RecordableArray(made.shape, made.dtype, order=in_order)
    copy.plain[...] = made
    return copy


def from_outside(value: Any) -> Any:
    """An array that a function reads, or a tuple of some, of which copies may be recorded."""
    if type(value) is np.ndarray and value.dtype.kind in f"biu{INEXACT}":
        return value.view(RecordableArray)
    if type(value) is tuple and value:
        parts = tuple(map(from_outside, value))
        return value if all(a is b for a, b in zip(parts, value, strict=True)) else parts
    return value


def called_by_user() -> bool:
    """True if the caller of the caller is not code that computes in C with what it makes."""
    return not sys._getframe(2).f_code.co_filename.startswith(_COMPILED)


def unwrapped(value: Any) -> Any:
    """A value with plain or recorded arrays in place of those that may become recorded."""
    kind = type(value)
    if kind is RecordableArray:
        return value._value()
    if kind is list or kind is tuple:
        return kind(map(unwrapped, value))
    if kind is dict:
        return {name: unwrapped(part) for name, part in value.items()}
    return value


def holds_recorded(value: Any) -> bool:
    """True of a recorded array, and of nested values with one."""
    if isinstance(value, AbstractArray):
        return True
    if isinstance(value, RecordableArray):
        return value.recorded is not None
    if isinstance(value, (list, tuple)):
        return any(map(holds_recorded, value))
    return isinstance(value, dict) and any(map(holds_recorded, value.values()))


def with_out(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by name, with recorded arrays for those of ``out=`` that may become recorded."""
    out = kwargs.get("out")
    given = {name: unwrapped(value) for name, value in kwargs.items()}
    if out is not None:
        given["out"] = tuple(map(_changed, out)) if isinstance(out, tuple) else _changed(out)
    return given


def _again(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Call a function of NumPy's with what its arguments are now."""
    out = kwargs.get("out")
    if out is not None and holds_recorded((args, dict(kwargs))):
        given = with_out(kwargs)  # it may be an argument, too
        made = function(*unwrapped(args), **given)
    else:
        made = function(*unwrapped(args), **unwrapped(dict(kwargs)))
    if out is not None:
        return out[0] if isinstance(out, tuple) and len(out) == 1 else out
    of = (args, kwargs)
    if isinstance(made, (list, tuple)) and type(made) in (list, tuple):
        return type(made)([recordable(part, of) for part in made])
    return recordable(made, of)


def _arrays(value: Any) -> Iterator[NDArray[Any]]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (list, tuple, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _arrays(part)


def _changed(array: Any) -> Any:
    return array.record() if isinstance(array, RecordableArray) else array


def _root(array: Any) -> Any:
    """The array that owns the elements."""
    while isinstance(base := array.base, np.ndarray):
        array = base
    return array


def _owner(array: RecordableArray) -> RecordableArray:
    owner: RecordableArray = _root(array)
    return owner if type(owner) is RecordableArray else array


def _address(array: Any) -> int:
    address: int = _attribute(array, "__array_interface__")["data"][0]
    return address


def _spoil(array: RecordableArray) -> None:
    """Make elements that are no longer the array's fail where they are read from memory."""
    kind = array.dtype.kind
    array.plain[...] = (
        np.nan if kind in INEXACT else 0 if kind == "b" else np.iinfo(array.dtype).min
    )
    _set_dtype(array, np.dtype(f"V{array.itemsize}"))
