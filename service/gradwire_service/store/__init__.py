"""What is kept between requests: the seam, and the store that the settings name."""

from gradwire_service.settings import Settings
from gradwire_service.store.memory import MemoryStore
from gradwire_service.store.sqlite import SqliteStore
from gradwire_service.store.tapes import Amount, Key, Quota, Recipe, TapeStore

__all__ = ["Key", "Recipe", "TapeStore", "open_store"]


def open_store(settings: Settings) -> TapeStore:
    """Open the store of ``settings.store``: ``memory:`` or ``sqlite:PATH``."""
    owned = Amount(settings.max_tapes_per_key, settings.max_tapes_bytes_per_key)
    everything = Amount(settings.max_tapes, settings.max_tapes_bytes)
    quota = Quota(owned, everything, settings.tape_ttl_seconds)
    scheme, _, path = settings.store.partition(":")
    return SqliteStore(path, quota) if scheme == "sqlite" else MemoryStore(quota)
