"""Answers that are the same for everybody, and are made once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping

from starlette.responses import Response


class Fixed:
    """One such answer; ``make`` returns its body, in a thread, at the first request."""

    def __init__(
        self, make: Callable[[], bytes], media_type: str, headers: Mapping[str, str] | None = None
    ) -> None:
        self._make = make
        self._media_type = media_type
        self._headers = headers
        self._lock = threading.Lock()
        self._body: bytes | None = None

    async def response(self) -> Response:
        """The answer."""
        body = self._body
        if body is None:
            body = await asyncio.to_thread(self._made)
        return Response(body, media_type=self._media_type, headers=self._headers)

    def _made(self) -> bytes:
        with self._lock:
            if self._body is None:
                self._body = self._make()
            return self._body
