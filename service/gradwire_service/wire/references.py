"""References of a request, by digest or name; all missing ones are reported together."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from gradwire_service.problems import RequestError

#: A tensor or program by its digest, or a program by its name.
ReferenceKind: TypeAlias = Literal["tensors", "programs", "names"]


class HasOwner(Protocol):
    """Anything with an owner, such as a request."""

    @property
    def owner(self) -> str:
        """The digest that the owner's records are stored under."""


#: Looks up a digest or name: an array or a ``Program``, or None.
Find: TypeAlias = Callable[[ReferenceKind, str], Any]

is_digest = re.compile(r"sha256:[0-9a-f]{64}").fullmatch
#: An array of an answer has an id of its own.
is_result = re.compile(r"result:[A-Za-z0-9_-]{32}").fullmatch
#: A name cannot be mistaken for a digest.
is_name = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}").fullmatch

#: Maximum values of one request; a list of numbers is one. Each takes 1 µs to read.
MOST_VALUES = 100_000

_DIGEST = "sha256: and 64 hexadecimal digits in lower case"
#: The form of each kind of reference: a check, and a description.
FORMS: dict[ReferenceKind, tuple[Callable[[str], object], str]] = {
    "tensors": (
        lambda reference: is_digest(reference) or is_result(reference),
        f"{_DIGEST}, or that of a result: result: and 32 characters",
    ),
    "programs": (is_digest, _DIGEST),
    "names": (is_name, "a letter or digit, then up to 127 letters, digits and . _ -"),
}


def _nothing(_: ReferenceKind, __: str) -> None:
    """Finds nothing."""


class References:
    """The references of one request, and the number of its values.

    Missing references are collected until ``check`` reports them.
    """

    __slots__ = ("_find", "_found", "_missing", "_request", "_values", "takes_chunked")

    def __init__(self, find: Find = _nothing, request: HasOwner | None = None) -> None:
        self._find = find
        self._request = request
        #: The references that were asked for, in order.
        self._missing: dict[tuple[ReferenceKind, str], None] = {}
        self._found: dict[tuple[ReferenceKind, str], None] = {}
        self._values = 0
        #: Whether variables may refer to rows on a cluster.
        self.takes_chunked = False

    def count(self, values: int) -> None:
        """Count values that are about to be read.

        Raises: ``RequestError`` (over_budget) beyond ``MOST_VALUES``.
        """
        self._values += values
        if self._values > MOST_VALUES:
            raise RequestError(
                "over_budget",
                f"the request has more than {MOST_VALUES} values, not counting numbers in arrays",
                hint="send many numbers as one array: lists of nothing but numbers, or raw bytes",
            )

    def find(self, kind: ReferenceKind, reference: str) -> Any:
        """The array or program of a reference, or None."""
        held = self._find(kind, reference)
        (self._missing if held is None else self._found)[kind, reference] = None
        return held

    @property
    def used(self) -> bool:
        """True if the request refers to anything that is stored."""
        return bool(self._found)

    def resident(self, ref: str) -> str | None:
        """The engine's name of a tensor, different for each owner; None for a result.

        Otherwise response times would reveal which tensors other owners have. Results do not recur,
        so nothing is computed in advance from them.
        """
        if is_result(ref):
            return None
        return ref if self._request is None else f"{ref} of {self._request.owner}"

    def use_again(self) -> None:
        """Move on the expiry of all that was found.

        Raises: ``RequestError`` (store_unavailable).
        """
        for kind, reference in self._found:
            self._find(kind, reference)

    def check(self) -> None:
        """Raise ``RequestError`` (unknown_ref) with all missing references."""
        if self._missing:
            raise unknown_refs([*dict.fromkeys(reference for _, reference in self._missing)])


def unknown_refs(missing: Sequence[str]) -> RequestError:
    """The error for missing references."""
    return RequestError(
        "unknown_ref",
        f"{len(missing)} of the referenced programs and tensors are not stored here",
        hint="store the missing ones and retry, or send the program or the values themselves",
        missing=missing,
    )
