"""Tenants, as those are told who run the service."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from gradwire_service.access.rules import Scope


class HeldAmount(BaseModel):
    """How much is held of a kind."""

    records: int
    nbytes: int


class HeldAmounts(BaseModel):
    """How much a tenant holds in the store, which replicas may share."""

    programs: HeldAmount
    names: HeldAmount
    tensors: HeldAmount
    tapes: HeldAmount


class KeyDocument(BaseModel):
    """A key, and what it has asked of this process since it was first read."""

    id: str
    name: str
    scopes: list[Scope]
    expires_at: datetime | None = Field(description="Null where it is good until it is revoked.")
    in_flight: int = Field(description="Its requests under way.")
    requests: int = Field(description="Those that were let in.")
    limited: int = Field(description="Those that were refused as `rate_limited`.")


class TenantDocument(BaseModel):
    """A tenant."""

    tenant: str
    holds: HeldAmounts
    keys: list[KeyDocument]


class TenantsDocument(BaseModel):
    """Every tenant that has a key."""

    tenants: list[TenantDocument]
