"""What is kept between requests: the seam, and the store that the settings name."""

from gradwire_service.settings import Settings
from gradwire_service.store.memory import MemoryStore
from gradwire_service.store.records import (
    CONSUMED_SECONDS,
    Amount,
    Held,
    Key,
    Kind,
    NotOpened,
    Policy,
    Record,
    Store,
    Unavailable,
)
from gradwire_service.store.sqlite import SqliteStore

__all__ = [
    "Held",
    "Key",
    "Kind",
    "NotOpened",
    "Record",
    "Store",
    "Unavailable",
    "open_store",
    "policies",
]

#: So many times the tapes that are kept may be used up before it is forgotten that they were.
_USED_PER_TAPE = 10


def open_store(settings: Settings) -> Store:
    """Open the store of ``settings.store``: ``memory:``, ``sqlite:PATH``, or a Redis' address.

    Raises: ``NotOpened`` for a file; a Redis need not be there yet.
    """
    scheme, _, path = settings.store.partition(":")
    kept = policies(settings)
    if scheme == "memory":
        return MemoryStore(kept)
    if scheme == "sqlite":
        return SqliteStore(path, kept)
    from gradwire_service.store.redis import RedisStore  # who has no Redis need not load its client

    return RedisStore(
        settings.store,
        kept,
        prefix=settings.store_prefix,
        connect_seconds=settings.store_connect_seconds,
        timeout_seconds=settings.store_timeout_seconds,
    )


def policies(settings: Settings) -> dict[Kind, Policy]:
    """How much of each kind is kept, and how long."""
    s = settings
    programs = Policy(
        owned=Amount(s.max_programs_per_tenant, s.max_programs_bytes_per_tenant),
        all=Amount(s.max_programs, s.max_programs_bytes),
    )
    tapes = Policy(
        owned=Amount(s.max_tapes_per_tenant, s.max_tapes_bytes_per_tenant),
        all=Amount(s.max_tapes, s.max_tapes_bytes),
        ttl_seconds=s.tape_ttl_seconds,
    )
    used = Policy(
        owned=tapes.owned._replace(records=_USED_PER_TAPE * tapes.owned.records),
        all=tapes.all._replace(records=_USED_PER_TAPE * tapes.all.records),
        ttl_seconds=CONSUMED_SECONDS,
        yields=True,
    )
    return {
        "tapes": tapes,
        "used": used,
        "programs": programs,
        "names": programs,
        "tensors": Policy(
            owned=Amount(s.max_tensors_per_tenant, s.max_tensors_bytes_per_tenant),
            all=Amount(s.max_tensors, s.max_tensors_bytes),
            ttl_seconds=s.tensor_ttl_seconds,
            yields=True,
        ),
    }
