"""An application, and a client that speaks to it without a socket."""

import secrets
from contextlib import asynccontextmanager

import httpx
import pytest
from gradwire_service.app import create_app
from gradwire_service.settings import Settings


@pytest.fixture
def settings():
    return Settings(pool_threads=2, max_body_bytes=8_000_000)


@pytest.fixture
def app(settings):
    app = create_app(settings)
    yield app
    app.state.capacity.close()


@pytest.fixture
async def client(app):
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        yield client


@pytest.fixture(scope="session")
def served():
    """An application of these settings and a client of it, within a context."""

    @asynccontextmanager
    async def serve(**settings):
        app = create_app(Settings(**{"pool_threads": 2, **settings}))
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://service") as client,
        ):
            yield client

    return serve


@pytest.fixture(params=["memory", "sqlite", "redis"])
def kept(request, tmp_path):
    """Settings of each store."""
    if request.param == "redis":
        url = request.getfixturevalue("redis_url")
        return {"store": url, "store_prefix": f"test-{secrets.token_hex(8)}"}
    return {"store": "memory:" if request.param == "memory" else f"sqlite:{tmp_path / 'kept.db'}"}


class Clock:
    """A time that passes when told."""

    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture(scope="session")
def new_clock():
    return Clock


@pytest.fixture
def clock(new_clock):
    return new_clock()
