"""Media types: which codec reads a body, which writes the response."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import orjson

from gradwire_service.problems import Refusal
from gradwire_service.wire.arrays import write_json


class Codec(ABC):
    """One encoding of the documents; arrays in ``write``'s document are NumPy's."""

    media_type: str

    @abstractmethod
    def read(self, body: bytes) -> Any:
        """Raises: ``Refusal`` (malformed_body)."""

    @abstractmethod
    def write(self, document: Mapping[str, Any], *, as_bytes: bool) -> bytes:
        """``as_bytes`` asks for arrays as their raw bytes rather than as lists."""


class JsonCodec(Codec):
    """RFC 8259, read and written by orjson."""

    media_type = "application/json"

    def read(self, body: bytes) -> Any:
        if not body:
            raise Refusal("malformed_body", "the body is empty", hint="send a JSON object")
        try:
            return orjson.loads(body)
        except orjson.JSONDecodeError as error:
            raise Refusal(
                "malformed_body",
                f"not JSON: {error.msg} (line {error.lineno}, column {error.colno}, "
                f"character {error.pos})",
                hint=_json_hint(error.msg),
            ) from None

    def write(self, document: Mapping[str, Any], *, as_bytes: bool) -> bytes:
        return write_json(document, as_bytes=as_bytes)


def _json_hint(message: str) -> str | None:
    if "infinity" in message or "expected a JSON value" in message:
        return 'NaN and infinities are the strings "NaN", "Infinity" and "-Infinity"'
    return None


JSON = JsonCodec()
CODECS: dict[str, Codec] = {JSON.media_type: JSON}


@lru_cache(maxsize=256)
def reader_for(content_type: bytes, content_encoding: bytes) -> Codec:
    """The codec of a request's body; a body without a type is taken as JSON."""
    if content_encoding.strip().lower() not in (b"", b"identity"):
        raise Refusal("unsupported_media_type", "compressed bodies are not read")
    media_type = content_type.partition(b";")[0].strip().lower().decode("latin-1")
    codec = CODECS.get(media_type) if media_type else JSON
    if codec is None:
        raise Refusal(
            "unsupported_media_type",
            f"the Content-Type {media_type} is not one that is read here",
            hint=f"send the header Content-Type: {' or '.join(CODECS)} (curl -d sends another)",
        )
    return codec


@lru_cache(maxsize=256)
def writer_for(accept: bytes, reader: Codec) -> Codec:
    """The codec of the response: the best that ``Accept`` allows, the request's own at a tie."""
    if not accept:
        return reader
    ranges = [_media_range(part) for part in accept.decode("latin-1").split(",")]
    best, best_quality = reader, 0.0
    for codec in (reader, *(codec for codec in CODECS.values() if codec is not reader)):
        quality = _quality(codec.media_type, ranges)
        if quality > best_quality:
            best, best_quality = codec, quality
    if best_quality == 0:
        raise Refusal(
            "not_acceptable",
            "the Accept header allows nothing that is written here",
            hint=f"accept {' or '.join(CODECS)}",
        )
    return best


def _media_range(text: str) -> tuple[str, float]:
    media_type, *parameters = (part.strip().lower() for part in text.split(";"))
    quality = 1.0
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                quality = float(parameter[2:])
            except ValueError:
                quality = 0.0
    return media_type, quality


def _quality(media_type: str, ranges: list[tuple[str, float]]) -> float:
    """The quality of the most specific range that covers ``media_type`` (RFC 9110, 12.5.1)."""
    offered = dict(ranges)
    family = media_type.partition("/")[0] + "/*"
    for candidate in (media_type, family, "*/*"):
        if candidate in offered:
            return offered[candidate]
    return 0.0
