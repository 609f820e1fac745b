"""``tf.io``: tensors as bytes, and files of them."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gradwire.tf import gfile as gfile
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.dtypes import as_dtype, string
from gradwire.tf.errors import NotFoundError
from gradwire.tf.pictures import decode_image as decode_image
from gradwire.tf.pictures import decode_jpeg as decode_jpeg
from gradwire.tf.pictures import decode_png as decode_png
from gradwire.tf.pictures import encode_jpeg as encode_jpeg
from gradwire.tf.pictures import encode_png as encode_png
from gradwire.tf.pictures import extract_jpeg_shape as extract_jpeg_shape
from gradwire.tf.pictures import is_jpeg as is_jpeg
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
