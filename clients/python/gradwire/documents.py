"""Parts of answers as objects: dataclasses that are read by the types of their fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from datetime import datetime
from functools import lru_cache
from types import NoneType
from typing import Any, Self, get_args, get_origin, get_type_hints


class Document:
    """A dataclass whose fields are the members of a document.

    Members that this version does not know are left out. One that is missing or null has its
    field's default, or is ``None`` where the field may be.
    """

    __slots__ = ()

    @classmethod
    def read(cls, document: Mapping[str, Any], **given: Any) -> Self:
        """The object that a document describes; fields that are ``given`` are not in it."""
        kind: Any = cls
        for name, read, optional, has_default in _members(kind):
            value = document.get(name)
            if name in given or (value is None and has_default):
                continue
            if value is None and not optional:
                value = document[name]
            given[name] = value if read is None or (value is None and optional) else read(value)
        return cls(**given)

    @classmethod
    def of(cls, reply: Any) -> Self:
        """The object that the document of a reply describes."""
        return cls.read(reply.document)


@lru_cache(maxsize=64)
def _members(kind: Any) -> list[tuple[str, Callable[[Any], Any] | None, bool, bool]]:
    """Of each field its name and how it is read; whether it may be ``None``; has a default."""
    hints = get_type_hints(kind)
    return [
        (
            field.name,
            _reader(hints[field.name]),
            hints[field.name] is Any or NoneType in get_args(hints[field.name]),
            field.default is not MISSING or field.default_factory is not MISSING,
        )
        for field in fields(kind)
    ]


def _reader(hint: Any) -> Callable[[Any], Any] | None:
    """The function that reads a value of this type, if it is not taken as it is."""
    inner = [option for option in get_args(hint) if option is not NoneType]
    if NoneType in get_args(hint):
        return _reader(inner[0])
    kind = get_origin(hint) or hint
    if kind is tuple:
        each = _reader(inner[0])
        return tuple if each is None else lambda items: tuple(map(each, items))
    if kind in (Any, bool, int, str) or issubclass(kind, Mapping):
        return None
    if issubclass(kind, Document):
        read: Callable[[Any], Any] = kind.read
        return read
    if kind.__module__ == "numpy":  # its dtype; errors, which are documents, do not import NumPy
        from gradwire.bfloat16 import dtype_of  # noqa: PLC0415 - see above

        return dtype_of
    return datetime.fromisoformat if kind is datetime else kind  # such as float
