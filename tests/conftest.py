"""Settings that every test shares."""

import gc
import os
import random
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests import effort
from tests.processes import settle

# As in the image, for libraries loaded later and for processes that tests start: a library's
# threads wait for each other in loops, on cores that other tests need.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

# How long one example takes says more about the machine's other tenants than about the code.
# Every run draws its own examples, also where Hypothesis finds that it is CI.
settings.register_profile(
    "thorough", max_examples=100, deadline=None, derandomize=False, print_blob=True
)
settings.register_profile("half", settings.get_profile("thorough"), max_examples=50)
settings.register_profile("third", settings.get_profile("thorough"), max_examples=33)
settings.register_profile("quick", settings.get_profile("thorough"), max_examples=15)
settings.load_profile("quick")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--processor`` and ``--backend``."""
    parser.addoption(
        "--processor",
        choices=("found", "other"),
        default="found",
        help="optimise tapes for this processor, or as if it had AVX-512 just where it has not",
    )
    parser.addoption(
        "--backend",
        default="numpy",
        help="what computes where tests of the engine name no backend: numpy, reference, native",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose the seed of the run, before Hypothesis looks for it, processor and backend."""
    if config.getoption("--hypothesis-seed") is None:
        config.option.hypothesis_seed = str(random.randrange(2**32))
    effort.seed = config.option.hypothesis_seed
    if config.getoption("--processor") == "other":
        from gradwire_engine.backends.reference.namespace import NUMPY

        NUMPY.quick = frozenset(("tan",)) - NUMPY.quick
    if config.getoption("--backend") != "numpy":
        _compute_with(config.getoption("--backend"))
    config.addinivalue_line("markers", "rule(*numbers): tests these rules of semantics/rules.json")
    config.addinivalue_line("markers", "gpu: needs an NVIDIA GPU and CuPy, and is skipped without")
    config.addinivalue_line("markers", "generated: says something of code that backends generate")
    # JAX, where a test has imported it, warns of forks in all others.
    config.addinivalue_line("filterwarnings", r"ignore:os\.fork\(\) was called:RuntimeWarning")


def _compute_with(name: str) -> None:
    """Make a backend that of all engines: of ``native`` one that does not wait to compile."""
    from gradwire_engine.engine import BACKENDS, Engine
    from gradwire_engine.native import native_backend

    Engine.backend = native_backend() if name == "native" else BACKENDS[name]


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart() -> None:
    """Forget what was inherited, before workers start: pytest's own options have been read."""
    settle()


def pytest_collection_finish() -> None:
    """Spare the tests themselves from garbage collections: there are a million objects of them."""
    gc.collect()
    gc.freeze()


def pytest_report_header(config: pytest.Config) -> str:
    """Say with what the same examples are drawn again."""
    return f"random examples: --hypothesis-seed={config.getoption('--hypothesis-seed')}"


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run async tests on asyncio, the loop the service runs on."""
    return "asyncio"


@pytest.fixture(scope="session")
def service_url() -> Iterator[str]:
    """Run the real service, on a free port of the loopback; its address."""
    import uvicorn
    from gradwire_service.app import create_app

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
