"""The store of a service for which none was named: a file of the user who runs it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from gradwire_service.settings.environment import is_blank

_VARIABLE = "GRADWIRE_STORE"


def own_store(environment: Mapping[str, str]) -> tuple[str, str | None]:
    """Its address, and why it is in memory if it is.

    Source: the XDG base directory specification, 0.8, ``XDG_STATE_HOME``.
    """
    given = environment.get("XDG_STATE_HOME", "")
    home = environment.get("HOME", "")
    state = Path(given) if Path(given).is_absolute() else Path(home) / ".local" / "state"
    folder = state / "gradwire"
    if not folder.is_absolute():
        return "memory:", "there is no home folder"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        return "memory:", f"{folder} cannot be made: {error.strerror}"
    if not os.access(folder, os.W_OK | os.X_OK):
        return "memory:", f"{folder} cannot be written"
    return f"local:{folder / 'store.sqlite3'}", None


def is_named(options: Mapping[str, str], environment: Mapping[str, str]) -> bool:
    """True if options or the environment name a store."""
    given = options.get("store", ""), environment.get(_VARIABLE, "")
    return not all(map(is_blank, given))
