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
