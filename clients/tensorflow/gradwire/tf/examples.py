"""``tf.train.Example``: features by name, as bytes, and read from these as tensors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np

from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.dtypes import as_dtype, string
from gradwire.tf.errors import invalid
from gradwire.tf.messages import FIXED32, VARINT, field, fields, signed, varint, varints
from gradwire.tf.sparse_tensors import SparseTensor
from gradwire.tf.tensors import Tensor


class _Values:
    """Values of one kind."""

    def __init__(self, value: Iterable[Any] = ()) -> None:
        self.value: list[Any] = [self._checked(each) for each in value]

    def _checked(self, value: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must have a method _checked")


class BytesList(_Values):
    """Strings of bytes."""

    def _checked(self, value: Any) -> bytes:
        if not isinstance(value, bytes):
            raise TypeError(
                f"{value!r} has type {type(value).__name__}, but expected one of: bytes"
            )
        return value

    def _encoded(self) -> bytes:
        return b"".join(field(1, each) for each in self.value)


class FloatList(_Values):
    """Numbers in single precision."""

    def _checked(self, value: Any) -> float:
        return float(np.float32(value))

    def _encoded(self) -> bytes:
        return field(1, np.asarray(self.value, "<f4").tobytes()) if self.value else b""


class Int64List(_Values):
    """Whole numbers."""

    def _checked(self, value: Any) -> int:
        if isinstance(value, (float, np.floating, str, bytes)):
            raise TypeError(f"{value!r} has type {type(value).__name__}, but expected one of: int")
        return int(value)

    def _encoded(self) -> bytes:
        return field(1, b"".join(map(varint, self.value))) if self.value else b""


class Feature:
    """Values of one of three kinds: those of the list that is given or was added to."""

    _KINDS: ClassVar[dict[str, type[Any]]] = {
        "bytes_list": BytesList, "float_list": FloatList, "int64_list": Int64List,
    }  # fmt: skip

    def __init__(
        self, bytes_list: Any = None, float_list: Any = None, int64_list: Any = None
    ) -> None:
        given = {"bytes_list": bytes_list, "float_list": float_list, "int64_list": int64_list}
        self._kind: str | None = next((each for each in given if given[each] is not None), None)
        self.bytes_list: BytesList = bytes_list or BytesList()
        self.float_list: FloatList = float_list or FloatList()
        self.int64_list: Int64List = int64_list or Int64List()

    def WhichOneof(self, oneof_group: str) -> str | None:  # noqa: N802 - as it is called
        """The list that has the values."""
        if oneof_group != "kind":
            raise ValueError(f"Feature has no oneof {oneof_group!r}")
        return next((each for each in self._KINDS if getattr(self, each).value), self._kind)

    def _encoded(self) -> bytes:
        kind = self.WhichOneof("kind")
        if kind is None:
            return b""
        return field(list(self._KINDS).index(kind) + 1, getattr(self, kind)._encoded())

    @classmethod
    def _decoded(cls, content: bytes) -> Feature:
        found = cls()
        for number, _, inner in fields(content):
            if not 1 <= number <= len(cls._KINDS):
                continue
            name = list(cls._KINDS)[number - 1]
            found._kind = name
            for _, kind, value in fields(inner):
                getattr(found, name).value += _read(name, kind, value)
        return found


def _read(name: str, kind: int, value: Any) -> list[Any]:
    """The values of a field, which holds one or many."""
    if name == "bytes_list":
        return [value]
    if name == "int64_list":
        return signed([value] if kind == VARINT else varints(value))
    assert kind == FIXED32 or len(value) % 4 == 0
    return [float(each) for each in np.frombuffer(value, "<f4")]


class Features:
    """Features by name."""

    def __init__(self, feature: Mapping[str, Feature] | None = None) -> None:
        self.feature: _Made = _Made(feature or {})


class _Made(dict[str, Feature]):
    """Features that are made when they are asked for."""

    def __missing__(self, name: str) -> Feature:
        return self.setdefault(name, Feature())


class Example:
    """Features by name, which ``SerializeToString`` writes as bytes."""

    def __init__(self, features: Features | None = None) -> None:
        self.features: Features = features or Features()

    def SerializeToString(self) -> bytes:  # noqa: N802 - as it is called
        """The example as bytes."""
        entries = [
            field(1, field(1, name.encode()) + field(2, each._encoded()))
            for name, each in self.features.feature.items()
        ]
        return field(1, b"".join(entries))

    def ParseFromString(self, serialized: bytes) -> int:  # noqa: N802 - as it is called
        """Become what bytes describe: how many there are."""
        self.features = Features()
        for _, _, content in fields(serialized):
            for _, _, entry in fields(content):
                parts = {number: value for number, _, value in fields(entry)}
                name = parts.get(1, b"").decode()
                self.features.feature[name] = Feature._decoded(parts.get(2, b""))
        return len(serialized)

    @classmethod
    def FromString(cls, serialized: bytes) -> Self:  # noqa: N802 - as it is called
        """The example that bytes describe."""
        made = cls()
        made.ParseFromString(serialized)
        return made


class FixedLenFeature:
    """A feature of as many values as a shape has, or its default."""

    def __init__(self, shape: Any, dtype: Any, default_value: Any = None) -> None:
        self.shape: tuple[int, ...] = (shape,) if isinstance(shape, int) else tuple(shape)
        self.dtype: Any = as_dtype(dtype)
        self.default_value: Any = default_value


class VarLenFeature:
    """A feature of any number of values, read as a sparse tensor."""

    def __init__(self, dtype: Any) -> None:
        self.dtype: Any = as_dtype(dtype)


class FixedLenSequenceFeature:
    """A feature of any number of parts of a shape."""

    def __init__(
        self, shape: Any, dtype: Any, allow_missing: bool = False, default_value: Any = None
    ) -> None:
        self.shape: tuple[int, ...] = (shape,) if isinstance(shape, int) else tuple(shape)
        self.dtype: Any = as_dtype(dtype)
        self.allow_missing: bool = allow_missing
        self.default_value: Any = default_value


def parse_single_example(
    serialized: Any, features: Mapping[str, Any], example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """The features of an example as tensors, by their names.

    Raises:
        InvalidArgumentError: A feature is missing, or of another dtype or length.
    """
    del example_names  # which messages show
    (found,) = _parsed([convert_to_tensor(serialized, string)._value().item()], features)
    return {
        key: _sparse([found[key]], each.dtype, batched=False)
        if isinstance(each, VarLenFeature)
        else _tensor(found[key], each.dtype)
        for key, each in features.items()
    }


def parse_example(
    serialized: Any, features: Mapping[str, Any], example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """The features of several examples as tensors with a first axis of examples."""
    del example_names  # which messages show
    texts = np.ravel(convert_to_tensor(serialized, string)._value())
    rows = _parsed(texts, features)
    made: dict[str, Any] = {}
    for key, each in features.items():
        column = [row[key] for row in rows]
        if isinstance(each, VarLenFeature):
            made[key] = _sparse(column, each.dtype, batched=True)
            continue
        if isinstance(each, FixedLenSequenceFeature):
            column = _padded(column, each)
        made[key] = _tensor(np.stack(column), each.dtype)
    return made


def _parsed(texts: Iterable[Any], features: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The values of each example's features, as arrays."""
    rows = []
    for text in texts:
        try:
            example = Example.FromString(bytes(text))
        except ValueError:
            raise invalid(f"Could not parse example input, value: '{text!r}'") from None
        held = dict(example.features.feature)
        rows.append({key: _values(key, each, held.get(key)) for key, each in features.items()})
    return rows


def _values(key: str, wanted: Any, given: Feature | None) -> Any:
    kind = given.WhichOneof("kind") if given is not None else None
    dtype, storage = wanted.dtype, wanted.dtype.storage
    if given is None or kind is None:
        return _default(key, wanted)
    expected = {"string": "bytes_list", "float32": "float_list", "int64": "int64_list"}
    if expected.get(dtype.name) != kind:
        raise invalid(
            f"Key: {key}.  Data types don't match. Data type: {kind} but expected type: "
            f"{dtype.name}"
        )
    values = getattr(given, kind).value
    array = np.empty(len(values), storage)
    array[:] = values
    if isinstance(wanted, VarLenFeature):
        return array
    unknown = isinstance(wanted, FixedLenSequenceFeature)
    if not unknown and array.size != int(np.prod(wanted.shape)):
        raise invalid(
            f"Key: {key}.  Can't parse serialized Example: {array.size} values, expected shape "
            f"{list(wanted.shape)}"
        )
    return array.reshape((-1, *wanted.shape) if unknown else wanted.shape)


def _default(key: str, wanted: Any) -> Any:
    storage = wanted.dtype.storage
    if isinstance(wanted, VarLenFeature):
        return np.empty(0, storage)
    if isinstance(wanted, FixedLenSequenceFeature) and wanted.allow_missing:
        return np.empty((0, *wanted.shape), storage)
    if getattr(wanted, "default_value", None) is None:
        raise invalid(
            f"Feature: {key} (data type: {wanted.dtype.name}) is required but could not be found."
        )
    array = np.asarray(convert_to_tensor(wanted.default_value, wanted.dtype)._value())
    return np.broadcast_to(array, wanted.shape)


def _tensor(array: Any, dtype: Any) -> Tensor:
    return tensor_of(np.asarray(array, dtype.storage), dtype)


def _sparse(rows: list[Any], dtype: Any, batched: bool) -> SparseTensor:
    places = [(row, at) for row, each in enumerate(rows) for at in range(len(each))]
    shape = [len(rows), max(map(len, rows), default=0)]
    indices = np.array(places, np.int64).reshape(-1, 2)
    values = np.concatenate(rows) if rows else np.empty(0, dtype.storage)
    return SparseTensor(
        indices if batched else indices[:, 1:],
        _tensor(values, dtype),
        shape if batched else shape[1:],
    )


def _padded(rows: list[Any], wanted: FixedLenSequenceFeature) -> list[Any]:
    """Sequences of the length of the longest, filled up with the default."""
    length = max(map(len, rows), default=0)
    empty = b"" if wanted.dtype == string else 0
    fill = empty if wanted.default_value is None else wanted.default_value
    made = []
    for row in rows:
        whole = np.full((length, *wanted.shape), fill, wanted.dtype.storage)
        whole[: len(row)] = row
        made.append(whole)
    return made
