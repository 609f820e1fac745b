"""``tf.strings``: texts, which are computed here: they have no gradients."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwire.tf.arguments import only
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.dtypes import as_dtype, bool_, float32, int32, string
from gradwire.tf.errors import invalid
from gradwire.tf.ragged_tensors import RaggedTensor
from gradwire.tf.rowwise import elementwise
from gradwire.tf.tensors import Tensor


@elementwise
def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """The number of bytes, or with ``unit="UTF8_CHAR"`` characters, of each text."""
    return tensor_of(_each(input, lambda text: len(_units(text, unit)), np.int32), int32)


@elementwise
def lower(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Texts in lower case, of all letters with ``encoding="utf-8"``, else of those of ASCII."""
    return _texts(input, lambda text: _cased(text, encoding, "lower"))


@elementwise
def upper(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Texts in upper case, of all letters with ``encoding="utf-8"``, else of those of ASCII."""
    return _texts(input, lambda text: _cased(text, encoding, "upper"))


@elementwise
def strip(input: Any, name: str | None = None) -> Tensor:
    """Texts without white space at their ends."""
    return _texts(input, bytes.strip)


@elementwise
def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """The parts of texts that begin at ``pos`` and have at most ``len`` bytes or characters."""
    texts, first, count = np.broadcast_arrays(
        convert_to_tensor(input)._value(),
        convert_to_tensor(pos)._value(),
        convert_to_tensor(len)._value(),
    )
    found = np.empty(texts.shape, object)
    for place in np.ndindex(texts.shape):
        units = _units(texts[place], unit)
        total, start = _count(units), int(first[place])
        if not -total <= start <= total:
            raise invalid(f"pos {start} out of range for string b'{texts[place]!r}'")
        start += total if start < 0 else 0
        part = units[start : start + int(count[place])]
        found[place] = part if isinstance(part, bytes) else part.encode()
    return tensor_of(found, string)


def join(inputs: Sequence[Any], separator: str = "", name: str | None = None) -> Tensor:
    """Texts put together, place by place."""
    arrays = np.broadcast_arrays(*(convert_to_tensor(each)._value() for each in inputs))
    found = np.empty(arrays[0].shape, object)
    for place in np.ndindex(found.shape):
        found[place] = separator.encode().join(bytes(array[place]) for array in arrays)
    return tensor_of(found, string)


def reduce_join(
    inputs: Any,
    axis: Any = None,
    keepdims: bool = False,
    separator: str = "",
    name: str | None = None,
) -> Tensor:
    """Texts put together along an axis, by default all."""
    texts = convert_to_tensor(inputs)._value()
    axes = range(texts.ndim) if axis is None else np.atleast_1d(axis).tolist()
    for each in sorted((a % texts.ndim for a in axes), reverse=True):
        moved = np.moveaxis(texts, each, -1)
        joined = np.empty(moved.shape[:-1], object)
        for place in np.ndindex(joined.shape):
            joined[place] = separator.encode().join(moved[place])
        texts = np.expand_dims(joined, each) if keepdims else joined
    return tensor_of(texts, string)


def split(input: Any, sep: str | None = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """The parts of texts between separators, by default white space: ragged for several texts."""
    between = sep.encode() if sep else None
    return _rows(input, lambda text: text.split(between, maxsplit))


def bytes_split(input: Any, name: str | None = None) -> Any:
    """The bytes of texts."""
    return _rows(input, lambda text: [bytes([each]) for each in text])


def unicode_split(
    input: Any,
    input_encoding: str = "UTF-8",
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> Any:
    """The characters of texts."""
    only("unicode_split", replacement_char=(replacement_char, 65533))
    return _rows(
        input, lambda text: [each.encode() for each in text.decode(input_encoding, errors)]
    )


@elementwise
def unicode_decode(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """The code points of each string."""
    only(
        "unicode_decode",
        replacement_char=(replacement_char, 65533),
        replace_control_characters=(replace_control_characters, False),
    )
    of = _bytes(input_encoding).decode()
    given = _strings(input)
    rows = [[ord(each) for each in text.decode(of, errors)] for text in given.ravel()]
    if not given.ndim:
        return tensor_of(np.asarray(rows[0], np.int32), int32)
    return RaggedTensor.from_row_lengths(
        tensor_of(np.asarray([point for row in rows for point in row], np.int32), int32),
        [len(row) for row in rows],
    )


def unicode_encode(
    input: Any,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> Tensor:
    """The strings of rows of code points."""
    only("unicode_encode", errors=(errors, "replace"), replacement_char=(replacement_char, 65533))
    to = _bytes(output_encoding).decode()
    rows = input.to_list() if hasattr(input, "to_list") else convert_to_tensor(input).numpy()
    if np.ndim(rows[0]) == 0 and not isinstance(rows[0], list):
        return convert_to_tensor("".join(map(chr, rows)).encode(to))
    made = np.empty(len(rows), object)
    made[:] = ["".join(map(chr, row)).encode(to) for row in rows]
    return tensor_of(made, string)


def ngrams(
    data: Any,
    ngram_width: int | tuple[int, ...],
    separator: str = " ",
    pad_values: Any = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Any:
    """The runs of so many texts that follow each other in a row, put together."""
    only("ngrams", pad_values=(pad_values, None), padding_width=(padding_width, None))
    widths = [ngram_width] if isinstance(ngram_width, int) else list(ngram_width)
    between = _bytes(separator)

    def runs(row: list[bytes]) -> list[bytes]:
        found = [
            between.join(row[start : start + width])
            for width in widths
            for start in range(_count(row) - width + 1)
        ]
        return [between.join(row)] if preserve_short_sequences and row and not found else found

    is_ragged = hasattr(data, "to_list")
    rows = data.to_list() if is_ragged else _strings(data).tolist()
    if not is_ragged and np.ndim(data) == 1:
        return _string_tensor(runs(rows))
    found = [runs(row) for row in rows]
    ragged = RaggedTensor.from_row_lengths(
        _string_tensor([each for row in found for each in row]), [*map(_count, found)]
    )
    return ragged if is_ragged else ragged.to_tensor()


@elementwise
def regex_replace(
    input: Any, pattern: Any, rewrite: Any, replace_global: bool = True, name: str | None = None
) -> Tensor:
    """Texts with what a pattern finds replaced."""
    expression = re.compile(_bytes(pattern))
    by = _bytes(rewrite)
    return _texts(input, lambda text: expression.sub(by, text, count=0 if replace_global else 1))


@elementwise
def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Tensor:
    """True where a pattern describes the whole of a text."""
    expression = re.compile(_bytes(pattern))
    found = _each(input, lambda text: expression.fullmatch(text) is not None, np.bool_)
    return tensor_of(found, bool_)


@elementwise
def to_number(input: Any, out_type: Any = float32, name: str | None = None) -> Tensor:
    """The numbers that texts say."""
    dtype = as_dtype(out_type)

    def number(text: bytes) -> Any:
        try:
            return int(text) if dtype.is_integer else float(text)
        except ValueError:
            raise invalid(
                f"StringToNumberOp could not correctly convert string: {text.decode()}"
            ) from None

    return tensor_of(_each(input, number, dtype.storage), dtype)


@elementwise
def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Numbers as texts."""
    tensor = convert_to_tensor(input)
    kind = "e" if scientific else "g" if shortest else "f"
    floating = tensor.dtype.is_floating
    spec = fill + (str(width) if width >= 0 else "") + (f".{precision}" if precision >= 0 else "")

    def text(value: Any) -> bytes:
        if tensor.dtype == bool_:
            return b"true" if value else b"false"
        return f"{value:{spec}{kind}}".encode() if floating else f"{value:{spec}}".encode()

    found = np.empty(tensor._lengths(), object)
    for place, value in np.ndenumerate(tensor._value()):
        found[place] = text(value.item())
    return tensor_of(found, string)


def format(
    template: str,
    inputs: Any,
    placeholder: str = "{}",
    summarize: int = 3,
    name: str | None = None,
) -> Tensor:
    """A template in which placeholders stand for tensors."""
    given = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    parts = template.split(placeholder)
    if len(parts) - 1 != len(given):
        raise ValueError(f"{template!r} has not as many placeholders as there are inputs")
    texts = [str(convert_to_tensor(each).numpy()) for each in given]
    whole = parts[0] + "".join(text + part for text, part in zip(texts, parts[1:], strict=True))
    return convert_to_tensor(whole)


def _each(input: Any, function: Callable[[bytes], Any], dtype: Any) -> np.ndarray[Any, Any]:
    texts = _strings(input)
    found = np.empty(texts.shape, dtype)
    for place in np.ndindex(texts.shape):
        found[place] = function(bytes(texts[place]))
    return found


def _texts(input: Any, function: Callable[[bytes], bytes]) -> Tensor:
    return tensor_of(_each(input, function, object), string)


def _rows(input: Any, function: Callable[[bytes], list[bytes]]) -> Any:
    if hasattr(input, "_elementwise"):
        return input.with_flat_values(_rows(input.flat_values, function))
    texts = _strings(input)
    if texts.ndim == 0:
        return convert_to_tensor(np.asarray(function(bytes(texts[()])), object), string)
    if texts.ndim > 1:
        flat = _rows(tensor_of(texts.ravel(), string), function)
        return RaggedTensor.from_tensor(input).with_values(flat)
    found = [function(bytes(text)) for text in texts]
    every = np.empty(sum(map(_count, found)), object)
    every[:] = [part for row in found for part in row]
    return RaggedTensor.from_row_lengths(tensor_of(every, string), [*map(_count, found)])


def _strings(input: Any) -> np.ndarray[Any, Any]:
    tensor = convert_to_tensor(input)
    if tensor.dtype != string:
        raise invalid(
            f"cannot compute on texts as input #0(zero-based) was expected to be a string tensor "
            f"but is a {tensor.dtype.names_in_errors} tensor"
        )
    return np.asarray(tensor._value(), object)


def _string_tensor(texts: list[bytes]) -> Tensor:
    made = np.empty(_count(texts), object)
    made[:] = texts
    return tensor_of(made, string)


def _count(units: Any) -> int:  # for those in whose scope `len` is another
    return len(units)


def _units(text: Any, unit: str) -> Any:
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise ValueError(f"unit must be 'BYTE' or 'UTF8_CHAR', not {unit!r}")
    return text if unit == "BYTE" else text.decode(errors="replace")


def _cased(text: bytes, encoding: str, method: str) -> bytes:
    if encoding in ("utf-8", "UTF-8"):
        changed: str = getattr(text.decode(), method)()
        return changed.encode()
    result: bytes = getattr(text, method)()
    return result


def _bytes(value: Any) -> bytes:
    found = value if isinstance(value, (str, bytes)) else convert_to_tensor(value)._value()[()]
    return found.encode() if isinstance(found, str) else bytes(found)
