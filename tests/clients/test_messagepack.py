"""The SDK's MessagePack compared with the reference implementation."""

import math
from collections import OrderedDict
from types import MappingProxyType
from typing import Any, NamedTuple

import msgpack
import numpy as np
import pytest
from gradwire.messagepack import DTYPES, pack, unpack
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tests.arrays import arrays_of

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 64) - 1)
    | st.floats()
    | st.text(max_size=80),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(), inner, max_size=20),
    max_leaves=40,
)
SHAPES = arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)
ARRAYS = st.sampled_from(sorted(DTYPES)).flatmap(lambda name: arrays_of(DTYPES[name], SHAPES))
LENGTHS = [15, 16, 31, 32, 255, 256, 65535, 65536]


def same(a: Any, b: Any) -> bool:
    """Whether two documents are equal, NaN being what it is."""
    return repr(a) == repr(b)


@given(PLAIN)
def test_the_reference_reads_written_documents(document):
    assert same(msgpack.unpackb(pack(document)), document)


@given(PLAIN)
def test_documents_of_the_reference_are_read(document):
    assert same(unpack(msgpack.packb(document)), document)


@pytest.mark.thorough
@pytest.mark.parametrize("length", LENGTHS)
def test_lengths_are_written_as_compactly_as_by_the_reference(length):
    for document in (
        "x" * length,
        "é" * length,
        [None] * length,
        {f"{i}": i for i in range(length)},
    ):
        assert pack(document) == msgpack.packb(document)
        assert unpack(pack(document)) == document


def test_numbers_are_written_as_compactly_as_by_the_reference():
    for bits in range(64):
        for number in (1 << bits, (1 << bits) - 1, -(1 << bits), -(1 << bits) - 1):
            if number >= -(1 << 63):
                assert pack(number) == msgpack.packb(number)


@given(ARRAYS)
def test_arrays_read_back_bit_for_bit(array):
    back = unpack(pack({"x": [array]}))["x"][0]
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    assert back.tobytes() == array.tobytes()
    assert all(back.flags[flag] for flag in ("WRITEABLE", "ALIGNED", "OWNDATA"))


@given(ARRAYS)
def test_arrays_are_written_as_dtype_shape_and_bytes(array):
    assert msgpack.unpackb(pack(array)) == {
        "dtype": array.dtype.name,
        "shape": list(array.shape),
        "data": array.tobytes(),
    }


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3).T,
        np.arange(6.0)[::-2],
        np.arange(6, dtype=">i4"),
        np.broadcast_to(np.float32(1), (3, 2)),
    ],
    ids=["transposed", "backwards", "big-endian", "broadcast"],
)
def test_byte_and_memory_order_do_not_matter(array):
    back = unpack(pack(array))
    np.testing.assert_array_equal(back, array)
    assert back.dtype.isnative


def test_similar_types_are_written_as_standard_types():
    class Name(str): ...

    class Pair(NamedTuple):
        first: int
        second: np.int8

    document = MappingProxyType({"a": OrderedDict(b=Pair(1, np.int8(2))), "c": Name("d")})
    assert unpack(pack(document)) == {"a": {"b": [1, 2]}, "c": "d"}
    assert unpack(pack([np.float32(0.5), np.bool_(True), np.float64("nan")]))[:2] == [0.5, True]
    matrix = unpack(pack(np.ma.masked_array([1.0, 2.0])))
    np.testing.assert_array_equal(matrix, [1.0, 2.0])


@pytest.mark.parametrize(
    ("document", "error", "message"),
    [
        ({"x": object()}, TypeError, "a document cannot contain a value of type object"),
        ({1: 2}, TypeError, "a document has the key 1: expected a string"),
        (np.array(["a"]), TypeError, "a document cannot contain an array of dtype <U1"),
        (1 << 64, ValueError, "18446744073709551616 has more than 64 bits"),
        (np.broadcast_to(np.uint8(0), 1 << 32), ValueError, "4294967296 bytes or members"),
    ],
)
def test_unsupported_types_are_refused(document, error, message):
    with pytest.raises(error, match=message):
        pack(document)


@given(PLAIN.filter(lambda document: isinstance(document, list | dict | str) and document))
def test_truncated_bodies_are_refused(document):
    body = pack(document)
    for end in range(len(body)):
        with pytest.raises(ValueError, match="cut short"):
            unpack(body[:end])


@given(st.binary(max_size=200))
def test_any_bytes_are_parsed_or_refused(body):
    try:
        unpack(body)
    except (ValueError, LookupError, TypeError):
        return


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"\x01\x02", "trailing bytes after the document, from byte 1"),
        (msgpack.packb(msgpack.ExtType(1, b"x")), "an extension or unused type, 0xd4 at byte 0"),
        (b"\x91" * 300 + b"\x00", "nests deeper than 200 levels"),
        (b"\xdf\xff\xff\xff\xff", "cut short"),
    ],
    ids=["more", "extension", "deep", "too many"],
)
def test_invalid_documents_are_refused(body, message):
    with pytest.raises(ValueError, match=message):
        unpack(body)


@pytest.mark.parametrize(
    "parts", [{"shape": [2]}, {"dtype": "object"}, {"dtype": None}, {"shape": "3"}], ids=repr
)
def test_invalid_arrays_are_refused(parts):
    array = {"dtype": "float64", "shape": [3], "data": bytes(24)}
    assert (unpack(msgpack.packb(array)) == np.zeros(3)).all()
    with pytest.raises((ValueError, LookupError, TypeError)):
        unpack(msgpack.packb({**array, **parts}))


def test_single_precision_floats_are_read():
    packer = msgpack.Packer(use_single_float=True)
    assert unpack(packer.pack([1.5, -math.inf])) == [1.5, -math.inf]
