"""Seconds of service by tenant: whoever has had least comes first."""

from __future__ import annotations

from collections import Counter

#: Maximum tenants remembered that are not present.
_MOST_ABSENT = 10_000


class Shares:
    """The seconds that each tenant has been served, by start-time fair queueing.

    A tenant that comes begins where the one stands that was served last: being away saves nothing
    up. One that goes keeps what it has had beyond that, so that coming back wins nothing either.
    Source: P. Goyal, H. M. Vin and H. Cheng, "Start-time fair queueing", SIGCOMM 1996.
    """

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._present = Counter[str]()
        #: The seconds of the tenant served last, when its turn came.
        self._now = 0.0

    def enter(self, tenant: str) -> None:
        """Have a tenant take part, once more if it does already."""
        if not self._present[tenant]:
            self._seconds[tenant] = max(self._seconds.get(tenant, 0.0), self._now)
        self._present[tenant] += 1

    def leave(self, tenant: str) -> None:
        """End what ``enter`` began."""
        self._present[tenant] -= 1
        if not self._present[tenant]:
            del self._present[tenant]
            if len(self._seconds) > len(self._present) + _MOST_ABSENT:
                self._forget()

    def of(self, tenant: str) -> float:
        """The seconds of a tenant, which compare with those of others alone."""
        return self._seconds.get(tenant, self._now)

    def is_due(self, tenant: str) -> bool:
        """True if a tenant has had no more than any other that is served."""
        return self.of(tenant) <= self._now

    def serve(self, tenant: str, seconds: float) -> None:
        """Serve a tenant for about so many seconds."""
        self._now = max(self._now, self._seconds[tenant])
        self._seconds[tenant] += seconds

    def correct(self, tenant: str, seconds: float) -> None:
        """Add to what ``serve`` has counted, once it is known better."""
        self._seconds[tenant] += seconds

    def _forget(self) -> None:
        """Forget those who are not present, if possible only those without a debt."""
        absent = {
            tenant: had for tenant, had in self._seconds.items() if tenant not in self._present
        }
        without = [tenant for tenant, had in absent.items() if had <= self._now]
        for tenant in without or sorted(absent, key=absent.__getitem__)[: len(absent) // 2]:
            del self._seconds[tenant]
