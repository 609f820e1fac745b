"""Servers that benchmarks measure, each shared by all tests that do not change it."""

import pytest
from servers import BARE, GRADWIRE, running


@pytest.fixture(scope="session")
def bare():
    with running(BARE) as server:
        yield server


@pytest.fixture(scope="session")
def server():
    with running(GRADWIRE) as server:
        yield server
