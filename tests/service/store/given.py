"""Policies, records and helpers for the store tests."""

import secrets
from contextlib import contextmanager

import pytest
from gradwire_service.problems import RequestError
from gradwire_service.store import Key, Kind, Record
from gradwire_service.store.quotas import Amount, Policy
from gradwire_service.store.records import CONSUMED_SECONDS
from gradwire_service.store.redis import RedisStore

OWNED, ALL, TTL = Amount(3, 300), Amount(5, 400), 10
POLICIES: dict[Kind, Policy] = {
    "tapes": Policy(OWNED, ALL, TTL),
    "programs": Policy(OWNED, ALL),
    "names": Policy(OWNED, ALL),
    "tensors": Policy(OWNED, ALL, TTL, evicts=True),
    "used": Policy(OWNED, ALL, CONSUMED_SECONDS, evicts=True),
}
KINDS: tuple[Kind, ...] = ("tapes", "programs", "names", "tensors")
#: Quotas larger than any test needs.
MANY = Amount(10_000, 1 << 30)
PLENTY = {kind: Policy(MANY, MANY, *policy[2:]) for kind, policy in POLICIES.items()}
#: A record of 100 bytes.
RECORD = Record('{"π": 1}', b"\x00\xff" * 45 + b"x")
ME, YOU = "me", "you"


def key(id="a", owner=ME, kind="tapes"):
    return Key(kind, owner, id)


def of_size(nbytes):
    return Record("", b"x" * nbytes)


def in_redis(url, policies, now=None):
    """A store with its own prefix in a shared Redis."""
    prefix = f"test-{secrets.token_hex(8)}"
    return RedisStore(url, policies, prefix=prefix, timeout_seconds=600, now=now)


def kept(store, key):
    """The head and body of a stored record."""
    held = store.find(key)
    return held and held[:2]


def ids(store, kind, owner=ME):
    return [record.id for record in store.list_records(kind, owner, "", 100)]


def unavailable(work):
    """The detail of a retryable error."""
    with pytest.raises(RequestError) as refusal:
        work()
    assert refusal.value.code == "store_unavailable"
    assert refusal.value.retry_after_seconds == 1
    return refusal.value.detail


def refused(store, key, record=RECORD):
    with pytest.raises(RequestError) as refusal:
        store.put(key, record)
    assert refusal.value.code == "over_budget"
    return refusal.value.detail


@contextmanager
def opened(url, policies=PLENTY, **options):
    """A store in Redis that waits for it as long as it takes, by default."""
    patient = {"connect_seconds": 600, "timeout_seconds": 600}
    store = RedisStore(url, policies, **patient | options)
    try:
        yield store
    finally:
        store.close()
