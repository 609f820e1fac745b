"""The list of keys that an operator writes: digests, never keys."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from gradwire_service.access.rules import Scope
from gradwire_service.access.tokens import ID_PATTERN
from gradwire_service.settings.starting import NotStarted

_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
#: A file of so many bytes is no list of keys.
MOST_BYTES = 16 << 20


class KeysError(NotStarted):
    """A list of keys that cannot be used; its text says where, and nothing that stands there."""


class KeyEntry(BaseModel):
    """One key: whose it is, what it may do, how often, and how long."""

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
    """The keys of a list in JSON.

    Raises: ``KeysError``, which names the ``place`` and the entry.
    """
    if len(text) > MOST_BYTES:
        raise KeysError(f"{place}: more than {MOST_BYTES} bytes are no list of keys")
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
            raise KeysError(f"{place}: [{number}]: has the id of [{seen[entry.id]}]")
        seen[entry.id] = number
    return entries


def write_entries(entries: Sequence[KeyEntry]) -> str:
    """The list in JSON, an entry a line."""
    lines = [write_entry(entry) for entry in entries]
    return "[\n" + ",\n".join(f"  {line}" for line in lines) + "\n]\n" if lines else "[]\n"


def write_entry(entry: KeyEntry) -> str:
    """One entry in JSON, without what it leaves to the settings."""
    document = entry.model_dump(mode="json", exclude_none=True)
    return json.dumps(document | {"scopes": sorted(document["scopes"])})


class _DuplicateField(ValueError):
    """A field that an object has twice."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _DuplicateField
    return found


def _reason(error: Exception) -> str:
    return "a field comes twice" if isinstance(error, _DuplicateField) else "not a list of keys"


def faults_of(error: ValidationError) -> str:
    """What is wrong and where, the first few, without what stands there."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    told = [f"{_pointer(fault['loc'])}{fault['msg']}" for fault in faults[:3]]
    return "; ".join(told) + ("; …" if len(faults) > len(told) else "")


def _pointer(location: tuple[int | str, ...]) -> str:
    """Where in the list: ``[3].scopes.0: ``."""
    parts = [f"[{part}]" if type(part) is int else str(part)[:40] for part in location[:1]]
    parts += [f".{str(part)[:40]}" for part in location[1:]]
    return "".join(parts) + ": " if parts else ""
