"""What is kept between requests: where, how much and how long."""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, Field

from gradwire_service.settings.units import CENTURY_SECONDS, GIBIBYTE, MEBIBYTE, Size

_FORMS = re.compile(r"memory:|sqlite:.+|rediss?://.+|unix://.+")


def _address(store: str) -> str:
    """An address that can be read; it may hold a password, so what is wrong is not shown."""
    if not _FORMS.fullmatch(store):
        raise ValueError("is memory:, or sqlite:PATH, redis://…, rediss://…, unix://PATH")
    if not store.startswith("redis"):
        return store
    try:
        parts = urlsplit(store)
        _ = parts.port
    except ValueError:
        raise ValueError(
            "has a port that is no number, or what is special in user and password is not "
            "percent-encoded"
        ) from None
    if not re.fullmatch(r"/?|/\d+", parts.path):  # the client would take database 0
        raise ValueError("ends with the number of a database, as redis://host:6379/0 does")
    return store


def told_address(store: str) -> str:
    """The address of a store as it may be told: without user and password, and what is asked."""
    if "://" not in store:
        return store
    parts = urlsplit(store)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


class Keeping(BaseModel):
    """What is kept between requests: where, how much and how long."""

    store: Annotated[str, AfterValidator(_address)] = Field(
        default="memory:",
        repr=False,
        description="Where tapes, programs and tensors are kept: memory:, or sqlite:PATH, a file "
        "that processes of one machine may share and that programs outlive, or a Redis that "
        "replicas share: redis://[user:password@]host:port/db, rediss:// for TLS, unix://PATH.",
    )
    store_prefix: str = Field(
        default="gradwire",
        pattern=r"^[\w.-]+$",
        description="What the keys in Redis begin with; others' records have others.",
    )
    store_connect_seconds: float = Field(
        default=0.5, gt=0, le=10, description="Longest wait for a connection to Redis."
    )
    store_timeout_seconds: float = Field(
        default=1.0,
        gt=0,
        le=10,
        description="Longest wait for Redis to answer, and to take a body; then all who need it "
        "are refused at once, until it answers again.",
    )
    tape_ttl_seconds: float = Field(
        default=600,
        gt=0,
        le=CENTURY_SECONDS,
        description="How long a tape is kept after its last use.",
    )
    max_tapes: int = Field(default=10_000, ge=0, description="Most tapes kept at a time.")
    max_tapes_bytes: Size = Field(
        default=256 * MEBIBYTE, ge=0, description="Most bytes of the requests that made them."
    )
    max_tapes_per_tenant: int = Field(
        default=1000,
        ge=0,
        description="Most tapes kept of one tenant; without keys, of one Authorization header.",
    )
    max_tapes_bytes_per_tenant: Size = Field(
        default=128 * MEBIBYTE, ge=0, description="Most bytes of the requests that made these."
    )
    tape_values_bytes: Size = Field(
        default=256 * MEBIBYTE,
        ge=0,
        description="Bytes of tapes' values that this process keeps, to replay only what follows.",
    )
    max_programs: int = Field(default=10_000, ge=0, description="Most programs kept at a time.")
    max_programs_bytes: Size = Field(
        default=256 * MEBIBYTE, ge=0, description="Most bytes of their sources."
    )
    max_programs_per_tenant: int = Field(
        default=1000, ge=0, description="Most programs kept of one tenant, and most names."
    )
    max_programs_bytes_per_tenant: Size = Field(
        default=64 * MEBIBYTE, ge=0, description="Most bytes of the sources of these."
    )
    tensor_ttl_seconds: float = Field(
        default=3600,
        gt=0,
        le=CENTURY_SECONDS,
        description="How long a tensor is kept after its last use.",
    )
    max_tensors: int = Field(
        default=10_000,
        ge=0,
        description="Most tensors kept at a time; then a tenant's new ones replace its own oldest.",
    )
    max_tensors_bytes: Size = Field(default=GIBIBYTE, ge=0, description="Most bytes of them.")
    max_tensors_per_tenant: int = Field(
        default=1000,
        ge=0,
        description="Most tensors kept of one tenant; then the least recently used are evicted.",
    )
    max_tensors_bytes_per_tenant: Size = Field(
        default=512 * MEBIBYTE, ge=0, description="Most bytes of these."
    )
    near_bytes: Size = Field(
        default=512 * MEBIBYTE,
        ge=0,
        description="Bytes of tensors and programs that this process keeps ready for use.",
    )
