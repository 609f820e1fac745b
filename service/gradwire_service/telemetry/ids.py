"""The ids by which requests are named: in answers, problems and the log."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from itertools import count

_GIVEN = re.compile(rb"[A-Za-z0-9._:-]{1,128}")


class RequestIds:
    """Names requests as they name themselves, else one after the other."""

    def __init__(self) -> None:
        self._prefix = secrets.token_hex(6)
        self._numbers = count(1)

    def of(self, headers: Mapping[bytes, bytes]) -> str:
        """The id of a request of these headers."""
        given = headers.get(b"x-request-id")
        if given is not None and _GIVEN.fullmatch(given):
            return str(given, "ascii")
        return f"{self._prefix}-{next(self._numbers):x}"
