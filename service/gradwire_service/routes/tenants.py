"""``GET /v1/tenants``: what tenants hold and do, for those who run the service."""

from __future__ import annotations

import math
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from gradwire_service import documents
from gradwire_service.access.keyring import ApiKey, Keyring
from gradwire_service.parts import Parts
from gradwire_service.routes.exchange import when
from gradwire_service.routes.resources import Desk, ResourceExchange
from gradwire_service.store import Kind, Store
from gradwire_service.wire.body import Body

#: What is told of; the rest are records of the service's own.
_KINDS: tuple[Kind, ...] = ("programs", "names", "tensors", "tapes")


class Answering:
    """What the route does, in a thread."""

    def __init__(self, store: Store, keyring: Keyring) -> None:
        self._store = store
        self._keyring = keyring

    def all(self, x: ResourceExchange) -> list[Body]:
        """Every tenant that has a key, by its name."""
        keys: dict[str, list[tuple[str, ApiKey]]] = {}
        for id, key in self._keyring.keys.items():
            keys.setdefault(key.caller.tenant, []).append((id, key))
        tenants = [self._tenant(tenant, keys[tenant]) for tenant in sorted(keys)]
        return x.written({"tenants": tenants})

    def _tenant(self, tenant: str, keys: list[tuple[str, ApiKey]]) -> dict[str, Any]:
        owner = keys[0][1].caller.owner
        return {
            "tenant": tenant,
            "holds": {kind: self._store.amounts(kind, owner)._asdict() for kind in _KINDS},
            "keys": [_shown(id, key) for id, key in keys],
        }


def router(parts: Parts, keyring: Keyring) -> APIRouter:
    """The route of tenants."""
    routes = APIRouter(prefix="/v1/tenants", tags=["tenants"])
    settings = parts.settings
    answering, desk = Answering(parts.store, keyring), Desk(parts.capacity, settings)

    @routes.get("", **documents.TENANT_OPERATIONS["all"])
    async def tenants(request: Request) -> Response:
        x = ResourceExchange(request.scope, settings)
        return await desk.answer(x, request, answering.all)

    return routes


def _shown(id: str, key: ApiKey) -> dict[str, Any]:
    meter = key.meter
    return {
        "id": id,
        "name": key.caller.key,
        "scopes": sorted(key.scopes),
        "expires_at": None if math.isinf(key.expires_at) else when(key.expires_at),
        "in_flight": meter.in_flight,
        "requests": meter.requests,
        "limited": meter.limited,
    }
