"""Opens the API keys of the settings."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from gradwire_service.access.entries import read_entries
from gradwire_service.access.keyring import Keyring
from gradwire_service.access.keys_file import KeysFile, KeysFileWatcher
from gradwire_service.access.rates import RateLimits
from gradwire_service.settings import Settings


class Keys(NamedTuple):
    """The keyring, None without authentication, and a context in which it stays up to date."""

    keyring: Keyring | None
    watcher: AbstractContextManager[Any]


def open_keys(settings: Settings) -> Keys:
    """Read the keys from the settings' file or text.

    Raises: ``KeysError``.
    """
    defaults = RateLimits(
        settings.key_requests_per_second, settings.key_burst, settings.key_concurrent
    )
    if settings.keys_file:
        file = KeysFile(settings.keys_file)
        keyring = Keyring(file.read(), defaults)
        return Keys(keyring, KeysFileWatcher(file, keyring))
    if settings.keys:  # an empty text is none
        entries = read_entries(settings.keys.get_secret_value(), "GRADWIRE_KEYS")
        return Keys(Keyring(entries, defaults), nullcontext())
    return Keys(None, nullcontext())
