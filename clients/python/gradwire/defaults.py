"""The client that functions use which were given none."""

from __future__ import annotations

from functools import cache

from gradwire.client import Client


@cache
def default_client() -> Client:
    """A client with the environment's address and key, made when it is first needed."""
    return Client()
