"""``GET /v1/tenants``: storage and requests of tenants, for operators."""

from __future__ import annotations

import asyncio
import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from fastapi import APIRouter
from fastapi import Request as HttpRequest
from starlette.responses import Response

from gradwire_service.access.keyring import ApiKey, Keyring
from gradwire_service.dependencies import Dependencies
from gradwire_service.openapi.operations import resource_operation
from gradwire_service.openapi.resources import TenantsDocument
from gradwire_service.routes.exchange import owner_of
from gradwire_service.store import Kind, Store
from gradwire_service.tasks.request import Request, rfc3339
from gradwire_service.wire.headers import headers_of

#: Kinds that are reported; the others are the service's own records.
_KINDS: tuple[Kind, ...] = ("programs", "names", "tensors", "results", "tapes", "jobs", "job_parts")
_OPERATION = resource_operation(
    "list_tenants",
    "List tenants",
    "Every tenant that has a key: its stored programs, tensors and tapes, and the requests of "
    "each of its keys to this process.",
    response=TenantsDocument,
)


def list_tenants(store: Store, keyring: Keyring) -> dict[str, Any]:
    """All tenants with keys, sorted by name. May block on the store."""
    keys: dict[str, list[tuple[str, ApiKey]]] = {}
    for id, key in keyring.keys.items():
        keys.setdefault(key.caller.tenant, []).append((id, key))
    tenants = [
        {
            "tenant": tenant,
            "holds": {kind: store.usage(kind, first.caller.owner)._asdict() for kind in _KINDS},
            "keys": [_shown(id, key) for id, key in keys[tenant]],
        }
        for tenant in sorted(keys)
        for _, first in keys[tenant][:1]
    ]
    return {"tenants": tenants}


def router(dependencies: Dependencies, keyring: Keyring, threads: ThreadPoolExecutor) -> APIRouter:
    """The route of tenants."""
    routes = APIRouter(prefix="/v1/tenants", tags=["tenants"])
    settings = dependencies.settings

    @routes.get("", **_OPERATION)
    async def tenants(http: HttpRequest) -> Response:
        request = Request(headers_of(http.scope), owner_of(http.scope), settings)
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(threads, list_tenants, dependencies.store, keyring)
        pieces = request.encode(found)
        return Response(b"".join(pieces), media_type=request.format.reply_type.decode())

    return routes


def _shown(id: str, key: ApiKey) -> dict[str, Any]:
    limiter = key.limiter
    return {
        "id": id,
        "name": key.caller.key,
        "scopes": sorted(key.scopes),
        "expires_at": None if math.isinf(key.expires_at) else rfc3339(key.expires_at),
        "in_flight": limiter.in_flight,
        "requests": limiter.requests,
        "limited": limiter.limited,
    }
