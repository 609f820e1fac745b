"""Settings that nobody need set: they follow from others, or have a value that suits all."""

from __future__ import annotations

from typing import Any

from pydantic import Field
from pydantic.fields import FieldInfo

_KEY = "derived from"


def derived(source: str = "", **field: Any) -> Any:
    """A setting that follows from ``source``, the name of another one, or from nothing.

    One that is set all the same is used in this version, with a warning.
    """
    return Field(json_schema_extra={_KEY: source}, **field)


def source_of(field: FieldInfo) -> str | None:
    """The setting that one follows from, empty if its value is fixed; None if it is to be set."""
    extra = field.json_schema_extra
    return str(extra[_KEY]) if isinstance(extra, dict) and _KEY in extra else None
