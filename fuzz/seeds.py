"""The initial corpus for fuzzing: the documentation's requests in every accepted encoding."""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from decoders import REQUESTS
from gradwire_service import examples
from gradwire_service.openapi import component_schemas
from gradwire_service.wire.arrays_in import DTYPES
from gradwire_service.wire.bfloat16 import BFLOAT16
from gradwire_service.wire.packing import pack

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

DOCS = Path(__file__).parent.parent / "docs"
_REQUEST = re.compile(r"^```http\n[A-Z]+ /[^`]*?\n(\{.*?)^```", re.MULTILINE | re.DOTALL)


def seeds() -> dict[str, list[bytes]]:
    """Valid bodies for each decoder."""
    documents = list(_documents())
    written = [json.dumps(document).encode() for document in documents]
    packed = [b"".join(pack(document)) for document in documents]
    numbers = range(len(REQUESTS))
    return {
        "json": written,
        "messagepack": packed,
        "npy": list(_files()),
        **{
            name: [compress(body) * (1 + i % 2) for i, body in enumerate(written)]
            for name, compress in (("gzip", gzip.compress), ("zstd", zstd.compress))
        },
        "request": [bytes([number]) + body for body in written for number in numbers]
        + [bytes([128 + number]) + body for body in packed for number in numbers],
    }


def words() -> list[bytes]:
    """The dictionary for fuzzing: names of fields and keywords."""
    said = json.dumps([*_documents(), component_schemas()])
    return sorted({word.encode() for word in re.findall(r'"([a-z0-9_/-]{1,30})"', said)})


def _documents() -> Iterator[Any]:
    for requests in examples.REQUESTS.values():
        for example in requests.values():
            yield example["value"]
    for page in sorted(DOCS.rglob("*.md")):
        yield from map(json.loads, _REQUEST.findall(page.read_text()))


def _files() -> Iterator[bytes]:
    for dtype in [dtype for dtype in DTYPES.values() if dtype != BFLOAT16]:
        for array in np.ones((2, 3), dtype), np.zeros((), dtype.newbyteorder(">")):
            for order in "C", "F":
                file = BytesIO()
                np.save(file, np.asarray(array, order=order))
                yield file.getvalue()
