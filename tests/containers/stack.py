"""The compose file, started by podman-compose from images of this machine."""

import secrets
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import yaml

from tests.containers.podman import REPOSITORY, Podman
from tests.fleet.nginx import upstream
from tests.fleet.processes import free_port

REPLICAS = ["gradwire-1", "gradwire-2", "gradwire-3"]


class Stack:
    """The compose file with its own project name and port; ``settings`` are its variables."""

    def __init__(self, podman: Podman, folder: Path, settings: Mapping[str, str]) -> None:
        self._podman = podman
        self._folder = folder
        self._name = f"gradwire{secrets.token_hex(3)}"
        port = free_port()
        self._settings = {**settings, "GRADWIRE_PUBLISHED_PORT": str(port)}
        shutil.copytree(REPOSITORY / "deploy", folder / "deploy")
        shutil.copy(REPOSITORY / "docker-compose.yml", folder)
        # Debian's nginx resolves names only at startup.
        names = [f"{name}:8000" for name in REPLICAS]
        (folder / "deploy/nginx/upstream.conf").write_text(upstream(names))
        #: The folder that Dask's workers see as /data.
        self.data = folder / "deploy/data"
        self.client = httpx.Client(
            base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=None
        )

    def compose(self, *arguments: str) -> None:
        """Run podman-compose."""
        program = str(Path(sys.executable).with_name("podman-compose"))
        files = ("--file", str(self._folder / "docker-compose.yml"), "--project-name", self._name)
        self._podman(*files, *arguments, program=program, settings=self._settings)

    def container(self, service: str) -> str:
        """The name of the container of a service."""
        return f"{self._name}_{service}_1"

    def direct(self, service: str) -> httpx.Client:
        """A client of one replica, past nginx."""
        networks = self._podman.inspect(self.container(service))["NetworkSettings"]["Networks"]
        (network,) = networks.values()
        address = f"http://{network['IPAddress']}:8000"
        return httpx.Client(base_url=address, trust_env=False, timeout=None)


@contextmanager
def started(
    podman: Podman, folder: Path, *options: str, settings: Mapping[str, str]
) -> Iterator[Stack]:
    """The stack, as soon as all replicas and nginx are ready; ``options`` come before ``up``."""
    # The users of the images, and Redis's data folder, as in the images of the registry.
    (folder / "Dockerfile").write_text(
        "FROM localhost/base-servers\nRUN mkdir /data && chown 999:1000 /data\n"
    )
    for service in ("nginx", "redis"):
        podman.build(folder, f"localhost/{services()[service]['image']}")
    stack = Stack(podman, folder / "project", settings)
    try:
        stack.compose(*options, "up", "--detach", "--no-build", "--pull", "never")
        for replica in REPLICAS:
            with stack.direct(replica) as client:
                until(partial(answers, client))
        until(lambda: answers(stack.client))
        yield stack
    finally:
        stack.client.close()
        stack.compose(*options, "down", "--volumes", "--timeout", "5")


def services() -> dict[str, Any]:
    """The services of the compose file."""
    found = yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text())["services"]
    assert isinstance(found, dict)
    return found


def until(reached: Callable[[], bool]) -> None:
    """Wait for a condition, however long a busy machine takes."""
    while not reached():
        time.sleep(0.1)


def answers(client: httpx.Client, path: str = "/readyz") -> bool:
    """Whether a path is answered by 200."""
    try:
        return client.get(path).status_code == 200
    except httpx.TransportError:
        return False
