"""Files saved by NumPy read back bit for bit, NumPy loads written files, others are errors."""

import contextlib
import io

import numpy as np
import pytest
from gradwire_service.wire.arrays_in import DTYPES, Malformed
from gradwire_service.wire.npy import read_npy, write_npy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numpy.lib import format as npy_format

ARRAYS = npst.arrays(
    st.sampled_from([dtype for name, dtype in DTYPES.items() if name != "bfloat16"]),
    npst.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
)


def saved(array, version=None):
    file = io.BytesIO()
    npy_format.write_array(file, array, version, allow_pickle=True)
    return file.getvalue()


def same(got, array):
    assert (got.dtype, got.shape) == (array.dtype, array.shape)
    assert got.dtype.isnative
    assert got.flags.c_contiguous
    assert got.tobytes() == array.tobytes()


@given(ARRAYS)
def test_saved_arrays_are_read(array):
    same(read_npy(saved(array)), array)


@given(ARRAYS, st.sampled_from("<>"), st.sampled_from("CF"))
def test_any_byte_order_and_memory_order_is_read(array, byteorder, order):
    stored = np.asarray(array.astype(array.dtype.newbyteorder(byteorder)), order=order)
    same(read_npy(saved(stored)), array)


@given(ARRAYS)
def test_written_arrays_are_loaded(array):
    file = io.BytesIO(b"".join(write_npy(array)))
    same(np.load(file, allow_pickle=False), array)
    assert not file.read()


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_every_format_version_is_read(version):
    array = np.arange(6.0).reshape(2, 3)
    same(read_npy(saved(array, version)), array)


def test_views_are_written_in_c_order():
    array = np.arange(24, dtype=">i4").reshape(2, 3, 4)[:, ::2, ::-1].T
    loaded = np.load(io.BytesIO(b"".join(write_npy(array))))
    assert (loaded == array).all()


def test_elements_are_not_copied():
    body = saved(np.arange(1000.0))
    array = read_npy(body)
    assert np.shares_memory(array, np.frombuffer(body, np.uint8))
    assert not array.flags.writeable


@pytest.mark.parametrize(
    "array",
    [
        np.array(["a", "word"]),
        np.array([b"bytes"]),
        np.array([1, None], object),
        np.array([(1, 2.0)], "i4,f8"),
        np.array(["2026-01-01"], "datetime64[D]"),
        np.zeros(2, np.longdouble),
        np.zeros(2, np.clongdouble),
        np.zeros(2, DTYPES["bfloat16"]),
    ],
    ids=lambda array: array.dtype.str,
)
def test_other_dtypes_are_refused(array):
    with pytest.raises(Malformed, match="dtype"):
        read_npy(saved(array))


GOOD = saved(np.arange(3, dtype=np.int16))


@pytest.mark.parametrize("length", range(len(GOOD)))
def test_truncated_files_are_refused(length):
    with pytest.raises(Malformed):
        read_npy(GOOD[:length])


def test_files_with_trailing_bytes_are_refused():
    with pytest.raises(Malformed, match="got 7"):
        read_npy(GOOD + b"\0")


def with_header(text, elements=b"", version=b"\x01\x00"):
    header = text.encode()
    return b"\x93NUMPY" + version + len(header).to_bytes(2, "little") + header + elements


def test_headers_of_other_writers_are_read():
    text = "{'shape':(2,),'fortran_order':True,'descr':'|u1'}"
    assert read_npy(with_header(text, b"\x01\x02")).tolist() == [1, 2]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "{'descr': '<f8', 'fortran_order': False}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (), 'more': 1}",
        "{'descr': '<f8', 'fortran_order': 0, 'shape': ()}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': 1}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (True,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1.0,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (10**9,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "0," * 100 + ")}",
        "{'descr': 'f8', 'fortran_order': False, 'shape': ()}",
        "{'descr': '', 'fortran_order': False, 'shape': ()}",
        "{'descr': ['<f8'], 'fortran_order': False, 'shape': ()}",
        "{'descr': '|O', 'fortran_order': False, 'shape': ()}",
        "__import__('os').getcwd()",
        "{[]: 1}",
        "\0",
        r"'\d'",
        "(" * 5000,
        "-" * 9000 + "1",
        "[" * 4000 + "]" * 4000,
        " " * 20_000,
    ],
)
def test_invalid_headers_are_refused(text):
    with pytest.raises(Malformed):
        read_npy(with_header(text, b"\0" * 8))


def test_booleans_are_0_and_1():
    text = "{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}"
    assert read_npy(with_header(text, b"\x01\x00")).tolist() == [True, False]
    with pytest.raises(Malformed, match="bool"):
        read_npy(with_header(text, b"\x01\x02"))


@given(st.binary(max_size=300), st.integers(0, 130), st.integers(0, 20))
def test_damaged_files_only_cause_typed_errors(noise, start, length):
    for body in noise, with_header("")[:8] + noise, GOOD[:start] + noise + GOOD[start + length :]:
        with contextlib.suppress(Malformed):
            read_npy(body)
