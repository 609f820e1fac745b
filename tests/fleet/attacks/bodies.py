"""Bodies that are small to send but expensive to parse, or that misdescribe themselves."""

from __future__ import annotations

import base64
import gzip
import json
import struct
import sys
import zlib
from collections.abc import Callable
from random import Random

from tests.fleet.attacks.attack import MEBIBYTE, SOUND, Attack, asked, family, sent

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_PATH = "/v1/gradient"
_GZIP, _ZSTD = b"Content-Encoding: gzip", b"Content-Encoding: zstd"


def _document(field: str, value: bytes) -> bytes:
    """A request in which one field has these bytes."""
    fields = {
        "program": b'"sum(x)"',
        "variables": b'{"x": [1, 2]}',
        "timeout_ms": b"700",
        field: value,
    }
    return b"{%s}" % b",".join(b'"%s":%s' % (key.encode(), fields[key]) for key in fields)


#: Fields in which large values are unexpected.
_FIELDS = ("variables", "program", "timeout_ms", "sources", "outputs", "batch", "target", "nothing")


@family()
def deep_documents(number: int, choose: Random) -> Attack:
    """Deeply nested brackets."""
    depth = choose.randint(10**5, 8 * 10**6)
    opening, closing = [(b"[", b"]"), (b'{"x":', b"}")][number % 2]
    whole = choose.random() < 0.5

    def body() -> bytes:
        value = opening * depth + (b"1" + closing * depth if whole else b"")
        return _document(_FIELDS[number % len(_FIELDS)], value)

    name = f"{opening.decode()} × {depth}, {'whole' if whole else 'cut'}, in {_FIELDS[number % 8]}"
    return sent(name, _PATH, body)


@family()
def many_keys(number: int, choose: Random) -> Attack:
    """Objects with millions of keys, or with one key millions of times."""
    n = choose.randint(10**6, 3 * 10**6)
    field = _FIELDS[number // 2 % len(_FIELDS)]

    def body() -> bytes:
        if number % 2:
            return _document(field, b"{%s}" % b",".join([b'"x":1'] * n))
        return _document(field, b"{%s}" % b",".join(b'"%d":1' % i for i in range(n)))

    kind = "once" if number % 2 == 0 else "again and again"
    return sent(f"{n} keys, each {kind}, in {field}", _PATH, body)


@family()
def repeated_fields(number: int, choose: Random) -> Attack:
    """One field of the request repeated millions of times."""
    n = choose.randint(10**6, 3 * 10**6)
    field = [*_FIELDS[:7], "timeout\\u005fms"][number % 8]
    value = choose.choice([b"1", b'"x"', b"null", b"[]"])

    def body() -> bytes:
        return b"{%s}" % b",".join([b'"%s":%s' % (field.encode(), value)] * n)

    return sent(f"{field}: {value.decode()} × {n}", _PATH, body)


@family()
def long_numbers(number: int, choose: Random) -> Attack:
    """Numbers with millions of digits."""
    n = choose.randint(10**5, 4 * 10**7)
    value = [
        lambda: b"1" * n,
        lambda: b"-0." + b"0" * n + b"1",
        lambda: b"1e" + b"9" * n,
        lambda: b"1e-" + b"9" * n,
        lambda: b"0." + b"123456789" * (n // 9),
        lambda: b"[%s]" % b",".join([b"9" * 4000] * (n // 4001)),
        lambda: b"[%s]" % b",".join([b"1e-%d" % (n % 400)] * (n // 8)),
        lambda: b"[%s]" % b",".join([b"0.1234567890123456789012345678901e-310"] * (n // 40)),
    ][number % 8]
    field = ("variables", "timeout_ms")[choose.randrange(2)]

    def body() -> bytes:
        return _document(field, b'{"x":%s}' % value() if field == "variables" else value())

    return sent(f"{n} digits of kind {number % 8} in {field}", _PATH, body)


@family()
def many_numbers(number: int, choose: Random) -> Attack:
    """Twenty million numbers, in expected and unexpected fields."""
    n = choose.randint(15, 25) * 10**6
    field = _FIELDS[number % len(_FIELDS)]
    values: list[Callable[[], bytes]] = [
        lambda: b"[%s]" % b",".join([b"1"] * n),
        lambda: b"[%s]" % b",".join([b"[1]"] * (n // 2)),
        lambda: b"[%s]" % b",".join([b"[]"] * n),
        lambda: b"[%s[1]]" % (b"1," * n),
        lambda: b"[%s]" % b",".join([b'"NaN"'] * (n // 3)),
        lambda: b"[%s]" % b",".join([b"true"] * (n // 2)),
        lambda: b"[%s]" % b",".join([b"[1,2],[3]"] * (n // 6)),
    ]
    kind = choose.randrange(len(values))

    def body() -> bytes:
        value = values[kind]()
        return _document(field, b'{"x":%s}' % value if field == "variables" else value)

    return sent(f"{n} numbers of kind {kind} in {field}", _PATH, body, codes=SOUND)


@family(10)
def messagepack_lengths(number: int, choose: Random) -> Attack:
    """MessagePack whose lengths exceed the body, or that is deeply nested."""
    n = choose.randint(2**24, 2**32 - 1)
    x = b"\x81\xa1x"
    values = [
        b"\xdd" + struct.pack(">I", n),
        b"\xdf" + struct.pack(">I", n),
        b"\xc6" + struct.pack(">I", n) + b"a",
        b"\xdb" + struct.pack(">I", n) + b"a",
        b"\xc9" + struct.pack(">Ib", n, 1) + b"a",
        b"\x91" * (n % (32 * MEBIBYTE)),
        b"\xdd\xff\xff\xff\xff" * 10**5,
        b"\xdd" + struct.pack(">I", 3 * 10**7) + b"\x90" * (3 * 10**7),
        b"\xdd" + struct.pack(">I", 10**7) + b"\xc0" * (10**7),
        b"\xdf" + struct.pack(">I", 10**7) + b"\xa1a\x01" * (10**7),
    ]
    value = values[number % len(values)]
    field = choose.choice([b"\xa9variables", b"\xaatimeout_ms", b"\xa7program"])
    value = x + value if field == b"\xa9variables" else value
    body = b"\x83\xa7program\xa6sum(x)\xa7sources\xa1x" + field + value
    kind = b"Content-Type: application/msgpack"
    return sent(f"{value[:12]!r} of {len(value)} bytes in {field[1:]!r}", _PATH, body, kind)


@family(10)
def compression(number: int, choose: Random) -> Attack:
    """A few kilobytes that decompress to gigabytes, and invalid compressed bodies."""
    n = choose.randint(100, 2000)
    spaces = b" " * MEBIBYTE
    makers: list[tuple[bytes, Callable[[], bytes]]] = [
        (_GZIP, lambda: gzip.compress(bytes(8 * MEBIBYTE), 6) * (n // 8)),
        (_ZSTD, lambda: zstd.compress(bytes(8 * MEBIBYTE)) * (n // 8)),
        (_GZIP, lambda: gzip.compress(gzip.compress(spaces) * n)),
        (_ZSTD, lambda: _frame(n)),
        (_GZIP, lambda: gzip.compress(b"") * 10**6),
        (_GZIP, lambda: gzip.compress(_document("timeout_ms", b"700") + spaces * 60)[:-5]),
        (_ZSTD, lambda: zstd.compress(b"[" * (63 * MEBIBYTE))),
        (_GZIP, lambda: zlib.compress(bytes(MEBIBYTE)) * n),
        (_ZSTD, lambda: zstd.compress(b"[" + b"1," * (31 * MEBIBYTE) + b"1]")),
        (_GZIP, lambda: gzip.compress(b'{"timeout_ms":[' + b"[]," * (20 * MEBIBYTE) + b"1]}")),
    ]
    header, body = makers[number % len(makers)]
    return sent(f"{header.decode()} of kind {number % len(makers)}, {n}", _PATH, body, header)


def _frame(blocks: int) -> bytes:
    """A zstd frame of blocks that repeat one byte 128 Ki times, with a declared size of 2⁶² bytes.

    Source: RFC 8878, sections 3.1.1.1 and 3.1.1.2.
    """
    header = b"\x28\xb5\x2f\xfd\xc0\x58" + struct.pack("<Q", 1 << 62)
    block = struct.pack("<I", 2**17 << 3 | 1 << 1)[:3] + b" "
    return header + block * (blocks * 8)


@family(10)
def lying_shapes(number: int, choose: Random) -> Attack:
    """Arrays with a wrong shape or dtype for their bytes."""
    n = choose.randint(10**9, 2**62)
    data = base64.b64encode(bytes(8 * choose.randint(1, 9)))
    shapes: list[list[object]] = [
        [n],
        [n, n, n],
        [0, n],
        [n, 0, n],
        [-1],
        [2**63, 2**63],
        [1] * 10**6,
        [0] * 100,
        [1.5, "a"],
        [[n]],
    ]
    shape = shapes[number % len(shapes)]
    if choose.random() < 0.5:
        leaf = {"dtype": "float64", "shape": shape, "base64": data.decode()}
        document = {"program": "sum(x)", "variables": {"x": leaf}}
        return asked(f"a leaf of {str(shape)[:60]}", _PATH, document)
    listed = ", ".join(map(repr, shape)).encode()
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (%s,)}" % listed
    magic = b"\x93NUMPY\x02\x00" + struct.pack("<I", len(header))
    body = magic + header + bytes(64)
    kind = b"Content-Type: application/x-npy"
    return sent(f"a file of {str(shape)[:60]}", "/v1/tensors", body, kind, method="PUT")


@family()
def strange_files(number: int, choose: Random) -> Attack:
    """Invalid ``.npy`` files."""
    n = choose.randint(2**20, 2**32 - 1)
    files = [
        b"\x93NUMPY\x02\x00" + struct.pack("<I", n) + b"{" * MEBIBYTE,
        b"\x93NUMPY\x01\x00\xff\xff" + b"[" * 65535,
        b"\x93NUMPY\x01\x00" + struct.pack("<H", 9000) + b"(" * 9000,
        b"\x93NUMPY\x01\x00" + struct.pack("<H", 9000) + b"-" * 9000,
        b"\x93NUMPY\x03\x00" + struct.pack("<I", 9000) + b"{'shape': (" + b"9" * 8980 + b",)}",
        b"\x93NUMPY\x01\x00\x36\x00{'descr': '|O', 'fortran_order': False, 'shape': (1,)}cos\nx",
        b"PK\x03\x04" + bytes(10**7),
        b"\x93NUMPY\x01\x00\x39\x00{'descr': '<f8', 'fortran_order': True, 'shape': (9999999,)}",
    ]
    body = files[number % len(files)]
    kind = b"Content-Type: application/x-npy"
    return sent(f"{body[:30]!r}, {n}", "/v1/tensors", body, kind, method="PUT")


@family()
def large_leaves(number: int, choose: Random) -> Attack:
    """Really large values, and values that need more memory than their encoding."""
    n = choose.randint(4, 6) * 10**6
    raw = base64.b64encode(bytes(8 * n)).decode()
    leaves = [
        {"dtype": "float64", "shape": [n], "base64": raw},
        {"dtype": "bool", "shape": [8 * n], "base64": raw},
        {"value": [1] * n, "dtype": "float16"},
        {"re": [1] * n, "im": [1] * n},
        {"values": [1] * 9, "row_splits": [0] * n + [9]},
        {"indices": [[0]] * (n // 2), "values": [1] * (n // 2), "shape": [10**15]},
        {str(i): i for i in range(n // 10)},
        [{"value": 1}] * (n // 10),
    ]
    leaf = leaves[number % len(leaves)]
    names = ["x"] if number % 2 else ["x", "x", "x"]
    document = {"program": f"sum({'+'.join(names)})", "variables": {"x": leaf}}
    name = f"a leaf of kind {number % len(leaves)}, {n}"
    return asked(name, _PATH, document, codes=SOUND)


@family()
def wrong_types(number: int, choose: Random) -> Attack:
    """Bodies with a wrong media type or content encoding."""
    body = json.dumps({"program": "sum(x)", "variables": {"x": [1] * choose.randint(9, 10**6)}})
    bodies = [
        (body.encode("utf-16"), b"Content-Type: application/json; charset=utf-16"),
        (body.encode(), b"Content-Type: application/msgpack"),
        (body.encode(), b"Content-Type: multipart/form-data; boundary=" + b"a" * 8000),
        (b"\xef\xbb\xbf" + body.encode(), b"Content-Type: application/json"),
        (b"\xff" * (30 * MEBIBYTE), b"Content-Type: application/json"),
        (b'"' + b"\\ud800" * 10**6 + b'"', b"Content-Type: application/json"),
        (b"\0" * (30 * MEBIBYTE), b"Content-Type: application/msgpack"),
        (body.encode(), b"Content-Type: application/json\r\nContent-Encoding: " + b"gzip," * 1000),
    ]
    body_, header = bodies[number % len(bodies)]
    return sent(f"{header[:60].decode()} of {len(body_)} bytes", _PATH, body_, header)


@family()
def long_words(number: int, choose: Random) -> Attack:
    """Strings of millions of characters in place of names."""
    n = choose.randint(10**6, 6 * 10**7)
    field = ("program", "target", "outputs", "sources", "batch", "promotion", "encoding", "mode")
    letter = choose.choice([b"a", b"\\u0061", b"(", b".", b"\\n", b" ", b"-", b"[0]"])

    def body() -> bytes:
        return _document(field[number % 8], b'"%s"' % (letter * (n // len(letter))))

    name = f"{letter!r} × {n} in {field[number % 8]}"
    return sent(name, "/v1/jacobian", body, codes=SOUND)


@family()
def on_the_event_loop(number: int, choose: Random) -> Attack:
    """Bodies just short enough to be parsed on the event loop."""
    n = 65_000
    kinds = [
        b'{"x":%s}' % (b"[" * (n // 2) + b"]" * (n // 2)),
        b'{"x":[%s]}' % b",".join([b"[1]"] * (n // 4)),
        b"{%s}" % b",".join(b'"%d":1' % i for i in range(n // 9)),
        b'{"x":%s}' % (b"1" * n),
        b'{"x":{"dtype":"float64","shape":[%s],"base64":""}}' % b",".join([b"1"] * (n // 2)),
        b'{"%s":1}' % (b"a.b[0]." * (n // 7)),
        b'{"x":[%s]}' % b",".join([b'{"ref":"sha256:%s"}' % (b"0" * 64)] * (n // 84)),
        b'{"x":{"values":[1],"row_splits":[%s1]}}' % (b"0," * (n // 2)),
    ]
    kind = number % len(kinds)
    return sent(f"variables of kind {kind}", _PATH, _document("variables", kinds[kind]))
