"""Fixtures of the deployment's tests."""

import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.deploy.replicas import Replica, Start, wait_for
from tests.fleet.nginx import configure
from tests.fleet.processes import free_port


@pytest.fixture(scope="session")
def repository() -> Path:
    return Path(__file__).parents[2]


def change(configuration: Path, directive: str, value: str) -> None:
    text = configuration.read_text()
    text, places = re.subn(rf"^( +{directive}) .*;", rf"\1 {value};", text, flags=re.MULTILINE)
    assert places == 1
    configuration.write_text(text)


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[Start]:
    """Starts nginx, some directives changed, in front of replicas; returns a client of it."""
    with ExitStack() as stack:

        def start(
            *replicas: Replica, with_gpus: Sequence[Replica] = (), **changed: str
        ) -> httpx.Client:
            for replica in (*replicas, *with_gpus):
                stack.enter_context(replica.listening())
            listen = free_port()
            ports, gpu_ports = [[each.port for each in some] for some in (replicas, with_gpus)]
            command = configure(tmp_path, ports, listen, gpu_ports)
            for directive, value in changed.items():
                change(tmp_path / "gradwire.conf", directive, value)
            nginx = stack.enter_context(subprocess.Popen(command))
            stack.callback(nginx.terminate)
            wait_for(listen)
            address = f"http://127.0.0.1:{listen}"
            client = httpx.Client(base_url=address, trust_env=False, timeout=20)
            return stack.enter_context(client)

        yield start
