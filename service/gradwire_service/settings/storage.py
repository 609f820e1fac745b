"""Stored tapes, programs and tensors: where, how many and for how long."""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, Field

from gradwire_service.settings.derived import derived
from gradwire_service.settings.memory import (
    LOCAL_CACHE,
    TAPE_VALUES,
    StoreBytes,
    TenantShare,
    default_store_bytes,
)
from gradwire_service.settings.units import CENTURY_SECONDS, Size

_FORMS = re.compile(r"memory:|local:.+|sqlite:.+|rediss?://.+|unix://.+")


def _address(store: str) -> str:
    """Check an address; it may hold a password, so errors do not quote it."""
    if not _FORMS.fullmatch(store):
        raise ValueError(
            "must be memory:, local:PATH, sqlite:PATH, redis://…, rediss://… or unix://PATH"
        )
    if not store.startswith("redis"):
        return store
    try:
        parts = urlsplit(store)
        _ = parts.port
    except ValueError:
        raise ValueError(
            "has an invalid port, or a user or password whose special characters are not "
            "percent-encoded"
        ) from None
    if not re.fullmatch(r"/?|/\d+", parts.path):  # the client would take database 0
        raise ValueError("must end with the number of a database, like redis://host:6379/0")
    return store


def redacted_address(store: str) -> str:
    """The address of a store for logs: without user, password and query."""
    if "://" not in store:
        return store
    parts = urlsplit(store)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


class StorageSettings(BaseModel):
    """Stored tapes, programs and tensors: where, how many and for how long."""

    store: Annotated[str, AfterValidator(_address)] = Field(
        default="memory:",
        repr=False,
        description="Where tapes, programs, tensors and jobs are stored: memory:; sqlite:PATH, a "
        "file that survives restarts and that processes on one machine may share; local:PATH, the "
        "same with results by reference in memory; or a Redis that replicas share, "
        "redis://[user:password@]host:port/db, rediss:// for TLS, unix://PATH. By default "
        "`gradwire-server` has local: with a file below `$XDG_STATE_HOME` (`~/.local/state`), or "
        "memory: where it cannot write that.",
    )

    @property
    def shares_store(self) -> bool:
        """True if replicas on other machines may have the same store."""
        return not self.store.startswith(("memory:", "local:", "sqlite:"))

    store_bytes: Size = Field(
        default_factory=default_store_bytes,
        ge=0,
        description="Most bytes of all records. A Redis with less memory refuses new ones before "
        "these limits do.",
    )
    tenants: int = Field(
        default=2,
        gt=0,
        description="Number of tenants whose quotas fit in the store together; each quota is its "
        "limit divided by this number, or less. If it is not set, a tenant also leaves as much of "
        "the store free as it has.",
    )
    store_prefix: str = Field(
        default="gradwire",
        pattern=r"^[\w.-]+$",
        description="Prefix of the keys in Redis; services that share a Redis need different ones.",
    )
    store_connect_seconds: float = derived(
        default=0.5, gt=0, le=10, description="Timeout of connecting to Redis."
    )
    store_timeout_seconds: float = derived(
        default=1.0,
        gt=0,
        le=10,
        description="Timeout of sending a command to Redis and of its answer. After a timeout, "
        "requests that need Redis are refused at once until it answers again.",
    )
    tape_ttl_seconds: float = Field(
        default=600,
        gt=0,
        le=CENTURY_SECONDS,
        description="How long a tape is stored after its last use.",
    )
    max_tapes: int = derived(default=10_000, ge=0, description="Most stored tapes.")
    max_tapes_bytes: Size = derived(
        "store_bytes",
        default_factory=StoreBytes("max_tapes_bytes"),
        ge=0,
        description="Most bytes of the requests that recorded tapes.",
    )
    max_tapes_per_tenant: int = derived(
        "tenants",
        default_factory=TenantShare("max_tapes", 10),
        ge=0,
        description="Most stored tapes of a tenant; without keys, of an Authorization header.",
    )
    max_tapes_bytes_per_tenant: Size = derived(
        "tenants",
        default_factory=TenantShare("max_tapes_bytes"),
        ge=0,
        description="The same for the tapes of a tenant.",
    )
    tape_values_bytes: Size = derived(
        "memory_bytes",
        default_factory=TAPE_VALUES,
        ge=0,
        description="Most bytes of tapes' values that a process caches, so that it replays only "
        "what depends on the request.",
    )
    max_programs: int = derived(default=10_000, ge=0, description="Most stored programs.")
    max_programs_bytes: Size = derived(
        "store_bytes",
        default_factory=StoreBytes("max_programs_bytes"),
        ge=0,
        description="Most bytes of the sources of programs.",
    )
    max_programs_per_tenant: int = derived(
        "tenants",
        default_factory=TenantShare("max_programs", 10),
        ge=0,
        description="Most stored programs of a tenant, and most names.",
    )
    max_programs_bytes_per_tenant: Size = derived(
        "tenants",
        default_factory=TenantShare("max_programs_bytes"),
        ge=0,
        description="The same for the programs of a tenant.",
    )
    tensor_ttl_seconds: float = Field(
        default=3600,
        gt=0,
        le=CENTURY_SECONDS,
        description="How long a tensor is stored after its last use.",
    )
    max_tensors: int = derived(
        default=10_000,
        ge=0,
        description="Most stored tensors; above it, a tenant's new ones replace its own oldest.",
    )
    max_tensors_bytes: Size = derived(
        "store_bytes",
        default_factory=StoreBytes("max_tensors_bytes"),
        ge=0,
        description="Most bytes of tensors.",
    )
    max_tensors_per_tenant: int = derived(
        "tenants",
        default_factory=TenantShare("max_tensors", 10),
        ge=0,
        description="Most stored tensors of a tenant; the least recently used are evicted first.",
    )
    max_tensors_bytes_per_tenant: Size = derived(
        "tenants",
        default_factory=TenantShare("max_tensors_bytes"),
        ge=0,
        description="The same for the tensors of a tenant.",
    )
    local_cache_bytes: Size = derived(
        "memory_bytes",
        default_factory=LOCAL_CACHE,
        ge=0,
        description="Most bytes of tensors and programs that a process caches.",
    )
