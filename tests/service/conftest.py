"""Applications, and clients that call them without a socket."""

import os
import secrets
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager
from time import monotonic, time

import httpx
import pytest
from gradwire_service.app import create_app
from gradwire_service.settings import Settings

from tests.clock import Clock
from tests.patient import PATIENT

_OF_CONNECTIONS = {
    "header_timeout_seconds": 3600,
    "body_timeout_seconds": 3600,
    "send_timeout_seconds": 3600,
    "watchdog_seconds": 3600,
}
#: The same for the command, which also has connections and a watchdog.
PATIENT_OPTIONS = [
    f"--{name.replace('_', '-')}={value}" for name, value in {**PATIENT, **_OF_CONNECTIONS}.items()
]


@pytest.fixture(scope="session")
def settings():
    return Settings(cores=2, max_body_bytes=8_000_000, **PATIENT)


@contextmanager
def application(settings):
    app = create_app(settings)
    yield app
    app.state.executors.shut()


def client_of(app):
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service")


@pytest.fixture(scope="module")
def app(settings):
    """An application that a module's tests share, for tests that do not depend on its state."""
    with application(settings) as app:
        yield app


@pytest.fixture(scope="module")
async def client(app):
    async with client_of(app) as client:
        yield client


@pytest.fixture
def new_app(settings):
    """A new application for each test, with no stored, counted or cached state."""
    with application(settings) as app:
        yield app


@pytest.fixture
async def new_client(new_app):
    async with client_of(new_app) as client:
        yield client


@pytest.fixture(scope="session")
def served():
    """Starts an application with these settings within a context and returns a client of it.

    ``clock`` and ``now`` may be clocks of the test's. Requests have an hour, unless they say less.
    """

    @asynccontextmanager
    async def serve(*, clock=monotonic, now=time, **settings):
        app = create_app(Settings(**{"cores": 2, **PATIENT, **settings}), clock=clock, now=now)
        async with app.router.lifespan_context(app), client_of(app) as client:
            yield client

    return serve


@pytest.fixture(scope="session")
def loaded():
    """The modules that an application with default settings loads."""
    made = "import sys; from gradwire_service.app import create_app; "
    made += "create_app(); print(*sys.modules)"
    run = [sys.executable, "-c", made]
    environment = {n: value for n, value in os.environ.items() if not n.startswith("GRADWIRE_")}
    told = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)
    return set(told.stdout.split())


@pytest.fixture(params=["memory", "sqlite", "redis"])
def kept(request, tmp_path):
    """Settings for each kind of store."""
    if request.param == "redis":
        url = request.getfixturevalue("redis_url")
        return {"store": url, "store_prefix": f"test-{secrets.token_hex(8)}"}
    return {"store": "memory:" if request.param == "memory" else f"sqlite:{tmp_path / 'kept.db'}"}


@pytest.fixture(scope="session")
def new_clock():
    return Clock


@pytest.fixture
def clock(new_clock):
    return new_clock()
