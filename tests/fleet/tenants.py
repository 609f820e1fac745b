"""A service with API keys, and clients of its tenants."""

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

from tests.fleet.fleets import Replica, replica


class Tenants(NamedTuple):
    """Clients of one service: for two tenants and for the operator."""

    mine: httpx.AsyncClient
    theirs: httpx.AsyncClient
    operator: httpx.AsyncClient

    async def counted(self, name: str, **labels: str) -> float:
        """The value of a metric."""
        told = (await self.operator.get("/metrics")).text
        return sum(
            sample.value
            for family in text_string_to_metric_families(told)
            for sample in family.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        )


#: The number of pairs of tenants with keys.
_PAIRS = 16


class House:
    """A service with keys for pairs of tenants, and an operator."""

    def __init__(self, server: Replica, tokens: list[str]) -> None:
        self.server = server
        self._operator, *self._tokens = tokens

    @asynccontextmanager
    async def tenants(self) -> AsyncIterator[Tenants]:
        """Clients for two unused tenants."""
        tokens = self._tokens.pop(), self._tokens.pop(), self._operator
        async with AsyncExitStack() as stack:
            clients = [
                await stack.enter_async_context(
                    self.server.client(headers={"authorization": f"Bearer {token}"})
                )
                for token in tokens
            ]
            yield Tenants(*clients)


@asynccontextmanager
async def house(
    folder: Path, memory_bytes: int | None = None, /, **settings: object
) -> AsyncIterator[House]:
    """A server process that requires keys, with a memory limit for all its processes."""
    entries, tokens = [], []
    for number in range(1 + 2 * _PAIRS):
        token = new_token()
        entry = {
            "id": token.split("_")[1],
            "name": "key",
            "tenant": f"tenant-{number}" if number else "operator",
            "sha256": sha256(token.encode()).hexdigest(),
            "scopes": {"compute", "write"} if number else {"admin"},
        }
        entries.append(KeyEntry.model_validate(entry))
        tokens.append(token)
    settings = {"keys": write_entries(entries), **settings}
    async with replica(folder, memory_bytes, **settings) as server:
        yield House(server, tokens)
