"""The image: small, unprivileged, within its memory limit; it starts, and stops cleanly."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.containers.podman import Podman
from tests.containers.stack import answers
from tests.fleet.processes import child_of, free_port

MEBIBYTE = 1 << 20
TICKS = os.sysconf("SC_CLK_TCK")


class Running:
    """One container of the image, as restricted as possible."""

    def __init__(self, podman: Podman, image: str, **settings: str) -> None:
        self.podman = podman
        self.port = free_port()
        settings = {"GRADWIRE_HOST": "127.0.0.1", "GRADWIRE_PORT": str(self.port), **settings}
        self.name = podman(
            *("run", "--detach", "--pull", "never", "--network", "host"),
            *("--read-only", "--read-only-tmpfs=false", "--cap-drop", "ALL"),
            *("--security-opt", "no-new-privileges", "--memory", "400m", "--memory-swap", "400m"),
            *(f"--env={name}={value}" for name, value in settings.items()),
            image,
        ).stdout.strip()
        self.pid = podman.inspect(self.name)["State"]["Pid"]
        self.client = httpx.Client(
            base_url=f"http://127.0.0.1:{self.port}", trust_env=False, timeout=None
        )

    def wait_until_ready(self) -> None:
        while not answers(self.client):
            assert self.podman.inspect(self.name)["State"]["Running"], "the container has ended"
            time.sleep(0.05)

    def status(self) -> dict[str, str]:
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}

    def ended(self) -> int:
        """Wait for the container to exit; returns its status."""
        return int(self.podman("wait", self.name).stdout)


@pytest.fixture
def start(podman: Podman, image: str) -> Iterator[Callable[..., Running]]:
    started: list[Running] = []

    def start(**settings: str) -> Running:
        started.append(Running(podman, image, **settings))
        return started[-1]

    yield start
    for running in started:
        running.client.close()
        podman("rm", "--force", "--time", "0", running.name)


def gradient(client: httpx.Client, program: str) -> httpx.Response:
    return client.post("/v1/gradient", json={"program": program, "variables": {"x": 3}})


def test_image_is_small(podman: Podman, image: str, record_property: Callable[[str, object], None]):
    size = podman.inspect(image)["Size"]
    record_property("bytes", size)
    assert size < 520e6  # of which LLVM is 160


def test_runs_without_privileges(
    start: Callable[..., Running], record_property: Callable[[str, object], None]
):
    begun = time.monotonic()
    running = start()
    running.wait_until_ready()
    serving = child_of(running.pid)
    fields = Path(f"/proc/{serving}/stat").read_text().rpartition(")")[2].split()
    processor = (int(fields[11]) + int(fields[12])) / TICKS
    record_property("seconds", time.monotonic() - begun)
    record_property("processor_seconds", processor)
    status = running.status()
    assert {*status["Uid"].split(), *status["Gid"].split()} == {"10001"}
    assert {status[name] for name in status if name.startswith("Cap")} == {"0" * 16}
    assert status["NoNewPrivs"] == "1"
    assert gradient(running.client, "x * x").json()["gradients"] == {"x": 6.0}


def test_file_system_is_read_only(start: Callable[..., Running]):
    running = start()
    running.wait_until_ready()
    for path in ("/venv/x", "/tmp/x", "/x"):
        written = running.podman("exec", running.name, "/usr/bin/touch", path, check=False)
        assert written.returncode != 0
        assert "Read-only file system" in written.stderr


def test_requests_beyond_the_memory_limit_are_refused(start: Callable[..., Running]):
    running = start(GRADWIRE_MAX_TOTAL_BYTES=str(64 * MEBIBYTE))
    running.wait_until_ready()
    refused = gradient(running.client, "sum(sort(ones((100000000,)) * x))")
    assert (refused.status_code, refused.json()["code"]) == (413, "over_budget")
    assert gradient(running.client, "x * x").status_code == 200


def test_too_much_memory_is_refused_whatever_the_settings(
    start: Callable[..., Running],
):
    running = start()
    running.wait_until_ready()
    for _ in range(3):
        refused = gradient(running.client, "sum(sort(ones((100000000,)) * x))")
        assert (refused.status_code, refused.json()["code"]) == (413, "over_budget")
        assert gradient(running.client, "x * x").json()["gradients"] == {"x": 6.0}


def test_health_check_works_inside_the_container(start: Callable[..., Running]):
    running = start(GRADWIRE_WATCHDOG_SECONDS="0")
    running.wait_until_ready()
    assert running.podman("healthcheck", "run", running.name, check=False).returncode == 0
    os.kill(running.pid, signal.SIGSTOP)
    try:
        assert running.podman("healthcheck", "run", running.name, check=False).returncode != 0
    finally:
        os.kill(running.pid, signal.SIGCONT)


def test_stops_cleanly_on_sigterm(start: Callable[..., Running]):
    running = start()
    running.wait_until_ready()
    running.podman("kill", "--signal", "TERM", running.name)
    assert running.ended() == 0


def test_without_keys_the_container_refuses_to_start(start: Callable[..., Running]):
    running = start(GRADWIRE_HOST="0.0.0.0")
    assert running.ended() == 2
    assert "GRADWIRE_OPEN" in running.podman("logs", running.name).stderr
