"""Content negotiation: codecs that read bodies and write responses, by media type."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

import orjson

from gradwire_service.allocation import check_memory
from gradwire_service.problems import RequestError
from gradwire_service.wire.arrays_in import Malformed
from gradwire_service.wire.arrays_out import write_json
from gradwire_service.wire.bfloat16 import BFLOAT16
from gradwire_service.wire.compression import Coding, coding_named
from gradwire_service.wire.headers import MOST_BYTES
from gradwire_service.wire.npy import MEDIA_TYPE, read_npy, write_npy
from gradwire_service.wire.packing import pack
from gradwire_service.wire.preferences import qualities, quality
from gradwire_service.wire.scanning import count
from gradwire_service.wire.shared import Body
from gradwire_service.wire.unpacking import MOST_VALUES, unpack

#: Shorter bodies are parsed without these checks.
_SMALL_BYTES = 1 << 16
#: Maximum lists, objects and strings in a body; each may take 30 times its bytes.
MOST_PARTS = MOST_VALUES
#: Memory that orjson allocates for each byte before parsing, and for each number.
_READ_BYTES, _ITEM_BYTES = 12, 40
#: Encodings of arrays that a request can choose for its response.
Encoding: TypeAlias = Literal["list", "base64"]


class Writer(ABC):
    """A response format; the documents that it writes contain NumPy arrays."""

    #: Its media types, the registered one first.
    media_types: tuple[str, ...]

    @abstractmethod
    def write(self, document: Any, encoding: Encoding | None) -> list[Body]:
        """The body in pieces; arrays in ``encoding``, or in this format's default."""


class Codec(Writer):
    """A format of requests and responses."""

    @abstractmethod
    def read(self, body: bytes | bytearray, most_parts: int = MOST_PARTS) -> Any:
        """Raises: ``RequestError`` (malformed_body), (over_budget) for too many parts."""


class JsonCodec(Codec):
    """RFC 8259, read and written by orjson; arrays are lists."""

    media_types = ("application/json",)

    def read(self, body: bytes | bytearray, most_parts: int = MOST_PARTS) -> Any:
        if not body:
            raise RequestError("malformed_body", "the body is empty", hint="send a JSON object")
        _check_parts(body, most_parts)
        if len(body) > _SMALL_BYTES:
            _check_memory(body)
        try:
            return orjson.loads(body)
        except orjson.JSONDecodeError as error:
            why = error.msg
            if "memory" in why:
                if len(body) > _SMALL_BYTES:
                    raise MemoryError(why) from None
                # orjson takes room for as many values as JSON of this length can have.
                why = "more brackets are opened than closed"
            raise RequestError(
                "malformed_body",
                f"not JSON: {why} (line {error.lineno}, column {error.colno}, "
                f"character {error.pos})",
                hint=_json_hint(body, error),
            ) from None

    def write(self, document: Any, encoding: Encoding | None) -> list[Body]:
        return write_json(document, as_bytes=encoding == "base64")


class MessagePackCodec(Codec):
    """MessagePack; arrays are their raw bytes."""

    media_types = ("application/msgpack", "application/vnd.msgpack", "application/x-msgpack")

    def read(self, body: bytes | bytearray, most_parts: int = MOST_PARTS) -> Any:
        return unpack(body, most_parts)

    def write(self, document: Any, encoding: Encoding | None) -> list[Body]:
        return pack(document, as_lists=encoding == "list")


class NpyCodec(Codec):
    """``.npy`` files, each one array."""

    media_types = (MEDIA_TYPE,)

    def read(self, body: bytes | bytearray, most_parts: int = MOST_PARTS) -> Any:
        """Raises: ``RequestError`` (malformed_tensor)."""
        try:
            return read_npy(body)
        except Malformed as error:
            raise RequestError(error.code, error.detail, hint=error.hint) from None

    def write(self, document: Any, encoding: Encoding | None) -> list[Body]:
        """Raises: ``RequestError`` (not_acceptable)."""
        if document.dtype == BFLOAT16:
            hint = f"accept {JSON.media_types[0]} or {MESSAGEPACK.media_types[0]}"
            raise RequestError("not_acceptable", ".npy files have no bfloat16", hint=hint)
        return write_npy(document)


def _check_parts(body: bytes | bytearray, most_parts: int) -> None:
    """Refuse a body that would take far more time or memory than its bytes.

    Raises: ``RequestError`` (over_budget).
    """
    if len(body) < most_parts:
        return
    if count(body, b"[") + count(body, b"{") + count(body, b'"') // 2 > most_parts:
        detail = f"the body has more than {most_parts} lists, objects and strings"
        raise RequestError("over_budget", detail, hint="send arrays as raw bytes")


def _check_memory(body: bytes | bytearray) -> None:
    """Raises: ``MemoryError`` if too little memory is free to parse a body."""
    text_bytes = _READ_BYTES * len(body)
    try:
        check_memory(text_bytes + _ITEM_BYTES * len(body) // 2)
    except MemoryError:  # assumed single digits; counting numbers takes longer
        check_memory(text_bytes + _ITEM_BYTES * body.count(b","))


def _json_hint(body: bytes | bytearray, error: orjson.JSONDecodeError) -> str | None:
    start = body[:_SMALL_BYTES].decode("utf-8", "replace")  # error.pos counts characters
    if start[error.pos : error.pos + 1] == "'":
        return "JSON has double quotes around strings and names"
    if "infinity" in error.msg or "expected a JSON value" in error.msg:
        return 'NaN and infinities are the strings "NaN", "Infinity" and "-Infinity"'
    return None


JSON = JsonCodec()
MESSAGEPACK = MessagePackCodec()


class Offer:
    """Formats that a route reads and writes, by media type; the first written is the default."""

    def __init__(self, reads: Sequence[Codec], writes: Sequence[Writer]) -> None:
        self.reads = {media_type: codec for codec in reads for media_type in codec.media_types}
        self.writes = {media_type: form for form in writes for media_type in form.media_types}


#: For routes that exchange documents, and for those that receive or send one array.
DOCUMENTS = Offer((JSON, MESSAGEPACK), (JSON, MESSAGEPACK))
UPLOADS = Offer((JSON, MESSAGEPACK, NpyCodec()), (JSON, MESSAGEPACK))
DOWNLOADS = Offer((JSON, MESSAGEPACK), (JSON, MESSAGEPACK, NpyCodec()))


class Format(NamedTuple):
    """The negotiated formats of a request and its response, and the compression of its body."""

    reader: Codec
    media_type: str
    coding: Coding | None
    writer: Writer
    reply_type: bytes


@lru_cache(maxsize=1024)
def negotiate(
    content_type: bytes, content_encoding: bytes, accept: bytes, offer: Offer = DOCUMENTS
) -> Format:
    """Choose the formats of an exchange by the request's headers.

    A body without a type is JSON. The response has the request's type if the route writes it,
    unless ``accept`` prefers another; with one format, ``accept`` is ignored.

    Raises: ``RequestError`` (unsupported_media_type, not_acceptable).
    """
    for header, code in (
        (content_type + content_encoding, "unsupported_media_type"),
        (accept, "not_acceptable"),
    ):
        if len(header) > MOST_BYTES:
            raise RequestError(code, f"a header of more than {MOST_BYTES} bytes is not accepted")
    media_type, *parameters = (
        part.strip() for part in content_type.decode("latin-1").lower().split(";")
    )
    media_type = media_type or JSON.media_types[0]
    reader = offer.reads.get(media_type)
    charset = next((p[8:].strip('"') for p in parameters if p.startswith("charset=")), "utf-8")
    if charset not in ("utf-8", "us-ascii"):
        raise RequestError(
            "unsupported_media_type", "only UTF-8 text is supported", hint="send UTF-8"
        )
    if reader is None:
        raise RequestError(
            "unsupported_media_type",
            f"unsupported Content-Type: {media_type}",
            hint=f"send the header Content-Type: {_names(offer.reads)} (curl -d sends another)",
        )
    reply_type = media_type if media_type in offer.writes else next(iter(offer.writes))
    if accept and len(offer.writes) > 1:
        reply_type = _best(accept.decode("latin-1"), reply_type, offer.writes)
    coding = coding_named(content_encoding)
    return Format(reader, media_type, coding, offer.writes[reply_type], reply_type.encode())


def _best(accept: str, own: str, written: Mapping[str, Writer]) -> str:
    """The best media type that ``accept`` allows; the request's own wins ties."""
    ranges = qualities(accept)
    best = max((own, *written), key=lambda name: quality(name, ranges))
    if quality(best, ranges) == 0:
        raise RequestError(
            "not_acceptable",
            "the Accept header allows none of the supported formats",
            hint=f"accept {_names(written)}",
        )
    return best


def _names(forms: Mapping[str, Writer]) -> str:
    return " or ".join(codec.media_types[0] for codec in dict.fromkeys(forms.values()))
