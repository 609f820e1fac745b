"""Seconds of service by owner: whoever has had least comes first."""

from __future__ import annotations

from collections import Counter

#: Maximum owners remembered that are not present.
_MOST_ABSENT = 10_000


class Shares:
    """The seconds that each owner has been served, by start-time fair queueing.

    An owner that comes begins where the one stands that was served last: being away saves nothing
    up. One that goes keeps what it has had beyond that, so that coming back wins nothing either.
    Source: P. Goyal, H. M. Vin and H. Cheng, "Start-time fair queueing", SIGCOMM 1996.
    """

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._present = Counter[str]()
        #: The seconds of the owner served last, when its turn came.
        self._now = 0.0

    def enter(self, owner: str) -> None:
        """Have an owner take part, once more if it does already."""
        if not self._present[owner]:
            self._seconds[owner] = max(self._seconds.get(owner, 0.0), self._now)
        self._present[owner] += 1

    def leave(self, owner: str) -> None:
        """End what ``enter`` began."""
        self._present[owner] -= 1
        if not self._present[owner]:
            del self._present[owner]
            if len(self._seconds) > len(self._present) + _MOST_ABSENT:
                self._forget()

    def of(self, owner: str) -> float:
        """The seconds of an owner, which compare with those of others alone."""
        return self._seconds.get(owner, self._now)

    def serve(self, owner: str, seconds: float) -> None:
        """Serve an owner for about so many seconds."""
        self._now = max(self._now, self._seconds[owner])
        self._seconds[owner] += seconds

    def correct(self, owner: str, seconds: float) -> None:
        """Add to what ``serve`` has counted, once it is known better."""
        self._seconds[owner] += seconds

    def _forget(self) -> None:
        """Forget those who are not present, if possible only those without a debt."""
        absent = {owner: had for owner, had in self._seconds.items() if owner not in self._present}
        without = [owner for owner, had in absent.items() if had <= self._now]
        for owner in without or sorted(absent, key=absent.__getitem__)[: len(absent) // 2]:
            del self._seconds[owner]
