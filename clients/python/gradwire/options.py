"""A client's options, from arguments and the environment."""

from __future__ import annotations

import enum
import numbers
import os
import platform
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

import httpx

from gradwire import codec, hints
from gradwire.environment import is_host, variable
from gradwire.errors import UsageError
from gradwire.version import __version__

DEFAULT_BASE_URL = "http://127.0.0.1:8000"
DEFAULT_MAX_RETRIES = 2
DEFAULT_TIMEOUT = httpx.Timeout(60.0, connect=5.0)

#: API keys that are valid in a header.
_KEY = re.compile(r"[!-~](?:[ -~]*[!-~])?")

Timeout: TypeAlias = float | httpx.Timeout | None
#: The replicas that compute, behind a proxy: those with a GPU, as far as they can, those without,
#: or either, as the service chooses.
Placement: TypeAlias = Literal["gpu", "cpu", "any"]


class Unset(enum.Enum):
    """The default of arguments for which ``None`` has a meaning."""

    UNSET = enum.auto()


UNSET: Final = Unset.UNSET


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """A client's options; ``timeout`` is in seconds, ``None`` waits for ever."""

    base_url: str
    api_key: str | None
    timeout: Timeout
    max_retries: int
    #: The program name that every request sends, so that one replica answers them all.
    home: str | None = None
    placement: Placement = "any"

    def __post_init__(self) -> None:
        retries: Any = self.max_retries
        timeout: Any = self.timeout
        key: Any = self.api_key
        if not isinstance(retries, numbers.Integral) or retries < 0:
            raise UsageError(f"max_retries needs an integer of at least 0, got {retries!r}")
        if key is not None and not (isinstance(key, str) and _KEY.fullmatch(key)):
            raise UsageError(
                "api_key is not a valid API key: expected printable ASCII characters",
                hint=hints.NO_KEY,
            )
        home: Any = self.home
        placement: Any = self.placement
        if home is not None and not (isinstance(home, str) and _KEY.fullmatch(home)):
            raise UsageError(f"home needs a name of printable ASCII characters, got {home!r:.200}")
        if not isinstance(placement, str) or placement not in get_args(Placement):
            raise UsageError(
                f"placement needs 'gpu', 'cpu' or 'any', got {self.placement!r:.200}",
                hint="set GRADWIRE_PLACEMENT, or give placement to the client",
            )
        if not isinstance(timeout, httpx.Timeout | None) and not (
            isinstance(timeout, int | float) and 0 < timeout < threading.TIMEOUT_MAX
        ):
            raise UsageError(f"timeout needs a positive number of seconds or None, got {timeout!r}")

    @classmethod
    def resolve(
        cls,
        base_url: str | httpx.URL | None,
        api_key: str | None,
        timeout: Timeout,
        max_retries: int,
        environment: Mapping[str, str] = os.environ,
        placement: str | None = None,
    ) -> ClientOptions:
        """Arguments win over ``GRADWIRE_URL``, ``GRADWIRE_API_KEY`` and ``GRADWIRE_PLACEMENT``."""
        url = str(base_url or "") or variable("GRADWIRE_URL", environment) or DEFAULT_BASE_URL
        key = variable("GRADWIRE_API_KEY", environment) if api_key is None else api_key
        placed: Any = placement or variable("GRADWIRE_PLACEMENT", environment) or "any"
        return cls(url.rstrip("/"), key or None, timeout, max_retries, placement=placed)

    def headers(self) -> dict[str, str]:
        """The headers of every request."""
        headers = {
            "Accept": f"{codec.MEDIA_TYPE}, {codec.PROBLEM_MEDIA_TYPE}",
            "Accept-Encoding": "identity",  # bytes of numbers hardly shrink
            "Content-Type": codec.MEDIA_TYPE,
            "User-Agent": USER_AGENT,
        }
        if self.placement != "any":
            headers["Gradwire-Placement"] = self.placement
        if self.api_key is not None:
            headers["Authorization"] = f"Bearer {self.api_key}"
        return headers


def check_address(url: str) -> None:
    """Raise a ``UsageError`` for an invalid address."""
    problem, hint = f"{url!r:.200} is not an address of the form http://host:port", hints.ADDRESS
    try:
        parsed = httpx.URL(url)
        host, port = parsed.host, parsed.port or 0
    except (httpx.InvalidURL, ValueError) as error:
        raise UsageError(f"{problem}: {error}", hint=hint) from error
    if parsed.scheme not in ("http", "https") or not is_host(host) or not 0 <= port < 1 << 16:
        raise UsageError(problem, hint=hint if "://" in url else f"write http://{url:.200}")


USER_AGENT = f"gradwire-python/{__version__} python/{platform.python_version()}"
