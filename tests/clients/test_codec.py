import numpy as np
import pytest
from gradwire import codec

ARRAYS = [
    np.array([[1.5, np.nan], [-np.inf, -0.0]]),
    np.array(3, np.int8),
    np.array([True, False]),
    np.array([1 + 2j, np.inf], np.complex64),
    np.array([1, 2], np.float16),
    np.array([2**64 - 1], np.uint64),
    np.arange(6.0).reshape(2, 3).T,
    np.zeros((0, 3), np.float32),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{array.shape}")
def test_a_packed_array_comes_back_bit_for_bit(array):
    back = codec.unpack(codec.decode(codec.encode(codec.pack(array))))
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert back.tobytes() == array.tobytes()


def test_a_foreign_byte_order_is_packed_as_little_endian():
    big = np.array([1.0, 2.0], ">f4")
    back = codec.unpack(codec.pack(big))
    assert codec.pack(big)["dtype"] == "float32"
    np.testing.assert_array_equal(back, big)
    assert back.dtype.isnative


def test_an_unpacked_array_can_be_written_to():
    array = codec.unpack(codec.pack(np.zeros(2)))
    array += 1.0
    np.testing.assert_array_equal(array, [1.0, 1.0])


def test_numbers_that_json_does_not_have_are_never_written():
    with pytest.raises(ValueError, match="JSON"):
        codec.encode({"x": float("nan")})


def test_bytes_that_are_no_document_are_refused():
    with pytest.raises(ValueError, match="Expecting value"):
        codec.decode(b"<html>")


def test_bytes_that_are_no_array_are_refused():
    packed = codec.pack(np.zeros(3))
    with pytest.raises(ValueError, match="reshape"):
        codec.unpack({**packed, "shape": [2]})
    with pytest.raises(ValueError, match="base64"):
        codec.unpack({**packed, "base64": "!"})
