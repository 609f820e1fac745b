"""``tf.io``: tensors as bytes, and files of them."""

from __future__ import annotations

import base64
import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gradwire.tf import gfile as gfile
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.dtypes import as_dtype, string
from gradwire.tf.errors import NotFoundError, invalid
from gradwire.tf.examples import FixedLenFeature as FixedLenFeature
from gradwire.tf.examples import FixedLenSequenceFeature as FixedLenSequenceFeature
from gradwire.tf.examples import VarLenFeature as VarLenFeature
from gradwire.tf.examples import parse_example as parse_example
from gradwire.tf.examples import parse_single_example as parse_single_example
from gradwire.tf.messages import BYTES, field, fields, number_field
from gradwire.tf.pictures import decode_image as decode_image
from gradwire.tf.pictures import decode_jpeg as decode_jpeg
from gradwire.tf.pictures import decode_png as decode_png
from gradwire.tf.pictures import encode_jpeg as encode_jpeg
from gradwire.tf.pictures import encode_png as encode_png
from gradwire.tf.pictures import extract_jpeg_shape as extract_jpeg_shape
from gradwire.tf.pictures import is_jpeg as is_jpeg
from gradwire.tf.records import TFRecordOptions as TFRecordOptions
from gradwire.tf.records import TFRecordWriter as TFRecordWriter
from gradwire.tf.tensors import Tensor


def decode_raw(
    input_bytes: Any,
    out_type: Any,
    little_endian: bool = True,
    fixed_length: int | None = None,
    name: str | None = None,
) -> Tensor:
    """The numbers that the bytes of each string are, along a new last axis."""
    dtype = as_dtype(out_type)
    order = np.dtype(dtype.storage).newbyteorder("<" if little_endian else ">")
    given = _strings(input_bytes)
    rows = [np.frombuffer(_fitted(each, fixed_length), order) for each in given.ravel()]
    if len({row.size for row in rows}) > 1:
        raise ValueError("DecodeRaw requires input strings to all be the same size")
    values = np.stack(rows).astype(dtype.storage) if rows else np.zeros((0, 0), dtype.storage)
    return tensor_of(values.reshape(*given.shape, values.shape[-1]), dtype)


def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Tensor:
    """Strings in the URL-safe alphabet of base 64."""

    def encoded(text: bytes) -> bytes:
        written = base64.urlsafe_b64encode(text)
        return written if pad else written.rstrip(b"=")

    return _texts(input, encoded)


def decode_base64(input: Any, name: str | None = None) -> Tensor:
    """The strings that were written so."""
    return _texts(input, lambda text: base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4)))


#: The numbers of dtypes in written tensors.
_NUMBERS = {
    "float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7,
    "complex64": 8, "int64": 9, "bool": 10, "bfloat16": 14, "uint16": 17, "complex128": 18,
    "float16": 19, "uint32": 22, "uint64": 23,
}  # fmt: skip


def serialize_tensor(tensor: Any, name: str | None = None) -> Tensor:
    """A tensor as bytes: the message ``TensorProto``."""
    given = convert_to_tensor(tensor)
    array = np.asarray(given._value())
    lengths = b"".join(field(2, number_field(1, each)) for each in array.shape)
    head = number_field(1, _NUMBERS[given.dtype.name]) + field(2, lengths)
    if given.dtype == string:
        return convert_to_tensor(head + b"".join(field(8, bytes(each)) for each in array.ravel()))
    return convert_to_tensor(head + (field(4, array.tobytes()) if array.size else b""))


def parse_tensor(serialized: Any, out_type: Any, name: str | None = None) -> Tensor:
    """The tensor that ``serialize_tensor`` wrote.

    Raises:
        InvalidArgumentError: The bytes are of none, or of another dtype.
    """
    dtype = as_dtype(out_type)
    try:
        found = list(fields(_string(serialized)))
        numbers = [value for number, _, value in found if number == 1]
        if numbers != [_NUMBERS[dtype.name]]:
            raise invalid(
                f"Type mismatch between parsed tensor and dtype ({dtype.name}); found {numbers}"
            )
        axes = [axis for number, _, shape in found if number == 2 for _, _, axis in fields(shape)]
        lengths = [next((n for at, _, n in fields(axis) if at == 1), 0) for axis in axes]
    except ValueError:
        raise invalid("Could not parse `serialized` as TensorProto") from None
    if dtype == string:
        made = np.empty(int(np.prod(lengths)), object)
        made[:] = [value for number, kind, value in found if (number, kind) == (8, BYTES)]
        return tensor_of(made.reshape(lengths), dtype)
    content = b"".join(value for number, kind, value in found if (number, kind) == (4, BYTES))
    return tensor_of(np.frombuffer(content, dtype.storage).reshape(lengths).copy(), dtype)


def decode_csv(
    records: Any,
    record_defaults: Any,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Any = None,
    name: str | None = None,
) -> list[Tensor]:
    """The columns of lines with separators, of the dtypes of their defaults.

    Raises:
        InvalidArgumentError: A line has another number of columns, or an empty one no default.
    """
    defaults = [convert_to_tensor(each) for each in record_defaults]
    lines = _strings(records)
    rows: list[list[str]] = []
    quoted: Any = csv.QUOTE_MINIMAL if use_quote_delim else csv.QUOTE_NONE
    for line in lines.ravel():
        rows += csv.reader([line.decode()], delimiter=field_delim, quoting=quoted)
    if select_cols is not None:
        rows = [[row[place] for place in select_cols] for row in rows]
    for at, row in enumerate(rows):
        if len(row) != len(defaults):
            raise invalid(f"Expect {len(defaults)} fields but have {len(row)} in record {at}")
    columns = []
    for place, default in enumerate(defaults):
        made = np.empty(len(rows), default.dtype.storage)
        made[:] = [_cell(row[place], default, na_value, place) for row in rows]
        columns.append(tensor_of(made.reshape(lines.shape), default.dtype))
    return columns


def _cell(text: str, default: Tensor, na_value: str, place: int) -> Any:
    """The value that a column of a line says."""
    dtype = default.dtype
    if text in ("", na_value):
        values = np.ravel(default._value())
        if not values.size:
            raise invalid(f"Field {place} is required but missing in record!")
        return values[0]
    if dtype == string:
        return text.encode()
    try:
        return int(text) if dtype.is_integer else float(text)
    except ValueError:
        raise invalid(f"Field {place} in record is not a valid {dtype.name}: {text}") from None


def read_file(filename: Any, name: str | None = None) -> Tensor:
    """A file's content.

    Raises:
        NotFoundError: there is no such file.
    """
    try:
        return convert_to_tensor(_path(filename).read_bytes())
    except FileNotFoundError:
        raise NotFoundError(
            None, None, f"{_string(filename).decode()}; No such file or directory"
        ) from None


def write_file(filename: Any, contents: Any, name: str | None = None) -> None:
    """Write a string to a file, whose folder is made where there is none."""
    path = _path(filename)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_string(contents))


def matching_files(pattern: Any, name: str | None = None) -> Tensor:
    """The names of the files that a pattern fits, or one of several, in order."""
    found = gfile.glob([each.decode() for each in _strings(pattern).ravel()])
    return convert_to_tensor(sorted(found), string)


def _path(filename: Any) -> Path:
    return Path(gfile.local(_string(filename)))


def _string(value: Any) -> bytes:
    return bytes(_strings(value).item())


def _strings(value: Any) -> np.ndarray[Any, Any]:
    return np.asarray(convert_to_tensor(value, string)._value(), object)


def _texts(value: Any, function: Callable[[bytes], bytes]) -> Tensor:
    given = _strings(value)
    made = np.empty(given.shape, object)
    for place in np.ndindex(given.shape):
        made[place] = function(bytes(given[place]))
    return tensor_of(made, string)


def _fitted(text: bytes, length: int | None) -> bytes:
    return text if length is None else text[:length].ljust(length, b"\0")
