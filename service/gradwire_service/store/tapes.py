"""The seam: how tapes are kept, wherever they are."""

from __future__ import annotations

import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

from gradwire_service.problems import Refusal

#: How long it is remembered that a tape was used up.
CONSUMED_SECONDS = 60.0
_TOKEN_BYTES = 24


class Key(NamedTuple):
    """Under what a tape is held: to all but its owner there is none of its token."""

    owner: str
    token: str


class Recipe(NamedTuple):
    """The request that made a tape, from which any process can make it again."""

    media_type: str
    body: bytes
    persistent: bool


class Held(NamedTuple):
    """A recipe that is held; None once its tape is used up."""

    recipe: Recipe | None
    expires_at: float


class Amount(NamedTuple):
    """A number of tapes, and the bytes of their recipes."""

    tapes: int
    nbytes: int

    def plus(self, recipe: Recipe, count: int = 1) -> Amount:
        """The same with so many more tapes of a recipe."""
        return Amount(self.tapes + count, self.nbytes + count * len(recipe.body))


class Quota(NamedTuple):
    """How much is held of one owner and in all, and for how long after a use."""

    owned: Amount
    all: Amount
    ttl_seconds: float


class TapeStore(ABC):
    """Recipes by unguessable tokens. Thread-safe; times are of ``clock``, in seconds."""

    def __init__(self, quota: Quota, clock: Callable[[], float] = time.time) -> None:
        self._quota = quota
        self._clock = clock

    @abstractmethod
    def add(self, owner: str, recipe: Recipe) -> tuple[Key, float]:
        """Keep ``recipe``; gives its key and when it expires.

        Raises: ``Refusal`` (over_budget).
        """

    @abstractmethod
    def find(self, key: Key) -> Held | None:
        """What is held under ``key``, which from now on is held for its whole time again."""

    @abstractmethod
    def consume(self, key: Key) -> bool:
        """Drop the recipe but remember the key; true for the one caller who did."""

    @abstractmethod
    def remove(self, key: Key) -> bool:
        """Forget ``key``; whether there was something to forget."""

    @abstractmethod
    def close(self) -> None:
        """Give back what the store has open."""

    def _key(self, owner: str) -> Key:
        return Key(owner, secrets.token_urlsafe(_TOKEN_BYTES))

    def _check_quota(self, owned: Amount, held: Amount, recipe: Recipe) -> None:
        """Refuse one more tape of an owner who has so much, where so much is held in all."""
        for whose, now, most in (
            ("the tapes of your key", owned, self._quota.owned),
            ("all tapes", held, self._quota.all),
        ):
            after = now.plus(recipe)
            if after.tapes > most.tapes or after.nbytes > most.nbytes:
                raise Refusal(
                    "over_budget",
                    f"{whose} would be {after.tapes} with {after.nbytes} bytes of programs and "
                    f"values: {most.tapes} and {most.nbytes} are kept",
                    hint="delete tapes that are not needed any more, or wait until they expire",
                )
