"""Whether a service that asks for no key would be reached by others than this machine."""

from __future__ import annotations

from ipaddress import ip_address

from gradwire_service.settings import Settings
from gradwire_service.settings.errors import StartupError


class Exposed(StartupError):
    """A service without keys is not started where anybody could ask it."""


def refuse_exposed(settings: Settings) -> None:
    """Let pass what has keys, is open on purpose, or listens on the loopback alone.

    Raises: ``Exposed``, whose text says what to do.
    """
    if settings.has_keys or settings.open or is_loopback(settings.host):
        return
    raise Exposed(
        f"without API keys anybody who reaches {settings.host} could use this service: make a key "
        "with `gradwire-server keys new --tenant NAME --name NAME --file keys.json` and set "
        "GRADWIRE_KEYS_FILE=keys.json, or set GRADWIRE_OPEN=true if that is wanted, or "
        "GRADWIRE_HOST=127.0.0.1"
    )


def is_loopback(host: str) -> bool:
    """Whether only this machine gets there; names are not resolved, but for ``localhost``."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
