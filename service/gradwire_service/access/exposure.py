"""Refuses to expose a service without API keys to other machines."""

from __future__ import annotations

from ipaddress import ip_address

from gradwire_service.settings import Settings
from gradwire_service.settings.errors import StartupError


class Exposed(StartupError):
    """A service without API keys would listen on a public address."""


def refuse_exposed(settings: Settings) -> None:
    """Accept settings with keys, with ``open``, or with a loopback address only.

    Raises: ``Exposed``, whose message has a remedy.
    """
    if settings.has_keys or settings.open or is_loopback(settings.host):
        return
    raise Exposed(
        f"without API keys, anyone who reaches {settings.host} can use this service: create a key "
        "with `gradwire-server keys new --tenant NAME --name NAME --file keys.json` and set "
        "GRADWIRE_KEYS_FILE=keys.json, or set GRADWIRE_OPEN=true if that is intended, or "
        "GRADWIRE_HOST=127.0.0.1"
    )


def is_loopback(host: str) -> bool:
    """True if an address is local to this machine; the only name known is ``localhost``."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
