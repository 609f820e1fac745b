"""Answers that are the same to everybody: made once, and compressed once in each way.

Who has no key may ask for them too, so they cost next to nothing.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping

from starlette.responses import Response
from starlette.types import Scope

from gradwire_service.wire.compression import Coding
from gradwire_service.wire.headers import headers_of
from gradwire_service.work.compression import LEAST_BYTES, coding_of

_WHOLE = "identity"


class Fixed:
    """One such answer; ``make`` gives its body when it is first asked for."""

    def __init__(
        self, make: Callable[[], bytes], media_type: str, headers: Mapping[str, str] | None = None
    ) -> None:
        self._make = make
        self._media_type = media_type
        self._headers = {**(headers or {}), "vary": "accept-encoding"}
        self._lock = threading.Lock()
        #: By the names of their codings.
        self._bodies: dict[str, bytes] = {}

    async def response(self, scope: Scope) -> Response:
        """The answer to a request."""
        coding = coding_of(headers_of(scope).get(b"accept-encoding", b""))
        name = _WHOLE if coding is None else coding.name
        body = self._bodies.get(name)
        if body is None:
            body = await asyncio.to_thread(self._made, coding)
        coded = {} if body is self._bodies[_WHOLE] else {"content-encoding": name}
        return Response(body, media_type=self._media_type, headers={**self._headers, **coded})

    def _made(self, coding: Coding | None) -> bytes:
        bodies = self._bodies
        with self._lock:
            if _WHOLE not in bodies:
                bodies[_WHOLE] = self._make()
            whole = bodies[_WHOLE]
            if coding is None:
                return whole
            if coding.name not in bodies:
                shorter = coding.compress(whole) if len(whole) >= LEAST_BYTES else whole
                bodies[coding.name] = shorter if len(shorter) < len(whole) else whole
            return bodies[coding.name]
