"""Fixtures of the container tests, which only `make container-test` runs."""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.containers.podman import Podman, missing


@pytest.fixture(scope="session")
def podman() -> Iterator[Podman]:
    """podman with its own storage, which contains the base images and is removed at the end."""
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
    """The image built from this repository's Dockerfile."""
    dependencies = ("docs-dependencies", "dependencies")
    podman.build_service("server", "localhost/gradwire-server", *dependencies)
    return "localhost/gradwire-server"


@pytest.fixture(autouse=True)
def logs(request: pytest.FixtureRequest, podman: Podman) -> Iterator[None]:
    """Show the logs of containers if a test fails."""
    failed = request.session.testsfailed
    yield
    if request.session.testsfailed > failed:
        for name in podman.containers():
            said = podman("logs", "--tail", "20", name, check=False)
            sys.stderr.write(f"--- {name}\n{said.stdout}{said.stderr}")
