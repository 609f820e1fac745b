"""Requests as values: a document to send and a function that reads the reply. No I/O here."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import httpx

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Reply:
    """A successful answer: its document, if it has one, and the response that carried it."""

    document: Any
    response: httpx.Response


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A request that may be sent any number of times, and the reading of its reply."""

    method: str
    path: str
    #: The body, if the method has one: in most cases a mapping.
    document: Any
    read: Callable[[Reply], T]
    #: The program's text, for the line that an error shows.
    source: str | None = None
    #: The encoded document, if it has been encoded already.
    content: bytes | None = None

    def __iter__(self) -> Generator[Call[T], Any, T]:
        """A single step: ``answer = yield from call`` has the type that the reply reads as."""
        answer: T = yield self
        return answer
