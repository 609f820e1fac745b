"""The effort of a run: how many tests and examples it takes, and which.

``make test`` is quick: at most some cases of each test function, none of those marked
``thorough``. ``make test-all`` and continuous integration are thorough: every test, every case.
Without ``--effort``, pytest takes every test and case that it is given.

All of them draw the same few random examples in every run. ``make explore`` draws anew, from a seed
that it prints, for as long as it is told.
"""

import random
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import TypeVar

from hypothesis import settings

Item = TypeVar("Item")

EFFORTS = ("quick", "thorough", "whole")
#: Per cent of the examples that a test names.
EXAMPLES = 15
#: A quick run takes so many cases of a test function, or one in so many if these are more.
LEAST_CASES, ONE_IN = 1, 8

#: The effort of this run.
effort = "whole"
#: The number that a run's draws depend on, besides what they are drawn from.
seed = 0


def share(number: int, *, least: int = 3) -> int:
    """The number that a run tries of so many that a test names."""
    return max(least, number * EXAMPLES // 100)


def examples(number: int) -> settings:
    """Draw a share of so many examples."""
    return settings(max_examples=share(number))


def some(items: Sequence[Item], number: int | None = None) -> list[Item]:
    """A share of the items, or of so many of them, in their order."""
    most = len(items) if number is None else min(number, len(items))
    count = min(most, share(most, least=1))
    if count == len(items):
        return list(items)
    chosen = random.Random(f"{seed} {len(items)}").sample(range(len(items)), count)
    return [items[i] for i in sorted(chosen)]


def quick_cases(names: Iterable[str]) -> set[str]:
    """The tests that a quick run takes of these, by their ids.

    The digest of an id decides, so that a new case changes little of what is taken.
    """
    functions: dict[str, list[str]] = {}
    for name in names:
        functions.setdefault(name.split("[", 1)[0], []).append(name)
    return {
        name
        for cases in functions.values()
        for name in sorted(cases, key=_digest)[: max(LEAST_CASES, len(cases) // ONE_IN)]
    }


def _digest(name: str) -> bytes:
    return sha256(name.encode()).digest()
