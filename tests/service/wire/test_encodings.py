"""All encodings represent the same documents."""

import asyncio
import binascii
import gzip
import json
import math
from typing import NamedTuple

import httpx
import ml_dtypes
import msgpack
import numpy as np
import pytest
from gradwire_service.wire.arrays_in import DTYPES, WORDS
from hypothesis import given
from hypothesis.extra import numpy as npst

from tests.arrays import arrays_of
from tests.compress import COMPRESS
from tests.effort import examples


class Encoding(NamedTuple):
    """A client's encoding of documents: the media type and the form of arrays."""

    media_type: str
    arrays: str
    asks: str | None
    coding: str | None = None

    def leaf(self, array):
        """The leaf of a request for an array."""
        little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        described = {"dtype": array.dtype.name, "shape": list(array.shape)}
        if self.arrays == "bytes":
            return described | {"data": little.tobytes()}
        if self.arrays == "base64":
            return described | {"base64": binascii.b2a_base64(little.tobytes()).decode().strip()}
        if array.dtype.kind == "c":
            return {"re": listed(array.real), "im": listed(array.imag), "dtype": array.dtype.name}
        return {"value": listed(array), "dtype": array.dtype.name}

    def array(self, leaf, dtype):
        """The array for a leaf of a response."""
        if self.arrays == "lists":
            if isinstance(leaf, dict):
                whole = np.empty(np.shape(leaf["re"]), dtype)
                whole.real, whole.imag = unlisted(leaf["re"]), unlisted(leaf["im"])
                return whole
            return np.array(unlisted(leaf), dtype)
        raw = leaf["data"] if self.arrays == "bytes" else binascii.a2b_base64(leaf["base64"])
        assert leaf["dtype"] == dtype
        return np.frombuffer(raw, np.dtype(dtype).newbyteorder("<")).reshape(leaf["shape"])

    def write(self, document):
        body = msgpack.packb(document) if "msgpack" in self.media_type else json.dumps(document)
        body = body.encode() if isinstance(body, str) else body
        return body if self.coding is None else COMPRESS[self.coding](body)

    def read(self, response):
        assert response.headers["content-type"] == self.media_type, response.text[:500]
        return (msgpack.unpackb if "msgpack" in self.media_type else json.loads)(response.content)

    @property
    def headers(self):
        coding = {} if self.coding is None else {"content-encoding": self.coding}
        return coding | {"content-type": self.media_type}


JSON_TYPE, PACKED_TYPE = "application/json", "application/msgpack"
ENCODINGS = {
    "json": Encoding(JSON_TYPE, "lists", None),
    "json, base64": Encoding(JSON_TYPE, "base64", "base64"),
    "json, gzip": Encoding(JSON_TYPE, "lists", "list", "gzip"),
    "msgpack": Encoding(PACKED_TYPE, "bytes", None),
    "msgpack, zstd": Encoding(PACKED_TYPE, "bytes", None, "zstd"),
    "msgpack, lists": Encoding(PACKED_TYPE, "lists", "list"),
    "x-msgpack": Encoding("application/x-msgpack", "bytes", None),
}
encodings = pytest.mark.parametrize("encoding", ENCODINGS.values(), ids=ENCODINGS)


def listed(array):
    """Nested lists, with strings for non-finite numbers."""
    if isinstance(array, list):
        return [listed(item) for item in array]
    if isinstance(array, np.ndarray | np.generic):
        return listed(array.tolist())
    if isinstance(array, float) and not math.isfinite(array):
        return "NaN" if math.isnan(array) else "Infinity" if array > 0 else "-Infinity"
    return array


def unlisted(value):
    if isinstance(value, list):
        return [unlisted(item) for item in value]
    return WORDS.get(value, value) if isinstance(value, str) else value


@pytest.fixture(scope="module")
def post(app):
    """A client without a socket; synchronous, since Hypothesis does not run coroutines."""
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service")
    with asyncio.Runner() as loop:
        yield lambda *arguments, **named: loop.run(client.post(*arguments, **named))
        loop.run(client.aclose())


def asked(post, encoding, path, document, **headers):
    """The response to a request."""
    if encoding.asks is not None:
        document["encoding"] = encoding.asks
    content = encoding.write(document)
    return post(path, content=content, headers=encoding.headers | headers)


def arrays(dtype, *, empty):
    """Arrays of all shapes, except empty ones, which lists cannot distinguish."""
    shapes = npst.array_shapes(min_dims=0, max_dims=3, min_side=0 if empty else 1, max_side=4)
    return arrays_of(DTYPES[dtype], shapes)


def same(left, right, *, bits):
    """Equal bit for bit; all NaN are equal."""
    assert (left.dtype, left.shape) == (right.dtype, right.shape)
    left, right = (np.atleast_1d(np.ascontiguousarray(array)) for array in (left, right))
    if left.dtype.name == "bfloat16" and not bits:
        left, right = left.astype(np.float32), right.astype(np.float32)
    if bits or left.dtype.kind not in "fc":
        assert left.tobytes() == right.tobytes()
        return
    for part in ("real", "imag") if left.dtype.kind == "c" else ("real",):
        a, b = (np.ascontiguousarray(getattr(array, part)) for array in (left, right))
        nan = np.isnan(a)
        assert (nan == np.isnan(b)).all()
        unsigned = f"u{a.dtype.itemsize}"
        assert (a.view(unsigned) == b.view(unsigned))[~nan].all()


@encodings
@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_survive_a_round_trip(post, encoding, dtype):
    @given(arrays(dtype, empty=encoding.arrays != "lists"))
    @examples(15)
    def there_and_back(array):
        document = {"program": "x", "variables": {"x": encoding.leaf(array)}}
        response = asked(post, encoding, "/v1/evaluate", document)
        assert response.status_code == 200, response.text
        back = encoding.array(encoding.read(response)["outputs"], dtype)
        same(back, array, bits=encoding.arrays != "lists")

    there_and_back()


@encodings
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_nonfinite_and_subnormal_numbers_survive(post, encoding, dtype):
    least = ml_dtypes.finfo(dtype).smallest_subnormal
    most = ml_dtypes.finfo(dtype).max
    array = np.array([math.nan, math.inf, -math.inf, -0.0, 0.0, least, -least, most, 0.1], dtype)
    document = {"program": "x", "variables": {"x": encoding.leaf(array)}}
    response = asked(post, encoding, "/v1/evaluate", document)
    same(encoding.array(encoding.read(response)["outputs"], dtype), array, bits=False)


@encodings
def test_large_and_several_arrays_survive(post, encoding):
    x, y = np.random.default_rng(0).normal(size=(2, 30_000))
    variables = {"x": encoding.leaf(x), "more": [{"y": encoding.leaf(y)}, 2.0]}
    document = {"program": "sum(x * more[0].y * more[1])", "variables": variables}
    document["sources"] = {"a": "x", "b": ["more[0].y", None]}
    response = asked(post, encoding, "/v1/gradient", document)
    told = encoding.read(response)
    assert encoding.array(told["value"], "float64") == pytest.approx(2 * (x * y).sum())
    np.testing.assert_array_equal(encoding.array(told["gradients"]["a"], "float64"), 2 * y)
    np.testing.assert_array_equal(encoding.array(told["gradients"]["b"][0], "float64"), 2 * x)
    assert told["gradients"]["b"][1] is None


@encodings
def test_documents_are_the_same_in_all_encodings(post, encoding):
    """The parts of documents other than arrays: places, reasons, strings."""
    document = {
        "program": "y = log(x) + 0 * round(z)\nsum(y)",
        "variables": {"x": encoding.leaf(np.array([0.0, 1.0])), "z": encoding.leaf(np.ones(2))},
    }
    told = encoding.read(asked(post, encoding, "/v1/gradient", document))
    assert told["nonfinite"]["forward"]["line"] == 1
    assert told["nonfinite"]["forward"]["operands"] == [
        {"shape": [2], "min": 0.0, "max": 1.0, "nonfinite": 0}
    ]
    assert told["program"].startswith("sha256:")


@encodings
def test_problems_are_json_for_any_request_type(post, encoding):
    document = {"program": "x +", "variables": {}}
    response = asked(post, encoding, "/v1/evaluate", document)
    assert (response.status_code, response.json()["code"]) == (422, "syntax_error")
    assert response.headers["content-type"] == "application/problem+json"
    response = asked(
        post, encoding, "/v1/evaluate", {"program": "x", "variables": {"x": {"a": None}}}
    )
    assert response.json()["pointer"] == "/variables/x/a"


@encodings
@pytest.mark.parametrize("other", ENCODINGS.values(), ids=ENCODINGS)
def test_the_response_type_follows_accept(post, encoding, other):
    document = {"program": "2 * x", "variables": {"x": encoding.leaf(np.arange(3.0))}}
    document["encoding"] = other.asks
    asks = encoding._replace(asks=other.asks)
    response = asked(post, asks, "/v1/evaluate", document, accept=other.media_type)
    back = other.array(other.read(response)["outputs"], "float64")
    np.testing.assert_array_equal(back, [0, 2, 4])


@encodings
def test_tapes_work_in_all_encodings(post, encoding):
    document = {"program": "sum(x**2)", "variables": {"x": encoding.leaf(np.arange(3.0))}}
    made = encoding.read(asked(post, encoding, "/v1/tapes", document))
    response = asked(post, encoding, f"/v1/tapes/{made['tape']}/gradient", {})
    back = encoding.array(encoding.read(response)["gradients"]["x"], "float64")
    np.testing.assert_array_equal(back, [0, 2, 4])


@encodings
@pytest.mark.parametrize(
    ("leaf", "pointer"),
    [
        ({"dtype": "float64", "shape": [2], "data": b"12345678"}, "/data"),
        ({"dtype": "float64", "shape": [1], "data": b"123456789"}, "/data"),
        ({"dtype": "float64", "shape": [1 << 62, 1 << 62], "data": b""}, "/data"),
        ({"dtype": "float64", "shape": [0, 1 << 62, 1 << 62], "data": b""}, "/shape"),
        ({"dtype": "float64", "shape": [-1], "data": b""}, "/shape"),
        ({"dtype": "bool", "shape": [1], "data": b"\2"}, "/data"),
        ({"dtype": "object", "shape": [1], "data": b"12345678"}, "/dtype"),
        ({"dtype": ">f8", "shape": [1], "data": b"12345678"}, "/dtype"),
        ({"shape": [1], "data": b"12345678"}, ""),
        ({"dtype": "float64", "data": b"12345678"}, "/shape"),
    ],
)
def test_invalid_raw_bytes_are_refused(post, encoding, leaf, pointer):
    if encoding.arrays == "lists":
        encoding = encoding._replace(
            arrays="bytes" if "msgpack" in encoding.media_type else "base64"
        )
    if encoding.arrays == "base64":
        leaf = dict(leaf)
        leaf["base64"] = binascii.b2a_base64(leaf.pop("data")).decode().strip()
        pointer = pointer.replace("data", "base64")
    document = {"program": "x", "variables": {"x": leaf}}
    problem = asked(post, encoding, "/v1/evaluate", document).json()
    assert (problem["code"], problem["status"]) == ("malformed_tensor", 400)
    assert problem["pointer"] == "/variables/x" + pointer


def test_raw_bytes_outside_arrays_are_refused(post):
    encoding = ENCODINGS["msgpack"]
    for document in (
        {"program": b"x"},
        {"program": "x", "variables": {"x": b"12345678"}},
        {"program": "x", "variables": {"x": {"value": b"12345678"}}},
        {"program": "x", "variables": {"x": [b"1", b"2"]}},
        {"program": "x", "variables": {"x": 1}, "outputs": b"x"},
        {"program": "x", "variables": b""},
        {"program": {"nodes": [{"op": b"add", "args": [1, 2]}]}},
        {"program": {"nodes": [{"op": "add", "args": [1, b"2"]}]}},
        b"",
    ):
        problem = asked(post, encoding._replace(asks=None), "/v1/evaluate", document).json()
        assert problem["status"] in (400, 422), problem


def test_gzip_from_other_compressors_is_read(post):
    encoding = ENCODINGS["json"]
    body = gzip.compress(encoding.write({"program": "x", "variables": {"x": 1.5}}))

    response = post("/v1/evaluate", content=body, headers={"content-encoding": "gzip"})
    assert response.json()["outputs"] == 1.5
