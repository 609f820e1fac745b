"""All families of attacks; an attack is determined by its family and a number."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.fleet.attacks import answers, bodies, graphs, requests, texts, work
from tests.fleet.attacks.attack import FAMILIES, Attack

#: Imported because each module registers its families.
MODULES = answers, bodies, graphs, requests, texts, work


def attacks(name: str) -> list[Attack]:
    """All attacks of a family."""
    count, _ = FAMILIES[name]
    return [_made(name, number) for number in range(count)]


def drawn(seed: int | str) -> Iterator[Attack]:
    """Endless random attacks of all families and sizes."""
    choose = random.Random(seed)
    names = sorted(FAMILIES)
    while True:
        yield _made(choose.choice(names), choose.randrange(1_000_000))


def _made(name: str, number: int) -> Attack:
    _, write = FAMILIES[name]
    return write(number, random.Random(f"{name} {number}"))
