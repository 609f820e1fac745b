"""A service with keys, and clients of its tenants."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import httpx
from gradwire_service.access.entries import KeyEntry, write_entries
from gradwire_service.access.tokens import new_token
from prometheus_client.parser import text_string_to_metric_families

from tests.fleet.fleets import replica


class Tenants(NamedTuple):
    """Clients of one service: of two tenants, and of the operator."""

    mine: httpx.AsyncClient
    theirs: httpx.AsyncClient
    operator: httpx.AsyncClient

    async def counted(self, name: str, **labels: str) -> float:
        """A figure of the service's metrics."""
        told = (await self.operator.get("/metrics")).text
        return sum(
            sample.value
            for family in text_string_to_metric_families(told)
            for sample in family.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        )


@asynccontextmanager
async def tenants(folder: Path, **settings: object) -> AsyncIterator[Tenants]:
    """A server process with keys for two tenants and an operator."""
    entries, tokens = [], []
    for tenant, scopes in (
        ("mine", {"compute", "write"}),
        ("theirs", {"compute", "write"}),
        ("operator", {"admin"}),
    ):
        token = new_token()
        digest = sha256(token.encode()).hexdigest()
        id = token.split("_")[1]
        entry = {"id": id, "name": "key", "tenant": tenant, "sha256": digest, "scopes": scopes}
        entries.append(KeyEntry.model_validate(entry))
        tokens.append(token)
    settings = {"keys": write_entries(entries), **settings}
    async with replica(folder, **settings) as server, AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(
                server.client(headers={"authorization": f"Bearer {token}"})
            )
            for token in tokens
        ]
        yield Tenants(*clients)
