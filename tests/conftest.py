"""Settings that every test shares."""

import socket
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import settings

# How long one example takes says more about the machine's other tenants than about the code.
settings.register_profile("steady", parent=settings(), deadline=None)
settings.load_profile("steady")


def pytest_configure(config: pytest.Config) -> None:
    """Let processes be forked after a test has imported JAX, which warns of it in all others."""
    config.addinivalue_line("filterwarnings", r"ignore:os\.fork\(\) was called:RuntimeWarning")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run async tests on asyncio, the loop the service runs on."""
    return "asyncio"


@pytest.fixture(scope="session")
def service_url() -> Iterator[str]:
    """Run the real service, on a free port of the loopback; its address."""
    import uvicorn
    from gradwire_service.app import create_app
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)  # as where it is served; threads that wait for each other slow tests down
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(create_app(), log_config=None, ws="none"))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run a real Redis that all tests share, each under a prefix of its own; its address."""
    from tests.service.store.redis_server import REDIS, redis_server

    if REDIS is None:
        pytest.skip("there is no redis-server")
    with redis_server(tmp_path_factory.mktemp("redis")) as server:
        yield server.url
