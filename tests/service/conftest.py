"""An application, and a client that speaks to it without a socket."""

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
