"""Fixtures of the fleet tests."""

import sys
from collections.abc import Callable

import pytest

from tests.fleet.load import Answers


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """uvloop, since the load generator shares the machine with the services under test."""
    return "asyncio", {"use_uvloop": True}


@pytest.fixture
def tell(record_property: Callable[[str, object], None]) -> Callable[[str, object], None]:
    """Reports a figure: in the test report, and in the output if the test fails."""

    def tell(name: str, figure: object) -> None:
        text = figure.told() if isinstance(figure, Answers) else str(figure)
        record_property(name, text)
        sys.stderr.write(f"{name}: {text}\n")

    return tell
