"""API keys, their entries, and an application that needs them."""

from hashlib import sha256

import pytest
from gradwire_service.access.entries import KeyEntry, write_entries
from gradwire_service.access.tokens import new_token


def issued(scopes=("compute",), **fields):
    """A new key with these fields: its token, and its entry."""
    token = new_token()
    id = token.split("_")[1]
    digest = sha256(token.encode()).hexdigest()
    given = {"name": "ci", "tenant": "acme", "scopes": scopes} | fields
    return token, KeyEntry(id=id, sha256=digest, **given)


@pytest.fixture(scope="session")
def issue():
    """Makes new keys."""
    return issued


@pytest.fixture(scope="session")
def bearer():
    """The headers of a request with this key."""
    return lambda token: {"authorization": f"Bearer {token}"}


@pytest.fixture(scope="session")
def admitting(served):
    """An application with the keys of these entries, and a client of it."""
    return lambda *entries, **settings: served(keys=write_entries(entries), **settings)
