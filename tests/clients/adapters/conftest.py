"""A client whose requests are counted."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import gradwire
import httpx
import jax
import pytest

# Most of JAX's time here is that of its compiler.
jax.config.update("jax_disable_most_optimizations", True)

#: Checks the number of requests that the context makes.
Requests = Callable[[int], AbstractContextManager[None]]


class CountedTransport(httpx.HTTPTransport):
    """Sends requests, and counts them."""

    count = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.count += 1
        return super().handle_request(request)


@pytest.fixture(scope="session")
def transport() -> CountedTransport:
    return CountedTransport()


@pytest.fixture(scope="session")
def client(service_url, transport) -> Iterator[gradwire.Client]:
    with (
        httpx.Client(transport=transport, base_url=service_url) as http,
        gradwire.Client(http_client=http) as client,
    ):
        yield client


@pytest.fixture
def requests(transport) -> Requests:
    """``with requests(1):`` asserts that its body makes exactly one request."""

    @contextmanager
    def expected(count: int) -> Iterator[None]:
        before = transport.count
        yield
        assert transport.count - before == count

    return expected
