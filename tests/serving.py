"""A real service and a real Redis that tests share: a plugin, which only their users load."""

import socket
import threading
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def service_url() -> Iterator[str]:
    """Run the real service, on a free port of the loopback; its address."""
    import uvicorn

    from tests.patient import patient_app

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(patient_app(), log_config=None, ws="none"))
        # The kernel keeps connections that are made before the server listens.
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run a real Redis that all tests share, each under a prefix of its own; its address."""
    from tests.service.store.redis_server import REDIS, redis_server

    if REDIS is None:
        pytest.skip("redis-server is not installed")
    with redis_server(tmp_path_factory.mktemp("redis")) as server:
        yield server.url
