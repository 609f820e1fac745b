"""Media types: which codec reads a body, which writes the response."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

import orjson

from gradwire_service.problems import Refusal
from gradwire_service.wire.arrays import write_json
from gradwire_service.wire.body import Body
from gradwire_service.wire.compression import Coding, coding_named
from gradwire_service.wire.members import check_members, check_size
from gradwire_service.wire.packing import pack
from gradwire_service.wire.preferences import qualities, quality
from gradwire_service.wire.unpacking import unpack

#: How a request asks for arrays in the response.
Encoding: TypeAlias = Literal["list", "base64"]


class Codec(ABC):
    """One encoding of the documents; arrays in ``write``'s document are NumPy's."""

    #: The names of its media type, the registered one first.
    media_types: tuple[str, ...]

    @abstractmethod
    def read(self, body: bytes | bytearray) -> Any:
        """Raises: ``Refusal`` (malformed_body)."""

    @abstractmethod
    def write(self, document: Mapping[str, Any], encoding: Encoding | None) -> list[Body]:
        """The body in pieces, arrays in the form that is asked for, or this codec's own."""


class JsonCodec(Codec):
    """RFC 8259, read and written by orjson; arrays are lists."""

    media_types = ("application/json",)

    def read(self, body: bytes | bytearray) -> Any:
        if not body:
            raise Refusal("malformed_body", "the body is empty", hint="send a JSON object")
        check_size(body)
        try:
            document = orjson.loads(body)
        except orjson.JSONDecodeError as error:
            raise Refusal(
                "malformed_body",
                f"not JSON: {error.msg} (line {error.lineno}, column {error.colno}, "
                f"character {error.pos})",
                hint=_json_hint(error.msg),
            ) from None
        check_members(body, document)
        return document

    def write(self, document: Mapping[str, Any], encoding: Encoding | None) -> list[Body]:
        return [write_json(document, as_bytes=encoding == "base64")]


class MessagePackCodec(Codec):
    """MessagePack; arrays are their raw bytes."""

    media_types = ("application/msgpack", "application/vnd.msgpack", "application/x-msgpack")

    def read(self, body: bytes | bytearray) -> Any:
        return unpack(body)

    def write(self, document: Mapping[str, Any], encoding: Encoding | None) -> list[Body]:
        return pack(document, as_lists=encoding == "list")


def _json_hint(message: str) -> str | None:
    if "infinity" in message or "expected a JSON value" in message:
        return 'NaN and infinities are the strings "NaN", "Infinity" and "-Infinity"'
    return None


JSON = JsonCodec()
MESSAGEPACK = MessagePackCodec()
CODECS: dict[str, Codec] = {
    media_type: codec for codec in (JSON, MESSAGEPACK) for media_type in codec.media_types
}


class Format(NamedTuple):
    """How a request is read and its response written: codecs, and what was compressed how."""

    reader: Codec
    media_type: str
    coding: Coding | None
    writer: Codec
    reply_type: bytes


@lru_cache(maxsize=1024)
def negotiated(content_type: bytes, content_encoding: bytes, accept: bytes) -> Format:
    """The format of an exchange by the headers of its request.

    A body without a type is taken as JSON, and answered in its own type unless ``accept`` says
    otherwise.

    Raises: ``Refusal`` (unsupported_media_type, not_acceptable).
    """
    media_type = content_type.partition(b";")[0].strip().lower().decode("latin-1")
    media_type = media_type or JSON.media_types[0]
    reader = CODECS.get(media_type)
    if reader is None:
        raise Refusal(
            "unsupported_media_type",
            f"the Content-Type {media_type} is not one that is read here",
            hint=f"send the header Content-Type: {_NAMES} (curl -d sends another)",
        )
    reply_type = _best(accept.decode("latin-1"), media_type) if accept else media_type
    coding = coding_named(content_encoding)
    return Format(reader, media_type, coding, CODECS[reply_type], reply_type.encode())


def _best(accept: str, own: str) -> str:
    """The best media type that ``accept`` allows, at a tie the request's own."""
    ranges = qualities(accept)
    best = max((own, *CODECS), key=lambda name: quality(name, ranges))
    if quality(best, ranges) == 0:
        raise Refusal(
            "not_acceptable",
            "the Accept header allows nothing that is written here",
            hint=f"accept {_NAMES}",
        )
    return best


_NAMES = " or ".join(codec.media_types[0] for codec in (JSON, MESSAGEPACK))
