"""NumPy values as the protocol's leaves, and back.

What is sent keeps its dtype: NumPy arrays and scalars carry theirs; Python's numbers and lists of
them are float64, complex128, or bool where all are booleans. An ``int`` is float64 too, since
JSON's ``3`` is 3.0: send ``np.int64(3)`` for an integer. Short arrays are sent as lists that
people can read, longer ones packed.

What comes back is packed and so keeps its dtype and shape. From a service that answers in lists,
a gradient takes those of its source; any other number is float64, bool or complex128. Arrays
without axes come back as NumPy scalars, so that a loss is a ``float``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradwire import codec
from gradwire.trees import (
    LEAF_MEMBERS,
    MISSING,
    NONFINITE,
    Names,
    flat,
    is_list,
    is_wire_leaf,
    lookup,
    members,
    outermost,
    rebuild,
)

DTYPES = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
    "float16 float32 float64 complex64 complex128".split()
)
#: Elements of the largest array that is sent as a list.
LONGEST_LIST = 32


def encode_variables(variables: Any) -> dict[str, Any]:
    """The document of ``variables``; an error names the value that cannot be sent."""
    return {_key(name, ""): encode(value, name) for name, value in outermost(variables).items()}


def encode(value: Any, name: str) -> Any:
    """The document of a nested value that is called ``name``."""
    inside = members(value)
    if inside is None:
        return _encode_leaf(value, name)
    if isinstance(inside, Mapping):
        if is_wire_leaf(inside):  # the fields of a dataclass or a named tuple
            kept = ", ".join(sorted({*LEAF_MEMBERS, "re", "im"} & inside.keys()))
            raise ValueError(
                f"{name} has fields ({kept}) whose names the protocol keeps for leaves"
            )
        return {_key(key, name): encode(item, f"{name}.{key}") for key, item in inside.items()}
    return [_encode_element(item, f"{name}[{i}]") for i, item in enumerate(inside)]


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


def decode_named(document: Any, names: Names) -> Any:
    """The values of named things, in the names' structure; as they are nested without names."""
    return decode(document) if names is None else _decode_names(document, names, {})


def decode_gradients(document: Any, sources: Names, variables: Any) -> Any:
    """Gradients in the structure of their sources, which without names are all variables."""
    if sources is not None:
        return _decode_names(document, sources, variables)
    parts = {name: decode(document[name], like) for name, like in outermost(variables).items()}
    return rebuild(variables, parts)


def decode(document: Any, like: Any = MISSING) -> Any:
    """The values in a document: as structured and typed as ``like``, where it is given."""
    if document is None:
        return None
    if codec.is_packed(document):
        return codec.unpack(document)[()]
    inside = members(like)
    if isinstance(inside, Mapping):
        return rebuild(like, {key: decode(document[key], inside[key]) for key in inside})
    if inside is not None:
        pairs = zip(document, inside, strict=True)
        return rebuild(like, [decode(part, item) for part, item in pairs])
    source = None if like is MISSING else _as_array(like, "")
    if source is None:
        return _decode_freely(document)
    return _read(document, source.dtype).reshape(source.shape)[()]


def _decode_names(document: Any, names: Names, variables: Any) -> Any:
    if document is None or names is None:
        return None
    if isinstance(names, str):
        return decode(document, lookup(variables, names))
    if isinstance(names, Mapping):
        return {key: _decode_names(document[key], names[key], variables) for key in names}
    pairs = zip(document, names, strict=True)
    return rebuild(names, [_decode_names(part, name, variables) for part, name in pairs])


def _encode_element(value: Any, name: str) -> Any:
    """A list's item: arrays side by side would be read as the rows of one, so each is wrapped."""
    document = encode(value, name)
    if members(value) is not None or isinstance(value, str) or isinstance(document, dict):
        return document
    return {"value": document}


def _encode_leaf(value: Any, name: str) -> Any:
    array = _as_array(value, name)
    document = value if array is None else _encode_array(array)
    if not is_wire_leaf(value) or array is None:
        return document
    rest = {key: item for key, item in value.items() if key not in ("value", "dtype")}
    return (document if isinstance(document, dict) else {"value": document}) | rest


def _encode_array(array: NDArray[Any]) -> Any:
    dtype = array.dtype.name
    # Nested lists lose the shape of an array without elements.
    if array.size > LONGEST_LIST or (array.size == 0 and array.ndim > 1):
        return codec.pack(array)
    if array.dtype.kind == "c":
        parts = {"re": _listed(np.real(array)), "im": _listed(np.imag(array))}
        return parts if dtype == "complex128" else parts | {"dtype": dtype}
    if dtype == "float64" or (dtype == "bool" and array.size > 0):
        return _listed(array)
    return {"value": _listed(array), "dtype": dtype}


def _listed(array: NDArray[Any]) -> Any:
    """An array as nested lists of finite numbers and the three strings."""
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return array.tolist()
    texts = np.where(np.isnan(array), "NaN", np.where(array > 0, "Infinity", "-Infinity"))
    return np.where(np.isfinite(array), array.astype(object), texts.astype(object)).tolist()


def _as_array(value: Any, name: str) -> NDArray[Any] | None:
    """A leaf as an array of the dtype that it is sent with; ``None`` where it is not numbers."""
    dtype = None
    if is_wire_leaf(value):
        value, dtype = value.get("value"), value.get("dtype")
        if value is None:
            return None
    if isinstance(value, str) and value not in NONFINITE:
        return None
    try:
        array = np.asarray(value)
        if array.dtype.kind in "iuU" and not _has_dtype(value):
            array = np.asarray(value, np.float64)
    except ValueError:
        raise ValueError(f"{name} is no array: its rows have unequal lengths") from None
    if array.dtype.name not in DTYPES:
        raise TypeError(
            f"{name} cannot be sent: expected numbers, booleans or arrays of them, "
            f"got {type(value).__name__} of dtype {array.dtype}"
        )
    return array if dtype is None else array.astype(dtype)


def _has_dtype(value: Any) -> bool:
    if is_list(value):
        return any(isinstance(item, np.generic) for item in flat(value))
    return hasattr(value, "__array__")


def _decode_freely(document: Any) -> Any:
    if isinstance(document, str) and document not in NONFINITE:
        return document
    if isinstance(document, Mapping) and not is_wire_leaf(document):
        return {key: decode(item) for key, item in document.items()}
    if is_list(document):
        try:
            kind = np.asarray(document).dtype.kind
        except ValueError:  # rows of unequal lengths
            kind = "O"
        if kind == "O":
            return [decode(item) for item in document]
        return _read(document, np.dtype(np.bool_ if kind == "b" else np.float64))[()]
    dtype = np.dtype(np.bool_) if isinstance(document, bool) else np.dtype(np.float64)
    return _read(document, dtype)[()]


def _read(document: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The array of a leaf that is not packed; its own dtype, where it has one, wins."""
    if not isinstance(document, Mapping):
        return np.asarray(document, dtype)
    own = np.dtype(document["dtype"]) if "dtype" in document else dtype
    if "value" in document:
        return _read(document["value"], own)
    array = np.empty(np.shape(document["re"]), own if own.kind == "c" else np.complex128)
    array.real = document["re"]
    array.imag = document["im"]
    return array


def _key(key: Any, name: str) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{name or 'variables'} has the key {key!r}: expected a string")
    return key
