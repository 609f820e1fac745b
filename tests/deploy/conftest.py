"""Fixtures of the deployment's tests."""

import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.deploy.replicas import Replica, Start, accepts
from tests.fleet.nginx import configure
from tests.fleet.processes import free_port
from tests.processes import until


@pytest.fixture(scope="session")
def repository() -> Path:
    return Path(__file__).parents[2]


#: nginx waits: on a busy machine, stand-ins and clients take as long as they take.
PATIENT = dict.fromkeys(
    (
        *("client_header_timeout", "client_body_timeout", "send_timeout", "proxy_connect_timeout"),
        *("proxy_send_timeout", "proxy_read_timeout", "proxy_next_upstream_timeout"),
    ),
    "1h",
)


def change(text: str, directive: str, value: str) -> str:
    """A configuration with another value of a directive, wherever it is."""
    text, places = re.subn(rf"^( +{directive}) [^;]*;", rf"\1 {value};", text, flags=re.MULTILINE)
    assert places, directive
    return text


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[Start]:
    """Starts nginx, some directives changed, in front of replicas; returns a client of it.

    Redirected requests have ``gpu_seconds``, attempts at short ones ``attempt_seconds``.
    """
    with ExitStack() as stack:

        def start(
            *replicas: Replica,
            with_gpus: Sequence[Replica] = (),
            gpu_seconds: int = 3600,
            attempt_seconds: int = 3600,
            **changed: str,
        ) -> httpx.Client:
            for replica in (*replicas, *with_gpus):
                stack.enter_context(replica.listening())
            listen = free_port()
            ports, gpu_ports = [[each.port for each in some] for some in (replicas, with_gpus)]
            command = configure(tmp_path, ports, listen, gpu_ports)
            configuration = tmp_path / "gradwire.conf"
            text = configuration.read_text(encoding="utf-8")
            for directive, value in {**PATIENT, **changed}.items():
                text = change(text, directive, value)
            attempt = "proxy_read_timeout 1h;\n            proxy_next_upstream_timeout"
            assert text.count(attempt) == 1
            text = text.replace(attempt, attempt.replace("1h", f"{attempt_seconds}s"))
            redirected = f"location @gpu {{\n    proxy_read_timeout {gpu_seconds}s;"
            assert text.count("location @gpu {") == 1
            text = text.replace("location @gpu {", redirected)
            configuration.write_text(text, encoding="utf-8")
            nginx = stack.enter_context(subprocess.Popen(command))
            stack.callback(nginx.terminate)
            until(lambda: accepts(listen) or nginx.poll() is not None)
            assert nginx.poll() is None, "nginx did not start"
            address = f"http://127.0.0.1:{listen}"
            client = httpx.Client(base_url=address, trust_env=False, timeout=None)
            return stack.enter_context(client)

        yield start
