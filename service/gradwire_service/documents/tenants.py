"""Tenants, for the operators of a service."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from gradwire_service.access.rules import Scope


class HeldAmount(BaseModel):
    """The amount of records of one kind."""

    records: int
    nbytes: int


class HeldAmounts(BaseModel):
    """The records of a tenant in the store, which replicas may share."""

    programs: HeldAmount
    names: HeldAmount
    tensors: HeldAmount
    tapes: HeldAmount


class KeyDocument(BaseModel):
    """An API key, and its requests to this process since the key was first read."""

    id: str
    name: str
    scopes: list[Scope]
    expires_at: datetime | None = Field(description="Null if it is valid until it is revoked.")
    in_flight: int = Field(description="Requests in progress.")
    requests: int = Field(description="Accepted requests.")
    limited: int = Field(description="Requests refused as `rate_limited`.")


class TenantDocument(BaseModel):
    """A tenant with its records and keys."""

    tenant: str
    holds: HeldAmounts
    keys: list[KeyDocument]


class TenantsDocument(BaseModel):
    """All tenants with a key."""

    tenants: list[TenantDocument]
