"""The client of an adapter: a synchronous one, since the calling library is synchronous."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwire.client import AsyncClient
from gradwire.tracing.functions import Runs, own_client


def waiting_client(f: Callable[..., Any], client: Runs | None) -> Runs | None:
    """The given client, or else the function's own; ``None`` for the default client."""
    own = own_client(f) if client is None else client
    if isinstance(own, AsyncClient):
        raise TypeError(
            "this adapter is synchronous: give it a gradwire.Client, not an AsyncClient"
        )
    return own
