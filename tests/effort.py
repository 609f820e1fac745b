"""The effort of a run: a quick one draws some of what a thorough one goes through.

``make test-all`` runs with ``--hypothesis-profile=thorough``, continuous integration with
``third``, which draws a third as much, and long tests with ``half``. What a run draws is decided by
its seed, which pytest prints.
"""

import random
from collections.abc import Sequence
from typing import TypeVar

from hypothesis import settings

Item = TypeVar("Item")

#: The number that a run's draws depend on, besides what they are drawn from.
seed: int | str = 0


def share(number: int, *, least: int = 3) -> int:
    """The number that this run tries of so many that a thorough run does."""
    profile = settings().max_examples
    return max(least, number * profile // 100)


def examples(number: int) -> settings:
    """Draw so many examples in a thorough run, and fewer in a quick one."""
    return settings(max_examples=share(number))


def some(items: Sequence[Item], number: int | None = None) -> list[Item]:
    """So many of the items, or all, in a thorough run; fewer in a quick one, in their order."""
    count = min(len(items), share(len(items) if number is None else number, least=1))
    if count == len(items):
        return list(items)
    chosen = random.Random(f"{seed} {len(items)}").sample(range(len(items)), count)
    return [items[i] for i in sorted(chosen)]
