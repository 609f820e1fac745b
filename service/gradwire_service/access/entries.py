"""Entries of a key file: digests, never keys."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from gradwire_service.access.rules import Scope
from gradwire_service.access.tokens import ID_PATTERN
from gradwire_service.settings.errors import StartupError

_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
#: Largest key file.
MOST_BYTES = 16 << 20


class KeysError(StartupError):
    """An invalid key file; the message gives the place, but not the content."""


class KeyEntry(BaseModel):
    """One key: its tenant, scopes, rate limits and expiry."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=f"^{ID_PATTERN}$")
    name: str = Field(pattern=_NAME)
    tenant: str = Field(pattern=_NAME)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    scopes: Annotated[frozenset[Scope], Field(min_length=1)]
    requests_per_second: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    burst: int | None = Field(default=None, ge=0)
    concurrent: int | None = Field(default=None, ge=0)
    expires_at: AwareDatetime | None = None


_ENTRIES = TypeAdapter(list[KeyEntry])


def read_entries(text: str | bytes, place: str) -> list[KeyEntry]:
    """Read the entries of a key file in JSON.

    Raises: ``KeysError``, which names the ``place`` and the entry.
    """
    if len(text) > MOST_BYTES:
        raise KeysError(f"{place}: key file has more than {MOST_BYTES} bytes")
    try:
        document = json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise KeysError(f"{place}: not JSON: {error.msg} at {where}") from None
    except UnicodeDecodeError:
        raise KeysError(f"{place}: not JSON: not UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise KeysError(f"{place}: {_reason(error)}") from None
    try:
        entries = _ENTRIES.validate_python(document)
    except ValidationError as error:
        raise KeysError(f"{place}: {faults_of(error)}") from None
    seen: dict[str, int] = {}
    for number, entry in enumerate(entries):
        if entry.id in seen:
            raise KeysError(f"{place}: [{number}]: duplicate id of [{seen[entry.id]}]")
        seen[entry.id] = number
    return entries


def write_entries(entries: Sequence[KeyEntry]) -> str:
    """The key file in JSON, one entry per line."""
    lines = [write_entry(entry) for entry in entries]
    return "[\n" + ",\n".join(f"  {line}" for line in lines) + "\n]\n" if lines else "[]\n"


def write_entry(entry: KeyEntry) -> str:
    """One entry in JSON, without fields that default to the settings."""
    document = entry.model_dump(mode="json", exclude_none=True)
    return json.dumps(document | {"scopes": sorted(document["scopes"])})


class _DuplicateField(ValueError):
    """An object with a duplicate field."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _DuplicateField
    return found


def _reason(error: Exception) -> str:
    return "duplicate field" if isinstance(error, _DuplicateField) else "not a list of keys"


def faults_of(error: ValidationError) -> str:
    """The first few validation errors with their places, without the content."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    shown = [f"{_pointer(fault['loc'])}{fault['msg']}" for fault in faults[:3]]
    return "; ".join(shown) + ("; …" if len(faults) > len(shown) else "")


def _pointer(location: tuple[int | str, ...]) -> str:
    """The place in the list: ``[3].scopes.0: ``."""
    parts = [f"[{part}]" if type(part) is int else str(part)[:40] for part in location[:1]]
    parts += [f".{str(part)[:40]}" for part in location[1:]]
    return "".join(parts) + ": " if parts else ""
