"""Tests of the scheduling run on a loop whose time they move."""

import pytest

from tests.clock import ClockLoop


@pytest.fixture(scope="session")
def anyio_backend():
    return "asyncio", {"loop_factory": ClockLoop}
