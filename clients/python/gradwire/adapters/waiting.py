"""Which client an adapter asks: one that waits, as the libraries do that call it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwire.client import AsyncClient
from gradwire.tracing.functions import Function, Runs


def waiting_client(f: Callable[..., Any], client: Runs | None) -> Runs | None:
    """The client that was given, or else the function's own; ``None`` is the default one."""
    own = f.own_client if client is None and isinstance(f, Function) else client
    if isinstance(own, AsyncClient):
        raise TypeError(
            "the library that calls this function waits for its value: give it a gradwire.Client, "
            "not an AsyncClient"
        )
    return own
