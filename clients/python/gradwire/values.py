"""NumPy values as the protocol's leaves, and back.

What is sent keeps its dtype: NumPy arrays and scalars carry theirs; Python's numbers and lists of
them are float64, complex128, or bool where all are booleans. An ``int`` is float64 too, since ``3``
stands for 3.0: send ``np.int64(3)`` for an integer. In a document a float64 without axes is a
number, and any other array is an array.

What comes back keeps its dtype and shape, but bfloat16 is float32 where ``ml_dtypes`` is not
installed, which has its dtype. In an answer every list is a nesting level. Arrays
without axes come back as NumPy scalars, so that a loss is a ``float``; those that are given by
coordinates as a ``SparseArray``, ragged ones as a ``RaggedArray``. Both may be sent, and so may
SciPy's sparse arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradwire.bfloat16 import NAME, name_of, rounded, widened
from gradwire.chunked import is_dask, published
from gradwire.errors import UsageError
from gradwire.hidden import check_hides_nothing
from gradwire.messagepack import DTYPES
from gradwire.ragged import RaggedArray
from gradwire.sparse import SparseArray
from gradwire.stored import RemoteArray, StoredTensor
from gradwire.trees import (
    LEAF_MEMBERS,
    MISSING,
    NONFINITE,
    Names,
    child,
    flat,
    inside,
    is_list,
    is_wire_leaf,
    members,
    outermost,
    rebuild,
)

#: The members of arrays that an answer gives in parts.
SPARSE_MEMBERS = frozenset({"indices", "values", "shape"})
RAGGED_MEMBERS = frozenset({"values", "row_splits"})
#: Those of an array that stays with the service.
STORED_MEMBERS = frozenset({"ref", "dtype", "shape", "nbytes", "expires_at"})
IN_PARTS = (SPARSE_MEMBERS, RAGGED_MEMBERS, STORED_MEMBERS)
#: The dtypes in which arrays are sent as they are.
SENT_AS_IS = frozenset(DTYPES.values())
#: Those of which an array without axes is a number or a boolean in the document.
SENT_AS_NUMBERS = frozenset({np.dtype(np.float64), np.dtype(np.bool_)})


def encode_variables(variables: Any, field: str = "variables") -> dict[str, Any]:
    """The document of values by name; an error names the one that cannot be sent."""
    named = outermost(variables, field)
    return {_key(name, field): encode(value, f"{field}.{name}") for name, value in named.items()}


def encode(value: Any, name: str) -> Any:
    """The document of a nested value that is called ``name``."""
    kind = type(value)
    if kind is float or (kind is np.ndarray and _is_sent_as_is(value)):
        return value  # nearly all that is ever sent
    parts = _in_parts(value)
    if parts is not None:
        return parts
    held = members(value)
    if held is None:
        return _encode_leaf(value, name)
    if isinstance(held, Mapping):
        if is_wire_leaf(held):  # the fields of a dataclass or a named tuple
            kept = ", ".join(sorted({*LEAF_MEMBERS, "re", "im"} & held.keys()))
            raise UsageError(
                f"{name} has fields ({kept}) whose names the protocol keeps for leaves"
            )
        return {_key(key, name): encode(item, f"{name}.{key}") for key, item in held.items()}
    return [_encode_element(item, f"{name}[{i}]") for i, item in enumerate(held)]


def _is_sent_as_is(array: NDArray[Any]) -> bool:
    """True unless it is a number in the document, or not of the protocol's dtypes."""
    dtype = array.dtype
    return dtype in SENT_AS_IS and (array.ndim > 0 or dtype not in SENT_AS_NUMBERS)


def encode_seeds(seeds: Any, target: Names) -> Any:
    """The document of output gradients, nested as their target is; ``None`` stands for ones."""
    if seeds is None:
        return None
    if isinstance(target, Mapping):
        return {key: encode_seeds(seeds[key], target[key]) for key in target}
    if is_list(target):
        pairs = zip(seeds, target, strict=True)
        return [encode_seeds(seed, name) for seed, name in pairs]
    return encode(seeds, "output_gradients")


def decode(document: Any, like: Any = MISSING) -> Any:
    """The values in a document, its nesting levels of the types that those of ``like`` have."""
    if document is None or isinstance(document, np.ndarray):
        return _unpacked(document)
    return _walk(_unpacked, like, document)


def decode_rows(document: Any, gradients: Any, like: Any) -> Any:
    """The Jacobians of gradients, like the gradients and at each place once more so."""
    return _walk(lambda _, row: decode(row, like), like, gradients, document)


def _walk(read: Callable[..., Any], like: Any, *documents: Any) -> Any:
    """Apply a function to the leaves of the first document and their counterparts in the others.

    That document alone decides what is a level: a list of numbers in ``like`` may be an array.
    """
    document = documents[0]
    kind = type(document)
    if kind is not list and (kind is not dict or document.keys() in IN_PARTS):
        return read(*documents)
    held = None if like is MISSING else inside(like)
    keys: Any = list(document) if kind is dict else range(len(document))
    parts = [_walk(read, child(held, key), *[each[key] for each in documents]) for key in keys]
    return rebuild(like, dict(zip(keys, parts, strict=True)) if kind is dict else parts)


def _unpacked(document: Any) -> Any:
    if isinstance(document, np.ndarray):
        return document[()]
    return _joined(document) if isinstance(document, Mapping) else document


def _joined(parts: Mapping[str, Any]) -> Any:
    """The array of these parts, or stored one; of a batch, a list of one for each example."""
    if parts.keys() == STORED_MEMBERS:
        return StoredTensor.read(parts)
    known = parts["row_splits" if parts.keys() == RAGGED_MEMBERS else "shape"]
    if known.ndim > 1:
        return [_joined({part: parts[part][i] for part in parts}) for i in range(len(known))]
    if parts.keys() == RAGGED_MEMBERS:
        return RaggedArray(parts["values"], known)
    return SparseArray(parts["indices"], parts["values"], tuple(known.tolist()))


def _encode_element(value: Any, name: str) -> Any:
    """A list's item: numbers side by side would be read as one array, so each is wrapped."""
    document = encode(value, name)
    return {"value": document} if isinstance(document, float | bool) else document


def _in_parts(value: Any) -> dict[str, Any] | None:
    """The document of a remote, sparse or ragged array; ``None`` for anything else."""
    if isinstance(value, RemoteArray):
        return dict(value.leaf())
    if is_dask(value):
        return dict(published(value).leaf())
    if is_wire_leaf(value):
        parts = _in_parts(value.get("value"))
        return parts and parts | {key: item for key, item in value.items() if key != "value"}
    if hasattr(value, "tocoo"):
        value = SparseArray.from_scipy(value)
    if isinstance(value, SparseArray):
        shape = [int(length) for length in value.shape]
        parts = {"indices": value.indices, "values": value.values}
        return {**{name: _part(part, name) for name, part in parts.items()}, "shape": shape}
    if isinstance(value, RaggedArray):
        parts = {"values": value.values, "row_splits": value.row_splits}
        return {name: _part(part, name) for name, part in parts.items()}
    return None


def _part(array: Any, name: str) -> Any:
    """A part of a sparse or ragged array, which may be stored."""
    check_hides_nothing(array, name)
    if isinstance(array, StoredTensor):
        return {"ref": array.ref}
    return array


def _encode_leaf(value: Any, name: str) -> Any:
    array = as_array(value, name)
    if array is None:
        return value
    plain = array.ndim == 0 and array.dtype.name in ("float64", "bool")
    document = array.item() if plain else array
    if not is_wire_leaf(value):
        return document
    rest = {key: item for key, item in value.items() if key not in ("value", "dtype")}
    return {"value": document, **rest}


def as_array(value: Any, name: str) -> NDArray[Any] | None:
    """A leaf as an array of the dtype that it is sent with; ``None`` where it is not numbers."""
    dtype = None
    if is_wire_leaf(value):
        value, dtype = value.get("value"), value.get("dtype")
        if value is None:
            return None
    if isinstance(value, str) and value not in NONFINITE:
        return None
    check_hides_nothing(value, name)
    try:
        array = np.asarray(value)
        if array.dtype.kind in "iuU" and not _has_dtype(value):
            array = np.asarray(value, np.float64)
    except ValueError:
        raise UsageError(f"{name} is not an array: its rows have unequal lengths") from None
    except Exception as error:  # the array's own, as of a tensor of PyTorch that needs a gradient
        raise UsageError(f"{name} cannot be sent: {error}") from error
    if name_of(array.dtype) not in DTYPES:
        raise UsageError(
            f"{name} cannot be sent: expected numbers, booleans or arrays of them, "
            f"got {type(value).__name__} of dtype {array.dtype}"
        )
    if dtype is None:
        return array
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise UsageError(
            f"{name} has the dtype {dtype!r:.80}, which is none of values",
            hint=f"one of {', '.join(DTYPES)}",
        )
    return rounded(array) if dtype == NAME else widened(array).astype(dtype)


def _has_dtype(value: Any) -> bool:
    if is_list(value):
        return any(isinstance(item, np.generic) for item in flat(value))
    return hasattr(value, "__array__")


def _key(key: Any, name: str) -> str:
    if not isinstance(key, str):
        raise UsageError(f"{name} has the key {key!r}: expected a string")
    return key


def type_of(leaf: Any) -> str:
    """Dtype and shape, as ``float64[2,3]``; of a sparse array also its number of elements."""
    if isinstance(leaf, SparseArray):
        of = "slices" if leaf.values.ndim > 1 else "elements"
        return f"{name_of(leaf.values.dtype)}{_shape(leaf.shape)}, {len(leaf.values):,} {of}"
    if isinstance(leaf, RaggedArray):
        lengths = np.diff(leaf.row_splits)
        between = f"{lengths.min()}…{lengths.max()}" if len(lengths) else "0"
        return f"{name_of(leaf.values.dtype)}[{len(leaf):,} rows of {between}]"
    if isinstance(leaf, str):
        return "string"
    if isinstance(leaf, RemoteArray):
        return f"{name_of(leaf.dtype)}{_shape(leaf.shape)}"
    array = np.asarray(leaf)
    return f"{name_of(array.dtype)}{_shape(array.shape)}"


def _shape(shape: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, shape))}]" if shape else ""
