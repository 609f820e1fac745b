"""Request ids."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from itertools import count

_GIVEN = re.compile(rb"[A-Za-z0-9._:-]{1,128}")


class RequestIds:
    """Takes a request's own ``X-Request-Id``, or numbers the request."""

    def __init__(self) -> None:
        self._prefix = secrets.token_hex(6)
        self._numbers = count(1)

    def of(self, headers: Mapping[bytes, bytes]) -> str:
        """The id of a request with these headers."""
        given = headers.get(b"x-request-id")
        if given is not None and _GIVEN.fullmatch(given):
            return str(given, "ascii")
        return f"{self._prefix}-{next(self._numbers):x}"
