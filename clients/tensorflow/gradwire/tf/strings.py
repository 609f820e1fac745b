"""``tf.strings``: texts, which are computed here: they have no gradients."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwire.tf import regular
from gradwire.tf.arguments import only
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.dtypes import as_dtype, bool_, float32, int32, string
from gradwire.tf.errors import invalid
from gradwire.tf.ragged_tensors import RaggedTensor
from gradwire.tf.rowwise import elementwise
from gradwire.tf.summaries import summarized
from gradwire.tf.tensors import Operand, Tensor
from gradwire.tf.variants import variant


@elementwise
def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """The number of bytes, or with ``unit="UTF8_CHAR"`` characters, of each text."""
    _checked(unit)
    beside = b"" if unit == "BYTE" else bytes(range(0x80, 0xC0))
    return tensor_of(_each(input, lambda text: len(text.translate(None, beside)), np.int32), int32)


def _cased(input: Any, encoding: str = "", name: str | None = None) -> Callable[..., Tensor]:
    return lambda method: _texts(input, lambda text: _in_case(text, encoding, method))


@elementwise
@variant(_cased, "lower")
def lower() -> Tensor:
    """Texts in lower case, of all letters with ``encoding="utf-8"``, else of those of ASCII."""


@elementwise
@variant(_cased, "upper")
def upper() -> Tensor:
    """Texts in upper case, of all letters with ``encoding="utf-8"``, else of those of ASCII."""


@elementwise
def strip(input: Any, name: str | None = None) -> Tensor:
    """Texts without white space at their ends."""
    return _texts(input, bytes.strip)


@elementwise
def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """The parts of texts that begin at ``pos`` and have at most ``len`` bytes or characters."""
    starts, counts = (convert_to_tensor(each)._value() for each in (pos, len))
    if starts.shape != counts.shape:
        raise invalid(f"pos and len should have one shape, got {starts.shape}, {counts.shape}")
    texts, first, count = np.broadcast_arrays(_strings(input), starts, counts)
    found = np.empty(texts.shape, object)
    for place in np.ndindex(texts.shape):
        units = _units(bytes(texts[place]), unit)
        total, start = _count(units), int(first[place])
        if not -total <= start <= total:
            raise invalid(f"pos {start} out of range for string b'{texts[place]!r}'")
        start += total if start < 0 else 0
        stop = start + int(count[place]) if count[place] >= 0 or unit != "BYTE" else total
        found[place] = b"".join(units[start : max(stop, start)])
    return tensor_of(found, string)


def join(inputs: Sequence[Any], separator: str = "", name: str | None = None) -> Tensor:
    """Texts put together, place by place."""
    texts = [_strings(each) for each in inputs]
    shapes = {each.shape for each in texts} - {()}
    if len(shapes) > 1:
        raise invalid(f"Input shapes do not match: {shapes}")
    arrays = np.broadcast_arrays(*texts)
    found = np.empty(shapes.pop() if shapes else (), object)
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
    texts = _strings(inputs)
    axes = range(texts.ndim)[::-1] if axis is None else np.atleast_1d(axis).astype(int).tolist()
    if not all(-texts.ndim <= each < texts.ndim for each in axes):
        raise invalid(f"Invalid reduction dimensions {axes} for input with {texts.ndim} axes")
    for each in axes:
        moved = np.moveaxis(texts, each, -1)
        joined = np.empty(moved.shape[:-1], object)
        for place in np.ndindex(joined.shape):
            joined[place] = separator.encode().join(moved[place])
        texts = np.expand_dims(joined, each)
    return tensor_of(texts if keepdims else texts.squeeze(tuple(axes)), string)


def split(input: Any, sep: str | None = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """The parts of texts between separators, by default white space: ragged for several texts."""
    between = sep.encode() if sep else None
    return _rows(input, lambda text: text.split(between, maxsplit) if maxsplit else [text])


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

    def text(points: Any) -> bytes:
        valid = (0 <= each < 0xD800 or 0xE000 <= each < 0x110000 for each in points)
        return "".join(
            chr(e if ok else 0xFFFD) for e, ok in zip(points, valid, strict=True)
        ).encode(to)

    if np.ndim(rows[0]) == 0 and not isinstance(rows[0], list):
        return convert_to_tensor(text(rows))
    return _string_tensor([*map(text, rows)])


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
    return _texts(input, regular.replacement(_bytes(pattern), _bytes(rewrite), replace_global))


@elementwise
def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Tensor:
    """True where a pattern describes the whole of a text."""
    return tensor_of(_each(input, regular.full_match(_bytes(pattern)), np.bool_), bool_)


@elementwise
def to_number(input: Any, out_type: Any = float32, name: str | None = None) -> Tensor:
    """The numbers that texts say."""
    dtype = as_dtype(out_type)

    def number(text: bytes) -> Any:
        try:
            if b"_" in text:
                raise ValueError
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
    """Numbers as texts, as C's ``printf`` writes them with ``fill`` for a flag."""
    tensor = convert_to_tensor(input)
    if tensor.dtype == string:
        return tensor
    exact = tensor.dtype.is_integer or tensor.dtype == bool_
    if fill not in ("", *"+-0 "):
        raise invalid(f"Fill string not supported: {fill!r}")
    if (scientific and shortest) or (exact and (scientific or shortest or precision >= 0)):
        raise invalid(f"such notation is not possible for {tensor.dtype.name}")
    kind = "d" if exact else "e" if scientific else "g" if shortest else "f"
    rest = (str(width) if width >= 0 else "") + (f".{precision}" if precision >= 0 else "") + kind

    def text(value: bool | float | complex) -> str:
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, complex):
            return f"({text(value.real)},{text(value.imag)})"
        return f"%{fill.replace('0', fill if np.isfinite(value) else '')}{rest}" % value

    return tensor_of(
        _mapped(tensor._value(), lambda value: text(value.item()).encode(), object), string
    )


def format(
    template: str,
    inputs: Any,
    placeholder: str = "{}",
    summarize: int = 3,
    name: str | None = None,
) -> Tensor:
    """A template with tensors for placeholders, of each axis ``summarize`` at its ends."""
    given = [inputs] if isinstance(inputs, Operand) else inputs
    parts = template.split(placeholder)
    if len(parts) - 1 != len(given):
        raise ValueError(
            f"The template expects {len(parts) - 1} tensors, but the inputs only has {len(given)}."
        )
    whole = parts[0].encode()
    for each, part in zip(given, parts[1:], strict=True):
        whole += summarized(convert_to_tensor(each)._value(), summarize) + part.encode()
    return convert_to_tensor(whole)


def _each(input: Any, function: Callable[[bytes], Any], dtype: Any) -> np.ndarray[Any, Any]:
    return _mapped(_strings(input), lambda text: function(bytes(text)), dtype)


def _mapped(array: Any, function: Callable[[Any], Any], dtype: Any) -> np.ndarray[Any, Any]:
    found = np.empty(array.shape, dtype)
    for place in np.ndindex(array.shape):
        found[place] = function(array[place])
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
        rows = _rows(tensor_of(texts.reshape(-1, *texts.shape[2:]), string), function)
        return RaggedTensor.from_row_lengths(rows, [texts.shape[1]] * texts.shape[0])
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


def _units(text: bytes, unit: str) -> list[bytes]:
    """The bytes or the characters of a text."""
    _checked(unit)
    return re.findall(rb"(?s)." if unit == "BYTE" else rb"(?s).[\x80-\xbf]*", text)


def _checked(unit: str) -> None:
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise ValueError(f"unit must be 'BYTE' or 'UTF8_CHAR', not {unit!r}")


def _in_case(text: bytes, encoding: str, method: str) -> bytes:
    if encoding in ("utf-8", "UTF-8"):
        changed: str = getattr(text.decode(), method)()
        return changed.encode()
    result: bytes = getattr(text, method)()
    return result


def _bytes(value: Any) -> bytes:
    found = value if isinstance(value, (str, bytes)) else convert_to_tensor(value)._value()[()]
    return found.encode() if isinstance(found, str) else bytes(found)
