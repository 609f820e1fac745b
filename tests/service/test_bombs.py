"""Malicious input is refused in little memory."""

import gzip
import http.client
import json
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from gradwire_service.problems import KINDS, MAX_BODY_BYTES, MEDIA_TYPE

from tests.compress import COMPRESS
from tests.fleet.processes import child_of, free_port
from tests.processes import until
from tests.service.conftest import PATIENT_OPTIONS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

MEBIBYTE = 1 << 20
LIMIT = 16 * MEBIBYTE
JSON, MESSAGEPACK, NPY = "application/json", "application/msgpack", "application/x-npy"
GOOD = b'{"program": "x * x", "variables": {"x": 3}}'
PACKED = b"\x82\xa7program\xa5x * x\xa9variables\x81\xa1x\x03"
#: The memory limit for bodies with many small values, which are parsed one by one.
VALUES_BYTES = 64 * MEBIBYTE


class Server(NamedTuple):
    """A process of the service."""

    pid: int
    port: int

    def resident(self, what: str) -> int:
        """Memory in bytes: ``VmRSS`` is the current, ``VmHWM`` the peak."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition(f"{what}:")[2].split()[0]) * 1024

    def forget_most(self) -> None:
        """Reset the peak memory."""
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def ask(
        self, body: Any, *headers: tuple[str, str], path: str = "/v1/gradient", method: str = "POST"
    ) -> tuple[int, str | None, bytes]:
        """The status, media type and body of a response."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        try:
            connection.putrequest(method, path)
            names = {name.lower() for name, _ in headers}
            if not names & {"content-length", "transfer-encoding"}:
                connection.putheader("Content-Length", str(len(body)))
            for name, value in headers:
                connection.putheader(name, value)
            connection.endheaders()
            try:
                for piece in body if isinstance(body, Iterator) else (body,):
                    connection.send(piece)
            except (BrokenPipeError, ConnectionResetError):
                pass  # refused before everything was sent
            response = connection.getresponse()
            return response.status, response.getheader("content-type"), response.read()
        finally:
            connection.close()

    def refuses(self, code: str, body: Any, *headers: tuple[str, str], **to: str) -> None:
        """Check an error."""
        status, media_type, answer = self.ask(body, *headers, **to)
        assert media_type == MEDIA_TYPE, (status, answer[:300])
        assert len(answer) < MAX_BODY_BYTES
        problem = json.loads(answer)
        assert (problem["code"], problem["status"], status) == (code, status, KINDS[code].status)


@pytest.fixture(scope="module")
def server():
    port = free_port()
    command = [sys.executable, "-m", "gradwire_service", "serve", "--port", str(port)]
    options = ["--max-body-bytes", str(LIMIT), "--log-level", "warning"]
    with subprocess.Popen([*command, *options, *PATIENT_OPTIONS]) as process:

        def answers():
            assert process.poll() is None
            try:
                Server(process.pid, port).ask(GOOD)
            except ConnectionRefusedError:
                return False
            return True

        until(answers)
        yield Server(child_of(process.pid), port)
        process.kill()


def of(media_type):
    return ("Content-Type", media_type)


def coded(coding):
    return ("Content-Encoding", coding)


def frame(descriptor, header, block, count=1):
    """A zstd frame (RFC 8878, section 3.1.1) of equal blocks with size, kind and bytes."""
    size, kind, content = block
    usual, last = (
        (size << 3 | kind << 1 | is_last).to_bytes(3, "little") + content for is_last in (0, 1)
    )
    return struct.pack("<IB", 0xFD2FB528, descriptor) + header + usual * (count - 1) + last


def npy(**changed):
    header = {"descr": "<f8", "fortran_order": False, "shape": (2,)} | changed
    text = repr(header).encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text + bytes(16)


def in_variables(value):
    return b'{"program": "x", "variables": {"x": ' + value + b"}}"


def many(item, beside=b""):
    """One more list item than allowed."""
    count = (LIMIT - 200) // len(item)
    return b"[" + item * count + (beside or item.rstrip(b",")) + b"]"


def listed(item, count):
    return b"\xdd" + struct.pack(">I", count) + item * count


DEFLATED = gzip.compress(bytes(8 * MEBIBYTE))
ZSTD = COMPRESS["zstd"]
FRAME = ZSTD(bytes(8 * MEBIBYTE))
RUN = (128 << 10, 1, b" ")
ONE_BYTE = (1, 0, b"x")
TOO_LARGE, MALFORMED = "body_too_large", "malformed_body"


def requests() -> dict[str, tuple[Any, ...]]:
    """Half a gigabyte of bodies, with what they are refused as and their headers, by names."""
    return {
        # truncated, or with trailing bytes
        **{f"JSON up to {n}": (MALFORMED, GOOD[:n], of(JSON)) for n in (0, 1, 12, 40)},
        **{
            f"MessagePack up to {n}": (MALFORMED, PACKED[:n], of(MESSAGEPACK))
            for n in (0, 1, 5, 26)
        },
        "JSON and more": (MALFORMED, GOOD + b"{}", of(JSON)),
        "MessagePack and more": (MALFORMED, PACKED + b"\xc0", of(MESSAGEPACK)),
        "gzip cut short": (MALFORMED, gzip.compress(GOOD)[:-4], coded("gzip")),
        "gzip and more": (MALFORMED, gzip.compress(GOOD) + b"more", coded("gzip")),
        "zstd cut short": (MALFORMED, ZSTD(GOOD)[:-4], coded("zstd")),
        "zstd and more": (MALFORMED, ZSTD(GOOD) + b"more", coded("zstd")),
        "no gzip": (MALFORMED, GOOD, coded("gzip")),
        # decompression bombs
        "gzip bomb": (TOO_LARGE, DEFLATED * 1000, coded("gzip")),
        "zstd bomb": (TOO_LARGE, FRAME * 1000, coded("zstd")),
        "one frame": (TOO_LARGE, frame(0, b"\x68", RUN, 100_000), coded("zstd")),
        "size of 2^62": (
            MALFORMED,
            frame(0xE0, struct.pack("<Q", 1 << 62), ONE_BYTE),
            coded("zstd"),
        ),
        "size untrue": (
            MALFORMED,
            frame(0xC0, b"\x20" + struct.pack("<Q", 1 << 40), ONE_BYTE),
            coded("zstd"),
        ),
        "window of 2 GiB": (MALFORMED, frame(0, bytes([21 << 3]), ONE_BYTE), coded("zstd")),
        "bomb in a bomb": (MALFORMED, gzip.compress(DEFLATED * 1000), coded("gzip")),
        "empty members": (MALFORMED, gzip.compress(b"") * (LIMIT // 20), coded("gzip")),
        "empty frames": (MALFORMED, ZSTD(b"") * (LIMIT // 9), coded("zstd")),
        "frames to skip": (
            MALFORMED,
            struct.pack("<II", 0x184D2A50, 0) * (LIMIT // 8),
            coded("zstd"),
        ),
        "empty blocks": (MALFORMED, frame(0, b"\x20", (0, 0, b""), 1_000_000), coded("zstd")),
        "a long name": (
            MALFORMED,
            b"\x1f\x8b\x08\x08" + bytes(6) + b"a" * (LIMIT - 10),
            coded("gzip"),
        ),
        # too many values
        "nested lists": ("over_budget", b"[" * LIMIT),
        "empty lists": ("over_budget", many(b"[],", b"1")),
        "empty objects": ("over_budget", many(b"{},", b"1")),
        "strings": ("over_budget", in_variables(many(b'"a",'))),
        "lists in variables": ("malformed_tensor", in_variables(b"[" + b"[]," * 300_000 + b"1]")),
        "objects in variables": ("over_budget", in_variables(b"[" + b"{}," * 300_000 + b"1]")),
        "numbers beside a string": ("over_budget", in_variables(b"[" + b"1," * 300_000 + b'"a"]')),
        "names": ("invalid_request", b'{"program": "x", "sources": [' + b"[]," * 300_000 + b"1]}"),
        "axes": (
            "malformed_tensor",
            in_variables(b'{"dtype": "int8", "base64": "", "shape": [' + b"9," * 300_000 + b"9]}"),
        ),
        "a long program": ("over_budget", b'{"program": "' + b"x+" * 4_000_000 + b'x"}'),
        "MessagePack's depth": (MALFORMED, b"\x91" * LIMIT, of(MESSAGEPACK)),
        "a deep object": (MALFORMED, b"\x81\xa1x" * (LIMIT // 3), of(MESSAGEPACK)),
        **{
            f"4 billion after {tag:#x}": (
                MALFORMED,
                bytes([tag, *[255] * 4, *[0] * 99]),
                of(MESSAGEPACK),
            )
            for tag in (0xC6, 0xDB, 0xDD, 0xDF)
        },
        "16 million lists": ("over_budget", listed(b"\x90", LIMIT - 5), of(MESSAGEPACK)),
        "half a million objects": ("over_budget", listed(b"\x80", 510_000), of(MESSAGEPACK)),
        "strings, packed": (
            "over_budget",
            PACKED[:-1] + listed(b"\xa1a", 900_000),
            of(MESSAGEPACK),
        ),
        # duplicate names: the last one counts
        "twice": ("unknown_name", b'{"program": "x", "program": "y"}'),
        "twice, large": (
            "invalid_request",
            b'{"a": [' + b"1," * 1_000_000 + b'1], "b": 1, "b": 2}',
        ),
        "twice, colons": (
            "invalid_request",
            b'{"a": "' + b":" * (LIMIT - 100) + b'", "b": 1, "b": 2}',
        ),
        "twice, packed": (MALFORMED, b"\x82\xa1a\x01\xa1a\x01", of(MESSAGEPACK)),
        # bodies that are too long, or whose Content-Length is wrong
        "too long": (TOO_LARGE, bytes(LIMIT + 1)),
        "said too long": (TOO_LARGE, b"{}", ("Content-Length", str(LIMIT + 1))),
        "said far too long": (TOO_LARGE, b"{}", ("Content-Length", str(1 << 63))),
        # media types and content encodings
        "no type that is read": ("unsupported_media_type", GOOD, of("text/plain")),
        "two types": ("unsupported_media_type", GOOD, of(JSON), of(MESSAGEPACK)),
        "no coding that is read": ("unsupported_media_type", GOOD, coded("br")),
        "two codings": ("unsupported_media_type", GOOD, coded("br"), coded("identity")),
        "two codings at once": (
            "unsupported_media_type",
            gzip.compress(gzip.compress(GOOD)),
            coded("gzip, gzip"),
        ),
        **{
            f"Accept: {accept[:10]}": ("not_acceptable", GOOD, ("Accept", accept))
            for accept in (
                "text/html",
                ";;;,,q=x",
                "application/json;q=nothing",
                "\xe9",
                "a" * 20_000,
            )
        },
        # invalid arrays
        "shape beyond bytes": (
            "malformed_tensor",
            in_variables(b'{"dtype": "float64", "shape": [1000000000], "base64": "AAAA"}'),
        ),
        "an object's dtype": (
            "malformed_tensor",
            in_variables(b'{"dtype": "object", "shape": [1], "base64": "AAAAAAAAAAA="}'),
        ),
        "no digest": ("malformed_tensor", in_variables(b'{"ref": "sha256:../../etc/passwd"}')),
        "no program's digest": ("invalid_request", b'{"program": {"ref": "sha256:12"}}'),
    }


FILES = {
    "no file": b"{}",
    "cut short": npy()[:-1],
    "cut in its header": npy()[:40],
    "and more": npy() + b"\0",
    "objects": npy(descr="|O"),
    "fields": npy(descr=[("a", "<f8")]),
    "text": npy(descr="<U1"),
    "a shape too large": npy(shape=(1 << 62, 1 << 62)),
    "a shape of many digits": npy(shape=(10**2000,) * 3),
    "no shape": npy(shape=(-2,)),
    "an expression": npy(shape="__import__('os').abort()"),
    "nested": b"\x93NUMPY\1\0" + struct.pack("<H", 9000) + b"(" * 9000,
    "a version to come": b"\x93NUMPY\x09\0" + npy()[8:],
}


def pickled(tmp_path):
    np.save(tmp_path / "objects.npy", np.array([{}], object), allow_pickle=True)
    return (tmp_path / "objects.npy").read_bytes()


@pytest.mark.thorough
def test_all_bombs_at_once(server, tmp_path):
    server.forget_most()
    before = server.resident("VmRSS")
    for name, (code, body, *headers) in requests().items():
        try:
            server.refuses(code, body, *headers)
        except AssertionError as error:
            error.add_note(name)
            raise
    for name, body in {**FILES, "pickled": pickled(tmp_path)}.items():
        try:
            server.refuses("malformed_tensor", body, of(NPY), path="/v1/tensors", method="PUT")
        except AssertionError as error:
            error.add_note(f"a file: {name}")
            raise
    other = f"/v1/tensors/sha256:{'0' * 64}"
    server.refuses("malformed_tensor", npy(), of(NPY), path=other, method="PUT")
    server.refuses("unknown_ref", b"", path=other, method="GET")
    grown = server.resident("VmHWM") - before
    assert grown < 2 * LIMIT + VALUES_BYTES
    status, _, answer = server.ask(GOOD)
    assert (status, json.loads(answer)["gradients"]) == (200, {"x": 6.0})


@pytest.mark.thorough
def test_endless_chunked_bodies_are_refused(server):
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    chunks = iter([chunk] * (2 * LIMIT // 0x10000))
    server.refuses(TOO_LARGE, chunks, ("Transfer-Encoding", "chunked"))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("Accept", "*/*, "),
        ("Accept-Encoding", "gzip, "),
        ("Content-Type", "application/json; "),
    ],
)
def test_long_headers_do_not_stay_in_memory(server, name, start):
    before = server.resident("VmRSS")
    for number in range(40):
        server.ask(GOOD, (name, f"{start}{number}".ljust(MEBIBYTE, "a")))
    assert server.resident("VmRSS") - before < 20 * MEBIBYTE


def test_bytes_after_a_refused_body_are_not_parsed_as_a_request(server):
    status, _, answer = server.ask(GOOD, ("Content-Length", "7"))
    assert status == 400
    assert len(answer) < MAX_BODY_BYTES


def test_clients_that_disconnect_do_no_harm(server):
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(b"POST /v1/gradient HTTP/1.1\r\nContent-Length: 9000000\r\n\r\n{")
    assert server.ask(GOOD)[0] == 200
