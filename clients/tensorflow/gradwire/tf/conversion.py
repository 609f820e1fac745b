"""Python's and NumPy's values as tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradwire.frontends import check_hides_nothing
from gradwire.tf import dtypes
from gradwire.tf.arguments import only
from gradwire.tf.dtypes import DType, as_dtype, of_numpy
from gradwire.tf.nodes import Spec, TensorNode, known, record
from gradwire.tf.remote import RemoteArray
from gradwire.tf.shapes import TensorShape
from gradwire.tf.tensors import METHODS, Operand, Tensor

__all__ = ["constant", "register_tensor_conversion_function"]

#: Types that know how to be a tensor, with what makes them one: ``register`` adds to them.
_CONVERSIONS: list[tuple[type, Any]] = []


def register_tensor_conversion_function(
    base_type: Any, conversion_func: Any, priority: int = 100
) -> None:
    """Let values of further types be tensors."""
    only("register_tensor_conversion_function", priority=(priority, 100))
    kinds = base_type if isinstance(base_type, tuple) else (base_type,)
    _CONVERSIONS.extend((kind, conversion_func) for kind in kinds)


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Tensor:
    """A tensor of a known value: a number filled up to ``shape``, or as many elements as it has."""
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(value, Operand):
        tensor = convert_to_tensor(value)
        if wanted is not None and tensor.dtype != wanted:
            tensor = Tensor(known(np.asarray(tensor._value(), wanted.storage), wanted))
    else:
        tensor = _made(value, wanted)
    if shape is None:
        return tensor
    return _shaped(
        tensor, tuple([int(length) for length in np.atleast_1d(np.asarray(shape))]), value
    )


def convert_to_tensor(
    value: Any,
    dtype: Any = None,
    dtype_hint: Any = None,
    name: str | None = None,
    preferred_dtype: Any = None,
) -> Tensor:
    """Anything that is an array, as a tensor; a tensor stays itself."""
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(value, Tensor):
        if wanted is not None and value.dtype != wanted:
            raise ValueError(
                f"expected dtype {wanted.name}, got {value!r}; convert it with tf.cast"
            )
        return value
    if isinstance(value, Operand) or hasattr(value, "_to_tensor"):
        converted: Tensor = value._to_tensor()
        return convert_to_tensor(converted, wanted)
    for kind, conversion in _CONVERSIONS:
        if isinstance(value, kind):
            return convert_to_tensor(conversion(value, wanted, name, False))
    hint = dtype_hint if dtype_hint is not None else preferred_dtype
    if wanted is None and hint is not None:
        hinted = as_dtype(hint)
        try:
            return _made(value, hinted)
        except (TypeError, ValueError):
            pass
    return _made(value, wanted)


def _made(value: Any, wanted: DType | None) -> Tensor:
    packed = _packed(value, wanted)
    return tensor_of(array_of(value, wanted), wanted) if packed is None else packed


def tensor_of(array: Any, dtype: DType | None = None) -> Tensor:
    """A tensor of an array, by default of its dtype."""
    value = array if isinstance(array, RemoteArray) else np.asarray(array)
    return Tensor(known(value, of_numpy(value.dtype) if dtype is None else dtype))


def filled(shape: tuple[int, ...], value: int, dtype: DType) -> Tensor:
    """Zeros, ones, or another integer everywhere."""
    number: Any = (b"" if value == 0 else b"1") if dtype == dtypes.string else value
    return tensor_of(np.full(shape, number, dtype.storage), dtype)


def zeros_of(value: Any, before: tuple[int, ...] = ()) -> Tensor:
    """Zeros for each element of a value, in further axes ``before`` its own."""
    tensor = convert_to_tensor(value)
    return filled((*before, *tensor._lengths()), 0, tensor.dtype)


def array_of(value: Any, dtype: DType | None) -> np.ndarray[Any, Any]:
    """A value as an array of a dtype, by default of TensorFlow's choice for it.

    TensorFlow takes what lies under a mask, or NaN, for values that are masked or null: they are
    refused here.
    """
    if not isinstance(value, (list, tuple)):
        check_hides_nothing(value, "the value")
    if isinstance(value, (np.ndarray, np.generic)):
        return _from_numpy(value, dtype)
    if hasattr(value, "__array__"):
        return _from_numpy(np.asarray(value), dtype)
    if not isinstance(value, (bool, int, float, complex, str, bytes, list, tuple, range)):
        if isinstance(value, (Sequence, TensorShape)):
            value = list(value)
        else:
            raise _unsupported(value)
    kinds: set[Any] = set()
    _survey(value, kinds)
    check_hides_nothing(value, "the value")
    found = _python_dtype(kinds, value)
    wanted = found if dtype is None else dtype
    if dtype is not None and not _converts(found, dtype, value):
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {dtype.names_in_errors}")
    try:
        if wanted == dtypes.string:
            return _strings(value)
        if dtype is None and wanted == dtypes.int32:
            wide = np.array(value, np.int64)
            fits = not wide.size or (wide.min() >= -(2**31) and wide.max() < 2**31)
            return np.asarray(wide, np.int32 if fits else np.int64)
        if found.is_integer and wanted.is_integer:  # out of range, they wrap around
            return np.array(value, np.int64).astype(wanted.storage)
        with np.errstate(over="ignore"):
            return np.array(value, wanted.storage)
    except ValueError:
        raise ValueError("Can't convert non-rectangular Python sequence to Tensor.") from None
    except OverflowError:
        raise ValueError(
            "Can't convert Python sequence with out-of-range integer to Tensor."
        ) from None


def _from_numpy(value: Any, dtype: DType | None) -> np.ndarray[Any, Any]:
    array = np.asarray(value)
    if array.dtype.kind in "OSU" and (dtype is None or dtype == dtypes.string):
        if array.dtype.kind == "O" and not all(
            isinstance(item, (str, bytes)) for item in array.ravel().tolist()
        ):
            return array_of(array.tolist(), dtype)
        return _strings(array.tolist())
    if dtype is None:
        of_numpy(array.dtype)
        return np.array(array)
    if dtype == dtypes.string:
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype string")
    return np.array(array, dtype.storage)


def _survey(value: Any, kinds: set[Any]) -> None:
    """The types of all that is in nested lists."""
    if isinstance(value, (list, tuple, range)):
        for item in value:
            _survey(item, kinds)
    elif isinstance(value, (np.ndarray, np.generic)):
        kinds.add(value.dtype)
    elif isinstance(value, Operand):
        kinds.add(value._dtype().storage)
    elif value is None:
        raise _unsupported(value)
    else:
        kinds.add(type(value))


def _unsupported(value: Any) -> ValueError:
    return ValueError(
        f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)!r}) to a "
        "Tensor."
    )


def _python_dtype(kinds: set[Any], value: Any) -> DType:
    arrays = [kind for kind in kinds if isinstance(kind, np.dtype)]
    plain = kinds - set(arrays)
    if any(issubclass(kind, (str, bytes)) for kind in plain) or any(
        kind.kind in "OSU" for kind in arrays
    ):
        if plain - {str, bytes} or any(kind.kind not in "OSU" for kind in arrays):
            raise ValueError("Can't convert Python sequence with mixed types to Tensor.")
        return dtypes.string
    if arrays:
        return of_numpy(np.result_type(*arrays))
    if not plain:
        return dtypes.float32
    if bool in plain:
        if len(plain) > 1:
            raise ValueError("Can't convert Python sequence with mixed types to Tensor.")
        return dtypes.bool_
    if any(issubclass(kind, complex) for kind in plain):
        return dtypes.complex128
    if any(issubclass(kind, float) for kind in plain):
        return dtypes.float32
    if all(issubclass(kind, int) for kind in plain):
        return dtypes.int32
    return of_numpy(np.asarray(value).dtype)


def _converts(found: DType, dtype: DType, value: Any) -> bool:
    """True if Python's values, by default of the dtype ``found``, may be of another."""
    if found == dtype or (isinstance(value, (list, tuple)) and np.size(value) == 0):
        return True
    if found.is_integer or found.is_bool:
        return dtype.is_numeric or dtype.is_quantized
    if found.is_floating:
        return dtype.is_floating or dtype.is_complex
    return found.is_complex and dtype.is_complex


def _strings(value: Any) -> np.ndarray[Any, Any]:
    if isinstance(value, (str, bytes)):
        result = np.empty((), object)
        result[()] = value.encode() if isinstance(value, str) else value
        return result
    parts = [_strings(item) for item in value]
    if any(part.shape != parts[0].shape for part in parts):
        raise ValueError("rows of unequal lengths")
    stacked = np.empty((len(parts), *(parts[0].shape if parts else ())), object)
    for i, part in enumerate(parts):
        stacked[i] = part if part.ndim else part[()]
    return stacked


def _packed(value: Any, dtype: DType | None) -> Tensor | None:
    """Nested lists with tensors in them, stacked; ``None`` where there are none."""
    if not isinstance(value, (list, tuple)) or not _holds_operands(value):
        return None
    wanted = dtype or _first_operand(value)._dtype()
    parts = [
        convert_to_tensor(item, wanted) if isinstance(item, Operand) else _made(item, wanted)
        for item in value
    ]
    for part in parts:
        if part._lengths() != parts[0]._lengths():
            raise ValueError("Can't convert non-rectangular Python sequence to Tensor.")
    if (
        all(part._node.value is not None and not part._node.kept for part in parts)
        and not any(isinstance(item, Operand) and not isinstance(item, Tensor) for item in value)
        and wanted == dtypes.string
    ):
        return tensor_of(np.stack([part._value() for part in parts]), wanted)
    spec = Spec(wanted, (len(parts), *parts[0]._lengths()))
    return Tensor(record(TensorNode("np.stack", ([part._node for part in parts],), spec=spec)))


def _holds_operands(value: Any) -> bool:
    return any(
        isinstance(item, Operand) or (isinstance(item, (list, tuple)) and _holds_operands(item))
        for item in value
    )


def _first_operand(value: Any) -> Operand:
    for item in value:
        if isinstance(item, Operand):
            return item
        if isinstance(item, (list, tuple)) and _holds_operands(item):
            return _first_operand(item)
    raise TypeError("there is no tensor")


def _shaped(tensor: Tensor, shape: tuple[int, ...], given: Any) -> Tensor:
    count = int(np.prod(shape, dtype=np.int64))
    have = int(np.prod(tensor._lengths(), dtype=np.int64))
    value = tensor._value()
    if have == count:
        return tensor_of(value.reshape(shape), tensor.dtype)
    if have == 1:
        return tensor_of(np.broadcast_to(value.reshape(()), shape).copy(), tensor.dtype)
    raise TypeError(
        f"`value` has {have} elements, but `shape` {shape} needs {count}, or one: {given!r}"
    )


METHODS["constant"] = constant
