"""What a request refers to by digest or name: looked up in one place, and missing all at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from gradwire_service.problems import Refusal

#: What is referred to: a tensor or program by its digest, or a program by its name.
ReferenceKind: TypeAlias = Literal["tensors", "programs", "names"]


class HasOwner(Protocol):
    """What has an owner, as a request has."""

    @property
    def owner(self) -> str:
        """A digest of the key that came with it."""


#: Gives what is held there under a digest or name: an array or a ``Program``, or None.
Find: TypeAlias = Callable[[ReferenceKind, str], Any]

is_digest = re.compile(r"sha256:[0-9a-f]{64}").fullmatch
#: None of these can be mistaken for a digest.
is_name = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}").fullmatch

#: Values of one request, a list of numbers being one; each takes a microsecond to read.
MOST_VALUES = 100_000

_DIGEST = is_digest, "sha256: and 64 hexadecimal digits in lower case"
#: What is a reference there, and in words.
FORMS: dict[ReferenceKind, tuple[Callable[[str], object], str]] = {
    "tensors": _DIGEST,
    "programs": _DIGEST,
    "names": (is_name, "a letter or digit, then up to 127 letters, digits and . _ -"),
}


def _nothing(_: ReferenceKind, __: str) -> None:
    """Where nothing is held."""


class References:
    """The references of one request, and how many values it has.

    What is not held is remembered, until all are looked up.
    """

    __slots__ = ("_find", "_missing", "_values", "_whose")

    def __init__(self, find: Find = _nothing, whose: HasOwner | None = None) -> None:
        self._find = find
        self._whose = whose
        self._missing: dict[str, None] = {}
        self._values = 0

    def count(self, values: int) -> None:
        """Count what is about to be read.

        Raises: ``Refusal`` (over_budget) beyond ``MOST_VALUES``.
        """
        self._values += values
        if self._values > MOST_VALUES:
            raise Refusal(
                "over_budget",
                f"the request has more than {MOST_VALUES} values, not counting numbers in arrays",
                hint="send many numbers as one array: lists of nothing but numbers, or raw bytes",
            )

    def found(self, kind: ReferenceKind, reference: str) -> Any:
        """What is held under ``reference``, or None."""
        held = self._find(kind, reference)
        if held is None:
            self._missing[reference] = None
        return held

    def resident(self, ref: str) -> str:
        """The name under which the engine knows a tensor: of each owner another.

        Else the time that an answer takes would tell who else has the tensor.
        """
        return ref if self._whose is None else f"{ref} of {self._whose.owner}"

    def check(self) -> None:
        """Raise ``Refusal`` (unknown_ref) with all that is missing."""
        if self._missing:
            raise unknown_refs(list(self._missing))


def unknown_refs(missing: Sequence[str]) -> Refusal:
    """The refusal of references to what is not held."""
    return Refusal(
        "unknown_ref",
        f"{len(missing)} of the referenced programs and tensors are not stored here",
        hint="store the missing ones and retry, or send the program or the values themselves",
        missing=missing,
    )
