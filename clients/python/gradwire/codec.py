"""Documents as bytes, and arrays as parts of documents: the one place that knows the encoding."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

MEDIA_TYPE = "application/json"
PROBLEM_MEDIA_TYPE = "application/problem+json"
#: What a request says so that the arrays of its answer come packed, with dtype and shape.
ARRAY_ENCODING = "base64"


def encode(document: Any) -> bytes:
    """The body that carries a document."""
    return json.dumps(document, allow_nan=False, separators=(",", ":")).encode()


def decode(body: bytes) -> Any:
    """The document in a body; ``ValueError`` where there is none."""
    return json.loads(body)


def pack(array: NDArray[Any]) -> dict[str, Any]:
    """An array, bit for bit: its dtype, its shape and its little-endian bytes in C order."""
    raw = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    text = base64.b64encode(raw.tobytes()).decode("ascii")
    return {"dtype": array.dtype.name, "shape": list(array.shape), ARRAY_ENCODING: text}


def is_packed(document: Any) -> bool:
    """Whether a part of a document is an array that was packed."""
    return isinstance(document, Mapping) and isinstance(document.get(ARRAY_ENCODING), str)


def unpack(document: Mapping[str, Any]) -> NDArray[Any]:
    """The array that was packed, writable and in the machine's byte order."""
    raw = base64.b64decode(document[ARRAY_ENCODING], validate=True)
    dtype = np.dtype(document["dtype"])
    return np.frombuffer(raw, dtype.newbyteorder("<")).reshape(document["shape"]).astype(dtype)
