"""Tenants, for operators."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from gradwire_service.access.rules import Scope


class HeldAmount(BaseModel):
    """The stored amount of a kind."""

    records: int
    nbytes: int


class HeldAmounts(BaseModel):
    """What a tenant has in the store, which replicas may share."""

    programs: HeldAmount
    names: HeldAmount
    tensors: HeldAmount
    tapes: HeldAmount


class KeyDocument(BaseModel):
    """A key, and its requests to this process since it was first read."""

    id: str
    name: str
    scopes: list[Scope]
    expires_at: datetime | None = Field(description="Null if it does not expire.")
    in_flight: int = Field(description="Its requests under way.")
    requests: int = Field(description="Its admitted requests.")
    limited: int = Field(description="Its requests that were refused as `rate_limited`.")


class TenantDocument(BaseModel):
    """A tenant."""

    tenant: str
    holds: HeldAmounts
    keys: list[KeyDocument]


class TenantsDocument(BaseModel):
    """Every tenant that has a key."""

    tenants: list[TenantDocument]
