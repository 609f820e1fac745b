"""Documents as bytes: the one place that knows the encoding.

Arrays are parts of documents as they are, on the way out and back. Requests and answers are
MessagePack; problems are JSON, and so is what a proxy may say.
"""

from __future__ import annotations

import json
from typing import Any

from gradwire import messagepack
from gradwire.messagepack import Refer
from gradwire.usage import used

MEDIA_TYPE = "application/msgpack"
#: Media types of answers.
MEDIA_TYPES = (MEDIA_TYPE, "application/json")
PROBLEM_MEDIA_TYPE = "application/problem+json"


def encode(document: Any, refer: Refer | None = None) -> bytes:
    """Encode a document; arrays for which ``refer`` returns a reference are sent by it."""
    with used("what is sent"):
        return messagepack.pack(document, refer)


def decode(body: bytes, media_type: str = MEDIA_TYPE, *, to_compute: bool = False) -> Any:
    """The document in a body of a media type; ``ValueError`` where there is none.

    ``to_compute`` with, arrays of bfloat16 are float32 if NumPy lacks that dtype.
    """
    if media_type.startswith(MEDIA_TYPE):
        return messagepack.unpack(body, to_compute=to_compute)
    return json.loads(body)
