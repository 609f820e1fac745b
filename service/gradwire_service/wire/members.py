"""What a JSON parser does not refuse: a name that an object has twice, and far too many values.

A name that comes twice has no meaning that all parsers share (RFC 8259, section 4); orjson keeps
the last. Parsing again by a slower parser that tells would take many times as long, so members are
counted: each has a colon of its own, and all other colons stand in strings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from gradwire_service.problems import Refusal
from gradwire_service.wire.scanning import count

#: Lists, objects and strings in a large body; each may take thirty times its bytes in memory.
MOST_PARTS = 1_000_000
#: Bodies up to this size may have any number.
_SMALL_BYTES = 1 << 20
#: What lists are likely to have colons within, if it comes first.
_NESTED = frozenset((dict, str))
#: A colon that a string holds in disguise.
_ESCAPED_COLON = re.compile(rb"\\u003[aA]")


def check_size(body: bytes | bytearray) -> None:
    """Refuse a body that would take far more memory than its bytes.

    Raises: ``Refusal`` (over_budget).
    """
    if len(body) <= _SMALL_BYTES:
        return
    if count(body, b"[") + count(body, b"{") + count(body, b'"') // 2 > MOST_PARTS:
        detail = f"the body has more than {MOST_PARTS} lists, objects and strings"
        raise Refusal("over_budget", detail, hint="send arrays as raw bytes")


def check_members(body: bytes | bytearray, document: Any) -> None:
    """Refuse a body of which ``document`` was read, if an object in it has a name twice.

    Raises: ``Refusal`` (malformed_body).
    """
    colons = count(body, b":")
    escaped = b"\\" in body and b"\\u003" in body and _ESCAPED_COLON.search(body) is not None
    if not escaped and (
        colons == _outermost_colons(document)
        or colons == _colons(document)
        or colons == _colons(document, everywhere=True)
    ):
        return
    if len(body) <= _SMALL_BYTES:
        json.loads(body, object_pairs_hook=_refuse_repeated)
    elif escaped:
        raise Refusal("malformed_body", "so large a body must not write colons as \\u003a")
    else:
        raise Refusal("malformed_body", "an object has a duplicate name")


def _outermost_colons(document: Any) -> int:
    """Those of an object's members, of theirs, and of texts among them: most often all."""
    if type(document) is not dict:
        return 0
    found = len(document)
    for value in document.values():
        kind = type(value)
        if kind is dict:
            found += len(value)
        elif kind is str:
            found += value.count(":")
    return found


def _colons(document: Any, *, everywhere: bool = False) -> int:
    """Colons of members and in strings, fewer where lists hold any unless ``everywhere``.

    In lists that begin with a number or a list there rarely are, and they may be long.
    """
    found = 0
    pending = [document]
    for value in pending:  # which grows meanwhile
        kind = type(value)
        if kind is str:
            found += value.count(":")
        elif kind is dict:
            found += len(value) + "".join(value).count(":")
            pending += value.values()
        elif kind is list and (everywhere or (value and type(value[0]) in _NESTED)):
            pending += value
    return found


def _refuse_repeated(members: Iterable[tuple[str, Any]]) -> None:
    seen = set[str]()
    for name, _ in members:
        if name in seen:
            raise Refusal(
                "malformed_body", f"an object has the name {json.dumps(name)} more than once"
            )
        seen.add(name)
