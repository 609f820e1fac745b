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


class Recipe(NamedTuple):
    """The request that made a tape, from which any process can make it again."""

    media_type: str
    body: bytes
    persistent: bool


class Held(NamedTuple):
    """A recipe that is held; None once its tape is used up."""

    recipe: Recipe | None
    expires_at: float


class Quota(NamedTuple):
    """How many tapes are held, with how many bytes of recipes, and for how long after a use."""

    tapes: int
    nbytes: int
    ttl_seconds: float


class TapeStore(ABC):
    """Recipes by unguessable tokens. Thread-safe; times are of ``clock``, in seconds."""

    def __init__(self, quota: Quota, clock: Callable[[], float] = time.time) -> None:
        self._quota = quota
        self._clock = clock

    @abstractmethod
    def add(self, recipe: Recipe) -> tuple[str, float]:
        """Keep ``recipe``; gives its token and when it expires.

        Raises: ``Refusal`` (over_budget).
        """

    @abstractmethod
    def find(self, token: str) -> Held | None:
        """What is held under ``token``, which from now on is held for its whole time again."""

    @abstractmethod
    def consume(self, token: str) -> bool:
        """Drop the recipe but remember the token; true for the one caller who did."""

    @abstractmethod
    def remove(self, token: str) -> bool:
        """Forget ``token``; whether there was something to forget."""

    @abstractmethod
    def close(self) -> None:
        """Give back what the store has open."""

    def _token(self) -> str:
        return secrets.token_urlsafe(_TOKEN_BYTES)

    def _check_quota(self, tapes: int, held_bytes: int, recipe: Recipe) -> None:
        """Refuse one more tape where there are ``tapes`` of ``held_bytes`` already."""
        hint = "delete tapes that are not needed any more, or wait until they expire"
        if tapes >= self._quota.tapes:
            raise Refusal("over_budget", f"{tapes} tapes are held, no more are", hint=hint)
        if held_bytes + len(recipe.body) > self._quota.nbytes:
            detail = (
                f"all tapes together may have {self._quota.nbytes} bytes of programs and values"
            )
            raise Refusal("over_budget", detail, hint=hint)
