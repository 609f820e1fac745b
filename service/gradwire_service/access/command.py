"""``gradwire-server keys``: creates, revokes and lists keys."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gradwire_service.access.entries import (
    KeyEntry,
    KeysError,
    faults_of,
    read_entries,
    write_entries,
    write_entry,
)
from gradwire_service.access.rules import SCOPES
from gradwire_service.access.tokens import new_token, read_token
from gradwire_service.settings.environment import is_blank

#: A century: not every program reads later dates.
_MOST_DAYS = 36_500


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    commands = parser.add_subparsers(dest="action", required=True)
    new = commands.add_parser("new", help="create a key and print it once")
    new.add_argument("--tenant", required=True, help="owner of programs, tensors and tapes")
    new.add_argument("--name", required=True, help="name of the key")
    new.add_argument(
        "--scopes",
        type=_scopes,
        default=list(SCOPES[:1]),
        help=f"one or more of {','.join(SCOPES)}; {SCOPES[0]} by default",
    )
    new.add_argument("--requests-per-second", type=float, metavar="N", help="0 for no limit")
    new.add_argument("--burst", type=int, metavar="N", help="requests at once after a pause")
    new.add_argument("--concurrent", type=int, metavar="N", help="requests in flight")
    new.add_argument("--days", type=_days, metavar="N", help="lifetime; unlimited by default")
    new.add_argument("--file", type=Path, help="key file for the entry, else it is printed")
    revoke = commands.add_parser("revoke", help="remove keys from a key file")
    revoke.add_argument("ids", nargs="+", metavar="ID", help="id of a key, as shown by `keys list`")
    revoke.add_argument("--file", type=Path, help="the list; else that of GRADWIRE_KEYS_FILE")
    listing = commands.add_parser("list", help="list the keys of a key file, without secrets")
    listing.add_argument("--file", type=Path, help="the list; else that of GRADWIRE_KEYS_FILE")


def run(arguments: Namespace) -> None:
    """Run the command.

    Raises: ``KeysError``.
    """
    if arguments.action == "new":
        _new(arguments)
    elif arguments.action == "revoke":
        _revoke(arguments.ids, _named(arguments.file))
    else:
        _list(_named(arguments.file))


def _new(arguments: Namespace) -> None:
    token = new_token()
    entry = _entry(token, arguments)
    if arguments.file is None:
        sys.stdout.write(f"{token}\n")
        sys.stdout.write(f"{write_entry(entry)}\n")
        return
    entries = _entries(arguments.file) if arguments.file.exists() else []
    _replace(arguments.file, write_entries([*entries, entry]))
    sys.stdout.write(f"{token}\n")


def _entry(token: str, arguments: Namespace) -> KeyEntry:
    presented = read_token(token.encode())
    assert presented is not None
    given: dict[str, Any] = {
        name: getattr(arguments, name)
        for name in ("tenant", "name", "scopes", "requests_per_second", "burst", "concurrent")
    }
    if arguments.days is not None:
        end = datetime.now(UTC) + timedelta(days=arguments.days)
        given["expires_at"] = end.replace(microsecond=0)
    digest = sha256(token.encode()).hexdigest()
    try:
        return KeyEntry(id=presented.id, sha256=digest, **given)
    except ValidationError as error:
        raise KeysError(faults_of(error)) from None


def _named(file: Path | None) -> Path:
    named = os.environ.get("GRADWIRE_KEYS_FILE")
    file = Path(named) if file is None and named and not is_blank(named) else file
    if file is None:
        raise KeysError("no key file: use --file keys.json or set GRADWIRE_KEYS_FILE")
    return file


def _revoke(ids: Sequence[str], file: Path) -> None:
    entries = _entries(file)
    unknown = set(ids).difference(entry.id for entry in entries)
    if unknown:
        # The argument may be a whole key, so it is not repeated.
        raise KeysError(f"{file}: unknown id; `keys list` shows all ids")
    _replace(file, write_entries([entry for entry in entries if entry.id not in ids]))


def _list(file: Path) -> None:
    rows = [
        ("ID", "TENANT", "NAME", "SCOPES", "PER SECOND", "AT ONCE", "EXPIRES"),
        *map(_row, _entries(file)),
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        line = "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True))
        sys.stdout.write(line.rstrip() + "\n")


def _row(entry: KeyEntry) -> tuple[str, ...]:
    expires = "never" if entry.expires_at is None else entry.expires_at.isoformat()
    if entry.expires_at is not None and entry.expires_at <= datetime.now(UTC):
        expires += " (expired)"
    # Defaults from the settings are not listed.
    second, at_once = (
        "-" if figure is None else f"{figure:g}"
        for figure in (entry.requests_per_second, entry.concurrent)
    )
    scopes = ",".join(sorted(entry.scopes))
    return entry.id, entry.tenant, entry.name, scopes, second, at_once, expires


def _entries(file: Path) -> Sequence[KeyEntry]:
    try:
        return read_entries(file.read_bytes(), str(file))
    except OSError as error:
        raise KeysError(f"{file}: cannot be read: {error.strerror}") from None


def _replace(file: Path, text: str) -> None:
    """Replace a file atomically."""
    try:
        old = file.stat() if file.exists() else None
        mode = 0o600 if old is None else stat.S_IMODE(old.st_mode)
        with tempfile.NamedTemporaryFile("w", dir=file.parent, delete=False) as new:
            new.write(text)
        try:
            if old is not None and (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
                os.chown(new.name, old.st_uid, old.st_gid)  # for a server that runs as that user
            Path(new.name).chmod(mode)
            Path(new.name).replace(file)
        except OSError:
            Path(new.name).unlink()
            raise
    except OSError as error:
        raise KeysError(f"{file}: cannot be written: {error.strerror}") from None


def _days(text: str) -> float:
    with suppress(ValueError):
        if 0 < (days := float(text)) <= _MOST_DAYS:
            return days
    raise ArgumentTypeError(f"days must be a number above 0, up to {_MOST_DAYS}")


def _scopes(text: str) -> list[str]:
    scopes = text.split(",")
    for scope in scopes:
        if scope not in SCOPES:
            raise ArgumentTypeError(f"scopes must be of {', '.join(SCOPES)}, separated by commas")
    return scopes
