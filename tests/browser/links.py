"""Links to the page, by another implementation than its own."""

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any


def fragment_of(document: Mapping[str, Any]) -> str:
    """The fragment that holds a document: ``#v1=`` and base64url of the raw deflated JSON."""
    packer = zlib.compressobj(wbits=-15)
    packed = packer.compress(json.dumps(document).encode()) + packer.flush()
    return "#v1=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def text_of(address: str) -> str:
    """The JSON that a link holds; empty if it holds none."""
    packed = address.partition("#v1=")[2]
    padded = packed + "=" * (-len(packed) % 4)
    return zlib.decompress(base64.urlsafe_b64decode(padded), wbits=-15).decode() if packed else ""
