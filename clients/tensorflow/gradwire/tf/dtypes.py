"""TensorFlow's element types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

__all__ = [
    "DType", "as_dtype", "bfloat16", "complex64", "complex128", "double", "float16", "float32",
    "float64", "half", "int8", "int16", "int32", "int64", "qint8", "qint16", "qint32", "quint8",
    "quint16", "resource", "string", "uint8", "uint16", "uint32", "uint64", "variant",
]  # fmt: skip


#: NumPy's, which also knows bfloat16.
finfo: Any = ml_dtypes.finfo


class DType:
    """An element type; ``tf.float32`` equals ``"float32"`` and NumPy's type of that name too."""

    __slots__ = (
        "as_numpy_dtype",
        "is_bool",
        "is_complex",
        "is_differentiable",
        "is_floating",
        "is_integer",
        "is_numeric",
        "is_quantized",
        "is_unsigned",
        "name",
        "names_in_errors",
        "size",
        "storage",
    )

    def __init__(self, name: str, numpy_type: Any, in_errors: str | None = None) -> None:
        storage: np.dtype[Any] = np.dtype(numpy_type or object)
        kind = "" if numpy_type is None else storage.kind
        self.name: str = name
        self.names_in_errors: str = in_errors or name
        #: NumPy's type for such elements.
        self.as_numpy_dtype: Any = storage.type
        #: The dtype that values have here.
        self.storage: np.dtype[Any] = storage
        #: Bytes of an element.
        self.size: int = storage.itemsize if kind else 1
        self.is_bool: bool = kind == "b"
        self.is_quantized: bool = name.startswith(("qint", "quint"))
        self.is_integer: bool = kind in ("i", "u") and not self.is_quantized
        self.is_unsigned: bool = self.is_integer and kind == "u"
        self.is_floating: bool = kind in ("f", "V")  # bfloat16's
        self.is_complex: bool = kind == "c"
        #: True if such elements have derivatives.
        self.is_differentiable: bool = self.is_floating or self.is_complex
        self.is_numeric: bool = self.is_differentiable or self.is_integer

    @property
    def base_dtype(self) -> DType:
        """The same: nothing here is a reference."""
        return self

    @property
    def real_dtype(self) -> DType:
        """The type of real and imaginary parts."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    @property
    def is_numpy_compatible(self) -> bool:
        """True if NumPy has arrays of such elements."""
        return True

    @property
    def min(self) -> Any:
        """The least finite element."""
        return self._limit("min")

    @property
    def max(self) -> Any:
        """The largest finite element."""
        return self._limit("max")

    @property
    def limits(self) -> tuple[Any, Any]:
        """The range of intensities in an image: 0 to 1, or to the largest integer."""
        return (0, 1) if self.is_floating else (0, self.max)

    @property
    def as_datatype_enum(self) -> int:
        """The number of this type in TensorFlow's protocol."""
        return _ENUM.get(self.name, 0)

    def is_compatible_with(self, other: Any) -> bool:
        """True if tensors of the other type may be used as of this one."""
        return self == as_dtype(other)

    def _limit(self, which: str) -> Any:
        if self.is_bool:
            return which == "max"
        if self.storage.kind in "iu":
            return getattr(np.iinfo(self.storage), which)
        if not self.is_floating:
            raise TypeError(f"Cannot find {which}imum value of {self!s}.")
        return getattr(finfo(self.storage), which)

    def __eq__(self, other: object) -> bool:
        if other is self or isinstance(other, DType):
            return other is self or self.name == other.name
        if other is None:
            return False
        try:
            return self.name == as_dtype(other).name
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.name)

    def __int__(self) -> int:
        return self.as_datatype_enum

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"


float16: DType = DType("float16", np.float16, "half")
half: DType = float16
bfloat16: DType = DType("bfloat16", ml_dtypes.bfloat16)
float32: DType = DType("float32", np.float32, "float")
float64: DType = DType("float64", np.float64, "double")
double: DType = float64
int8: DType = DType("int8", np.int8)
int16: DType = DType("int16", np.int16)
int32: DType = DType("int32", np.int32)
int64: DType = DType("int64", np.int64)
uint8: DType = DType("uint8", np.uint8)
uint16: DType = DType("uint16", np.uint16)
uint32: DType = DType("uint32", np.uint32)
uint64: DType = DType("uint64", np.uint64)
bool_: DType = DType("bool", np.bool_)
complex64: DType = DType("complex64", np.complex64)
complex128: DType = DType("complex128", np.complex128)
string: DType = DType("string", None)
resource: DType = DType("resource", None)
variant: DType = DType("variant", None)
qint8: DType = DType("qint8", np.int8)
qint16: DType = DType("qint16", np.int16)
qint32: DType = DType("qint32", np.int32)
quint8: DType = DType("quint8", np.uint8)
quint16: DType = DType("quint16", np.uint16)

ALL: dict[str, DType] = {
    dtype.name: dtype for dtype in list(globals().values()) if isinstance(dtype, DType)
}
_ALIASES = {"float": float32, "double": float64, "half": float16, "int": int32, "str": string}
_OF_PYTHON: dict[Any, DType] = {
    float: float32,
    int: int32,
    bool: bool_,
    complex: complex128,
    str: string,
    bytes: string,
    object: string,
}
#: TensorFlow's protocol numbers its types so, from 1.
_NUMBERED = (
    "float32 float64 int32 uint8 int16 int8 string complex64 int64 bool qint8 quint8 qint32 "
    "bfloat16 qint16 quint16 uint16 complex128 float16 resource variant uint32 uint64"
)
_OF_ENUM = dict(enumerate(_NUMBERED.split(), 1))
_ENUM = {name: number for number, name in _OF_ENUM.items()}


#: Functions of ``tf.dtypes`` by name; the modules that define them add them.
FUNCTIONS: dict[str, Callable[..., Any]] = {}


def as_dtype(value: Any) -> DType:
    """The element type that a name, a type of NumPy's or Python's, or a tensor's dtype means."""
    if isinstance(value, DType):
        return value
    if isinstance(value, str) and (value in ALL or value in _ALIASES):
        return ALL.get(value) or _ALIASES[value]
    if isinstance(value, int) and not isinstance(value, bool) and value in _OF_ENUM:
        return ALL[_OF_ENUM[value]]
    if isinstance(value, type) and value in _OF_PYTHON:
        return _OF_PYTHON[value]
    try:
        return of_numpy(np.dtype(value))
    except (TypeError, ValueError):
        raise TypeError(f"`type_value` {value!r} is not a dtype") from None


def of_numpy(dtype: np.dtype[Any]) -> DType:
    """The element type of NumPy's arrays."""
    if dtype.kind in "OSU":
        return string
    found = ALL.get(dtype.name)
    if found is None:
        raise TypeError(f"Cannot convert {dtype!r} to a TensorFlow DType.")
    return found


def __getattr__(name: str) -> Any:
    """The functions that TensorFlow has here, too, which need what is built on dtypes."""
    if name not in FUNCTIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return FUNCTIONS[name]
