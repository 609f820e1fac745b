"""Going through what may be long while looking at the deadline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeVar

Item = TypeVar("Item")

#: So many items are gone through between two looks: with work of 20 µs for each, 10 ms.
PIECE = 512


def polled(items: Sequence[Item], poll: Callable[[], None]) -> Iterable[Item]:
    """The items in their order; ``poll`` is called before every so many of them.

    Few ones are given as they are, and of more each costs no more than in a list.
    """
    return items if len(items) <= PIECE else chain.from_iterable(_pieces(items, poll))


def _pieces(items: Sequence[Item], poll: Callable[[], None]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), PIECE):
        poll()
        yield items[start : start + PIECE]


def no_deadline() -> None:
    """A poll that never stops anything: of work that is known to be short."""
