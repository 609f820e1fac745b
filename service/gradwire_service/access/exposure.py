"""Refuses to expose a service without API keys to other machines, or warns that it is exposed."""

from __future__ import annotations

import os
from ipaddress import ip_address

from gradwire_service.settings import Settings
from gradwire_service.settings.environment import is_blank
from gradwire_service.settings.errors import StartupError

#: The variables that give keys.
_KEYS = ("GRADWIRE_KEYS_FILE", "GRADWIRE_KEYS")


class Exposed(StartupError):
    """A service without API keys would listen on a public address."""


def refuse_exposed(settings: Settings) -> None:
    """Accept settings with keys, with ``open``, or with a loopback address only.

    Raises: ``Exposed``, whose message has a remedy.
    """
    if settings.has_keys or settings.open or is_loopback(settings.host):
        return
    raise Exposed(
        f"{_empty_keys()}without API keys, anyone who reaches {settings.host} can use this "
        "service: create a key with `gradwire-server keys new --tenant NAME --name NAME --file "
        "keys.json` and set GRADWIRE_KEYS_FILE=keys.json, or set GRADWIRE_OPEN=true if that is "
        "intended, or GRADWIRE_HOST=127.0.0.1"
    )


def exposure_warning(settings: Settings) -> str | None:
    """A warning about a service that starts without keys, though others may reach it, or though a
    variable that is empty was to give it keys.
    """
    if settings.has_keys:
        return None
    empty = _empty_keys()
    if not is_loopback(settings.host):
        return f"{empty}without API keys, anyone who reaches {settings.host} can use this service"
    return f"{empty}no API keys are required" if empty else None


def _empty_keys() -> str:
    """The beginning of a message: which variables are there and give no keys."""
    names = [name for name in _KEYS if is_blank(os.environ.get(name))]
    verb = "are empty, as if they were unset" if names[1:] else "is empty, as if it were unset"
    return f"{' and '.join(names)} {verb}: " if names else ""


def is_loopback(host: str) -> bool:
    """True if an address is local to this machine; the only name known is ``localhost``."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
