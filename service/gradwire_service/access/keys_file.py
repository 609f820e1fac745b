"""The API keys of the settings; a key file is read again when it changes, without a restart."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from time import monotonic, time
from typing import Any, NamedTuple, Self, TypeAlias

from gradwire_service.access.entries import MOST_BYTES, KeyEntry, KeysError, read_entries
from gradwire_service.access.keyring import Keyring
from gradwire_service.access.rates import RateLimits
from gradwire_service.settings import Settings

logger = logging.getLogger("gradwire")

#: Time between checks of the file.
POLL_SECONDS = 1.0

_Signature: TypeAlias = tuple[int, int, int, int]


class KeysFile:
    """A key file, and its state when it was last read."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._place = f"GRADWIRE_KEYS_FILE={path}"
        self._seen: _Signature | None = None

    def read(self) -> list[KeyEntry]:
        """Read the keys.

        Raises: ``KeysError``.
        """
        # The signature first: a change during the read then shows in the next check.
        self._seen = self._signature()
        try:
            with self._path.open("rb") as file:
                content = file.read(MOST_BYTES + 1)
        except OSError as error:
            raise KeysError(f"{self._place}: cannot be read: {error.strerror}") from None
        return read_entries(content, self._place)

    def changed(self) -> bool:
        """True if the file has changed since it was last read."""
        return self._signature() != self._seen

    def _signature(self) -> _Signature | None:
        """Attributes that show a change, also of a link's target."""
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


class KeysFileWatcher:
    """A context manager: a thread in it keeps the keyring up to date with the file.

    The thread, not the event loop, waits for the disk.
    """

    def __init__(self, file: KeysFile, keyring: Keyring) -> None:
        self._file = file
        self._keyring = keyring
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._ended.clear()
        self._thread = threading.Thread(target=self._watch, name="gradwire-keys", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def reload_if_changed(self) -> None:
        """Reload the file if it has changed; an invalid one is only logged."""
        if not self._file.changed():
            return
        try:
            entries = self._file.read()
        except KeysError as error:
            self._keyring.stale = True
            logger.error("the previous API keys stay in use: %s", error)
        except Exception as error:
            self._keyring.stale = True
            logger.error("the previous API keys stay in use", exc_info=error)
        else:
            self._keyring.replace(entries)
            logger.info("API keys reloaded: %d", len(entries))

    def _watch(self) -> None:
        while not self._ended.wait(POLL_SECONDS):
            self.reload_if_changed()


class Keys(NamedTuple):
    """The keyring, None without authentication, and a context in which it stays up to date."""

    keyring: Keyring | None
    watcher: AbstractContextManager[Any]


def open_keys(
    settings: Settings,
    clock: Callable[[], float] = monotonic,
    now: Callable[[], float] = time,
) -> Keys:
    """Read the keys from the settings' file or text.

    Raises: ``KeysError``.
    """
    defaults = RateLimits(
        settings.key_requests_per_second, settings.key_burst, settings.key_concurrent
    )
    if settings.keys_file:
        file = KeysFile(settings.keys_file)
        keyring = Keyring(file.read(), defaults, clock, now)
        return Keys(keyring, KeysFileWatcher(file, keyring))
    if settings.keys:  # an empty text is none
        entries = read_entries(settings.keys.get_secret_value(), "GRADWIRE_KEYS")
        return Keys(Keyring(entries, defaults, clock, now), nullcontext())
    return Keys(None, nullcontext())
