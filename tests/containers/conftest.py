"""Fixtures of the containers' tests, which `make container-test` runs and `make test` does not."""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.containers.podman import Podman, missing

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def podman() -> Iterator[Podman]:
    """podman with a storage of its own that holds the bases, and nothing when all is over."""
    assert os.geteuid() == 0, "containers are run by root"
    assert not missing(), f"not installed: {', '.join(missing())}"
    podman = Podman(Path(tempfile.mkdtemp(prefix="gradwire-containers-")))
    try:
        podman.take_bases()
        yield podman
    finally:
        podman.remove_all()


@pytest.fixture(scope="session")
def image(podman: Podman) -> str:
    """The image of this repository's Dockerfile."""
    podman.build(
        REPOSITORY, "localhost/gradwire-server", "--build-arg", "BASE=localhost/base-python"
    )
    return "localhost/gradwire-server"


@pytest.fixture(autouse=True)
def logs(request: pytest.FixtureRequest, podman: Podman) -> Iterator[None]:
    """Show what containers said where a test fails."""
    failed = request.session.testsfailed
    yield
    if request.session.testsfailed > failed:
        for name in podman.containers():
            said = podman("logs", "--tail", "20", name, check=False)
            sys.stderr.write(f"--- {name}\n{said.stdout}{said.stderr}")
