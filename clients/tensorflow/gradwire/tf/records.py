"""Files of TFRecords: strings of bytes with their lengths and checksums.

A record is its length (8 bytes), the checksum of these, the bytes, and their checksum; checksums
are CRC-32C, turned by 15 bits and moved by a constant.
"""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from gradwire.tf.errors import DataLossError, NotFoundError, invalid
from gradwire.tf.gfile import local

_MOVED = 0xA282EAD8
_POLYNOMIAL = 0x82F63B78


class TFRecordOptions:
    """Options for writing a file of records."""

    def __init__(self, compression_type: str | None = None, **options: Any) -> None:
        if options:
            raise NotImplementedError(f"TFRecordOptions does not implement {sorted(options)}")
        self.compression_type: str = compression_type or ""


class TFRecordWriter:
    """Writes records to a file: ``write`` each, then ``close``."""

    def __init__(self, path: Any, options: Any = None) -> None:
        kind = getattr(options, "compression_type", options) or ""
        self._kind: str = _checked(kind)
        name = local(path)
        self._file: Any = (
            gzip.open(name, "wb") if self._kind == "GZIP" else Path(name).open("wb")  # noqa: SIM115
        )
        self._squeezed: Any = zlib.compressobj() if self._kind == "ZLIB" else None

    def write(self, record: Any) -> None:
        """Write a record."""
        content = record.numpy() if hasattr(record, "numpy") else bytes(record)
        length = struct.pack("<Q", len(content))
        sums = [struct.pack("<I", checksum(each)) for each in (length, content)]
        self._put(length + sums[0] + content + sums[1])

    def _put(self, content: bytes) -> None:
        self._file.write(content if self._squeezed is None else self._squeezed.compress(content))

    def flush(self) -> None:
        """Let the file have what was written."""
        self._file.flush()

    def close(self) -> None:
        """End the file."""
        if self._squeezed is not None and not self._file.closed:
            self._file.write(self._squeezed.flush())
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def records(path: Any, compression_type: str = "") -> Iterator[bytes]:
    """The records of a file.

    Raises:
        DataLossError: The file is cut off, or a checksum is another.
        NotFoundError: There is no such file.
    """
    kind = _checked(compression_type)
    try:
        content = Path(local(path)).read_bytes()
    except FileNotFoundError:
        raise NotFoundError(None, None, f"{local(path)}; No such file or directory") from None
    if kind:
        content = gzip.decompress(content) if kind == "GZIP" else zlib.decompress(content)
    at = 0
    while at < len(content):
        head = content[at : at + 12]
        length = struct.unpack("<Q", head[:8])[0] if len(head) == 12 else 0
        body = content[at + 12 : at + 16 + length]
        if len(head) < 12 or len(body) < length + 4:
            raise DataLossError(None, None, f"truncated record at {at}")
        record = body[:length]
        for part, found in ((head[:8], head[8:]), (record, body[length:])):
            if checksum(part) != struct.unpack("<I", found)[0]:
                raise DataLossError(None, None, f"corrupted record at {at}")
        yield record
        at += 16 + length


def checksum(content: bytes) -> int:
    """The checksum of a record."""
    table = _table()
    crc = 0xFFFFFFFF
    for byte in content:
        crc = table[(crc ^ byte) & 255] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + _MOVED) & 0xFFFFFFFF


@cache
def _table() -> list[int]:
    made = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
        made.append(value)
    return made


def _checked(compression_type: str) -> str:
    if compression_type not in ("", "GZIP", "ZLIB"):
        raise invalid(f"Unsupported compression_type: {compression_type}.")
    return compression_type
