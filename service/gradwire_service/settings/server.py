"""Address, browsers and proxies, and how the service stops."""

from __future__ import annotations

import re
from ipaddress import ip_network
from typing import Annotated

from pydantic import BaseModel, Field, field_validator
from pydantic_settings import NoDecode

from gradwire_service.settings.derived import derived

#: The text of an empty list: an empty text is a setting that is not given.
NO_ITEMS = "none"

_ORIGIN = re.compile(r"\*|https?://[A-Za-z0-9.:\[\]-]+")


class ServerSettings(BaseModel):
    """Address, browsers and proxies, and how the service stops."""

    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(
        default=8000, ge=0, le=65535, description="Port to listen on; 0 takes a free one."
    )
    keep_alive_seconds: int = derived(
        default=75,
        gt=0,
        description="How long an idle connection is kept open; set it longer than the proxy's.",
    )
    watchdog_seconds: float = Field(
        default=3.0,
        ge=0,
        description="How long the event loop of `gradwire-server` may be stuck. Then the parent "
        "process kills it and exits with status 137: open connections are reset, so a proxy tries "
        "another replica, and the supervisor restarts the service. With 0, with "
        "GRADWIRE_PROCESSES=0 and on Windows there is no watchdog and no parent process.",
    )
    drain_seconds: float = derived(
        default=1.0,
        ge=0,
        description="How long new requests are accepted after SIGTERM, while `/readyz` fails.",
    )
    cors_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Origins whose pages may send requests from a browser (CORS), separated by "
        "commas: https://a.example, or * for all; or none. Cookies are never allowed.",
    )

    page: bool = Field(
        default=True,
        description="Serve the page for trying programs at `/`, and the guide at `/guide`.",
    )
    proxies: Annotated[tuple[str, ...], NoDecode] = Field(
        default=("127.0.0.1", "::1"),
        description="Addresses and networks of the proxies in front, separated by commas. "
        "X-Forwarded-For is trusted only from these: for logs and, without keys, to share "
        "the service fairly between clients. `none` trusts no proxy.",
    )

    @field_validator("cors_origins", "proxies", mode="before")
    @classmethod
    def _lists_are_split(cls, given: object) -> object:
        if isinstance(given, str):
            if given.strip().lower() == NO_ITEMS:
                return ()
            return tuple(part.strip() for part in given.split(",") if part.strip())
        return given

    @field_validator("proxies")
    @classmethod
    def _proxies_are_addresses(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        for place in given:
            try:
                ip_network(place)
            except ValueError:
                raise ValueError(
                    f"{place!r} is neither an address nor a network such as 10.0.0.0/8"
                ) from None
        return given

    @field_validator("cors_origins")
    @classmethod
    def _origins_are_origins(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        for origin in given:
            if not _ORIGIN.fullmatch(origin):
                raise ValueError(f"{origin!r} is not an origin such as https://a.example")
        return given
