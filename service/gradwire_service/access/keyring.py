"""The API keys that are valid, by their public ids."""

from __future__ import annotations

import hmac
import math
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from time import monotonic, time
from typing import NamedTuple

from gradwire_service.access.entries import KeyEntry
from gradwire_service.access.rates import RateLimiter, RateLimits
from gradwire_service.access.rules import Scope
from gradwire_service.access.tokens import Token

#: Compared with unknown keys, so that these take as long as others.
_NO_DIGEST = bytes(32)
#: Prefix of a tenant's name: headers contain no NUL, so no Authorization header has this digest.
_NAMESPACE = b"gradwire tenant\0"


class Caller(NamedTuple):
    """The caller of a request; ``owner`` is the id that the tenant's records are stored under."""

    tenant: str
    key: str
    owner: str


class ApiKey(NamedTuple):
    """A key with its scopes, expiry and rate limiter."""

    caller: Caller
    digest: bytes
    scopes: frozenset[Scope]
    expires_at: float
    limiter: RateLimiter


class Keyring:
    """Identifies keys. A new list replaces the old one as a whole, or not at all."""

    def __init__(
        self,
        entries: Sequence[KeyEntry],
        defaults: RateLimits = RateLimits(),  # noqa: B008 - immutable
        clock: Callable[[], float] = monotonic,
        now: Callable[[], float] = time,
    ) -> None:
        self._defaults = defaults
        self._clock, self._now = clock, now
        #: Keys by id; a new dictionary with each change.
        self.keys: Mapping[str, ApiKey] = {}
        #: Whether a newer list cannot be read: keys that it revokes are still valid here.
        self.stale = False
        self.replace(entries)

    def identify(self, token: Token) -> ApiKey | None:
        """The key of a token; None if it is unknown, wrong or expired."""
        key = self.keys.get(token.id)
        digest = _NO_DIGEST if key is None else key.digest
        same = hmac.compare_digest(digest, token.digest)
        if key is None or not same or key.expires_at <= self._now():
            return None
        return key

    def replace(self, entries: Sequence[KeyEntry]) -> None:
        """Replace all keys; those that stay keep their counters."""
        self.keys = {entry.id: self._key(entry) for entry in entries}
        self.stale = False

    def _key(self, entry: KeyEntry) -> ApiKey:
        rates = _rates(entry, self._defaults)
        known = self.keys.get(entry.id)
        limiter = RateLimiter(rates, self._clock) if known is None else known.limiter
        limiter.limits = rates
        caller = Caller(entry.tenant, entry.name, owner_of(entry.tenant))
        expires_at = math.inf if entry.expires_at is None else entry.expires_at.timestamp()
        return ApiKey(caller, bytes.fromhex(entry.sha256), entry.scopes, expires_at, limiter)


def owner_of(tenant: str) -> str:
    """The id that a tenant's records are stored under."""
    return sha256(_NAMESPACE + tenant.encode()).hexdigest()


def _rates(entry: KeyEntry, defaults: RateLimits) -> RateLimits:
    """A key's own limits, or else the defaults."""
    per_second, burst, concurrent = defaults
    return RateLimits(
        per_second if entry.requests_per_second is None else entry.requests_per_second,
        burst if entry.burst is None else entry.burst,
        concurrent if entry.concurrent is None else entry.concurrent,
    )
