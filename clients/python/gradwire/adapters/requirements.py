"""The requirements of an adapter: its library, and a client that blocks as the library does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gradwire.client import AsyncClient
from gradwire.errors import NotInstalled, UsageError
from gradwire.tracing.functions import Runs, own_client


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Import libraries of an extra of this distribution; an error names the extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise NotInstalled(
            f"gradwire.adapters.{extra} needs {error.name}, which is not installed",
            hint=f'pip install "gradwire[{extra}]"',
            name=error.name,
        ) from error


def blocking_client(f: Callable[..., Any], client: Runs | None) -> Runs | None:
    """The given client, or else the function's own; ``None`` for the default client."""
    own = own_client(f) if client is None else client
    if isinstance(own, AsyncClient):
        raise UsageError(
            "this adapter is synchronous, and the client is not",
            hint="give it a gradwire.Client, not an AsyncClient",
        )
    return own
