"""The default client, for functions without a client of their own."""

from __future__ import annotations

import atexit
from functools import lru_cache

from gradwire.client import Client
from gradwire.environment import variable


def default_client() -> Client:
    """A client with the environment's address, key and placement, made on first use."""
    return _client(*default_address(), variable("GRADWIRE_PLACEMENT"))


def default_address() -> tuple[str | None, str | None]:
    """The environment's address and key."""
    return variable("GRADWIRE_URL"), variable("GRADWIRE_API_KEY")


@lru_cache(maxsize=8)
def _client(url: str | None, key: str | None, _placement: str | None) -> Client:
    """One for each address, key and placement, as a program may change them."""
    client = Client(url, api_key=key)  # which reads the placement itself
    atexit.register(client.close)
    return client
