"""What a client is configured with, from arguments and the environment."""

from __future__ import annotations

import enum
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

import httpx

from gradwire import codec
from gradwire.version import __version__

DEFAULT_BASE_URL = "http://127.0.0.1:8000"
DEFAULT_MAX_RETRIES = 2
DEFAULT_TIMEOUT = httpx.Timeout(60.0, connect=5.0)

Timeout: TypeAlias = float | httpx.Timeout | None


class Unset(enum.Enum):
    """Tells an argument that was left out from ``None``."""

    UNSET = enum.auto()


UNSET: Final = Unset.UNSET


@dataclass(frozen=True, slots=True)
class Options:
    """A client's settings; ``timeout`` is in seconds, ``None`` waits for ever."""

    base_url: str
    api_key: str | None
    timeout: Timeout
    max_retries: int

    def __post_init__(self) -> None:
        if self.max_retries < 0:
            raise ValueError(f"max_retries counts from 0, got {self.max_retries}")

    @classmethod
    def resolve(
        cls,
        base_url: str | httpx.URL | None,
        api_key: str | None,
        timeout: Timeout,
        max_retries: int,
        environment: Mapping[str, str] = os.environ,
    ) -> Options:
        """Arguments win over the environment (``GRADWIRE_URL``, ``GRADWIRE_API_KEY``)."""
        url = str(base_url or "") or environment.get("GRADWIRE_URL") or DEFAULT_BASE_URL
        key = environment.get("GRADWIRE_API_KEY") if api_key is None else api_key
        return cls(url.rstrip("/"), key or None, timeout, max_retries)

    def headers(self) -> dict[str, str]:
        """The headers of every request."""
        headers = {
            "Accept": f"{codec.MEDIA_TYPE}, {codec.PROBLEM_MEDIA_TYPE}",
            "Accept-Encoding": "identity",  # bytes of numbers hardly shrink
            "Content-Type": codec.MEDIA_TYPE,
            "User-Agent": USER_AGENT,
        }
        if self.api_key is not None:
            headers["Authorization"] = f"Bearer {self.api_key}"
        return headers


USER_AGENT = f"gradwire-python/{__version__} python/{platform.python_version()}"
