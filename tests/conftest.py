"""Settings that every test shares."""

import pytest
from hypothesis import settings

# How long one example takes says more about the machine's other tenants than about the code.
settings.register_profile("steady", parent=settings(), deadline=None)
settings.load_profile("steady")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run async tests on asyncio, the loop the service runs on."""
    return "asyncio"
