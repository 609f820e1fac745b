"""CuPy as far as it can be without a GPU: its names, parameters and dtypes, computed by NumPy.

What CuPy 14.2 refuses is refused: names that it has not, arguments that its functions do not take,
dtypes for which its ufuncs have no loop, arrays of NumPy's. What makes the host wait for the
device, or copies from it, is noted. The values are NumPy's, so they say nothing of CuPy's.
"""

import json
import operator
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

RECORDED = json.loads(Path(__file__).with_name("names.json").read_text())
#: Functions for whose results the host waits, or that CUDA's libraries do not let be captured.
WAITING = {"nonzero", "sliding_window_view", "unique"}
#: Methods and functions that write into an array.
CHANGING = {"copyto", "fill", "fill_diagonal", "place", "put", "put_along_axis", "putmask"}


class Notes:
    """What a kernel has done that a captured graph cannot do again."""

    def __init__(self) -> None:
        self.found: set[str] = set()


NOTES = Notes()


class AtOnce:
    """The device computes when it is asked to."""

    def result(self, compute: Callable[[], Any]) -> Any:
        """What is computed."""
        return on_device(compute())

    def change(self, write: Callable[[], Any]) -> None:
        """Write into arrays."""
        write()

    def wait(self) -> None:
        """Wait for what is computed."""

    def pointer(self, array: Any) -> Any:
        """Where the array is in the device's memory."""
        raise NotImplementedError("there is no device")


class Current:
    device: Any = AtOnce()


@contextmanager
def working(device: Any) -> Iterator[None]:
    """Compute by a device with the methods of ``AtOnce``."""
    before, Current.device = Current.device, device
    try:
        yield
    finally:
        Current.device = before


def waits(why: str) -> None:
    """Note that the host waits for the device, and wait."""
    NOTES.found.add(f"waits for {why}")
    Current.device.wait()


class Array:
    """An array on the device."""

    __array_priority__ = 100

    def __init__(self, values: Any) -> None:
        self.on_device = np.asarray(values)

    def get(self) -> Any:
        """A copy on the host."""
        waits("get")
        return self.on_device.copy()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in RECORDED["ndarray"]:
            raise AttributeError(f"CuPy's arrays have no {name}")
        if name == "data":
            return Current.device.pointer(self.on_device)
        found = getattr(self.on_device, name)
        if not callable(found):
            return on_device(found)

        def method(*args: Any, **options: Any) -> Any:
            given = [values(x) for x in args], {k: values(v) for k, v in options.items()}
            if name in WAITING | {"item", "tolist", "tobytes"}:
                waits(name)
            if name in CHANGING:
                return Current.device.change(lambda: found(*given[0], **given[1]))
            return Current.device.result(lambda: found(*given[0], **given[1]))

        return method

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("real", "imag"):
            part = values(value)
            Current.device.change(lambda: setattr(self.on_device, name, part))
        else:
            object.__setattr__(self, name, value)

    def __getitem__(self, index: Any) -> Any:
        place = values(index)
        parts = place if isinstance(place, tuple) else (place,)
        if any(getattr(getattr(part, "dtype", None), "kind", "") == "b" for part in parts):
            waits("the number of elements of a mask")
            place = values(index)
        return Current.device.result(lambda: self.on_device[place])

    def __setitem__(self, index: Any, value: Any) -> None:
        place, given = values(index), values(value)
        Current.device.change(lambda: self.on_device.__setitem__(place, given))

    def __len__(self) -> int:
        return len(self.on_device)

    def __iter__(self) -> Iterator[Any]:
        return map(on_device, self.on_device)

    def __array__(self, *args: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or any(isinstance(x, np.ndarray) for x in inputs):
            return NotImplemented
        return getattr(sys.modules["cupy"], ufunc.__name__)(*inputs, **options)

    def __array_function__(self, function: Any, *_: Any) -> Any:
        raise TypeError(f"NumPy's {function.__name__} got an array on the device")


def _waiting(convert: Callable[[Any], Any]) -> Callable[[Array], Any]:
    def wait(x: Array) -> Any:
        waits(convert.__name__)
        return convert(x.on_device)

    return wait


for _convert in (bool, int, float, complex, operator.index):
    setattr(Array, f"__{_convert.__name__}__", _waiting(_convert))

_BINARY = (
    "add:add sub:subtract mul:multiply matmul:matmul truediv:true_divide floordiv:floor_divide "
    "mod:remainder pow:power and:bitwise_and or:bitwise_or xor:bitwise_xor lshift:left_shift "
    "rshift:right_shift lt:less le:less_equal gt:greater ge:greater_equal eq:equal ne:not_equal"
)
OPERATORS = dict(pair.split(":") for pair in _BINARY.split())
UNARY = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}


def _operator(name: str, *, turned: bool = False, in_place: bool = False) -> Callable[..., Any]:
    def compute(x: Array, y: Any) -> Any:
        if isinstance(y, np.ndarray):
            raise TypeError("Unsupported type numpy.ndarray")
        function = getattr(sys.modules["cupy"], name)
        z = function(y, x) if turned else function(x, y)
        if not in_place:
            return z
        if not np.can_cast(z.on_device.dtype, x.on_device.dtype, "same_kind"):
            raise TypeError(f"{z.dtype} is not written into {x.dtype}")
        Current.device.change(lambda: np.copyto(x.on_device, z.on_device, "same_kind"))
        return x

    return compute


for _method, _name in OPERATORS.items():
    setattr(Array, f"__{_method}__", _operator(_name))
    setattr(Array, f"__r{_method}__", _operator(_name, turned=True))
    setattr(Array, f"__i{_method}__", _operator(_name, in_place=True))
for _method, _name in UNARY.items():
    setattr(Array, f"__{_method}__", lambda x, name=_name: getattr(sys.modules["cupy"], name)(x))
Array.__hash__ = None  # type: ignore[method-assign, assignment]


def values(x: Any) -> Any:
    """NumPy's arrays for arrays on the device; others are refused."""
    if isinstance(x, Array):
        return x.on_device
    if isinstance(x, np.ndarray):
        raise TypeError("Unsupported type numpy.ndarray")
    if isinstance(x, list | tuple) and not hasattr(x, "_fields"):
        return type(x)([values(item) for item in x])
    return x


def on_device(x: Any) -> Any:
    """Arrays on the device for NumPy's arrays and numbers."""
    if isinstance(x, np.ndarray | np.generic):
        return Array(x)
    if isinstance(x, list | tuple):
        items = [on_device(item) for item in x]
        return items if isinstance(x, list) else tuple(items)
    return x
