"""The running compose file: replicas with a shared store behind nginx."""

import secrets
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.containers.conftest import REPOSITORY
from tests.containers.podman import Podman
from tests.fleet.nginx import upstream
from tests.fleet.processes import free_port

REPLICAS = ["gradwire-1", "gradwire-2", "gradwire-3"]
PROGRAM = "y = x * x * x\ngrad(y, x)"


class Stack:
    """The compose file with its own project name and a free port."""

    def __init__(self, podman: Podman, folder: Path) -> None:
        self._podman = podman
        self._folder = folder
        self._name = f"gradwire{secrets.token_hex(3)}"
        port = free_port()
        podman.environment["GRADWIRE_PUBLISHED_PORT"] = str(port)
        shutil.copytree(REPOSITORY / "deploy", folder / "deploy")
        shutil.copy(REPOSITORY / "docker-compose.yml", folder)
        # Debian's nginx resolves names only at startup.
        names = [f"{name}:8000" for name in REPLICAS]
        (folder / "deploy/nginx/upstream.conf").write_text(upstream(names))
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=20)

    def compose(self, *arguments: str) -> None:
        """Run podman-compose."""
        program = str(Path(sys.executable).with_name("podman-compose"))
        files = ("--file", str(self._folder / "docker-compose.yml"), "--project-name", self._name)
        self._podman(*files, *arguments, program=program, seconds=120)

    def container(self, service: str) -> str:
        return f"{self._name}_{service}_1"

    def direct(self, service: str) -> httpx.Client:
        """A client of one replica, past nginx."""
        networks = self._podman.inspect(self.container(service))["NetworkSettings"]["Networks"]
        (network,) = networks.values()
        address = f"http://{network['IPAddress']}:8000"
        return httpx.Client(base_url=address, trust_env=False, timeout=20)


def until(reached: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def answers(client: httpx.Client, path: str = "/readyz") -> bool:
    try:
        return client.get(path).status_code == 200
    except httpx.TransportError:
        return False


@pytest.fixture(scope="module")
def stack(podman: Podman, image: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    services = yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text())["services"]
    assert services[REPLICAS[0]]["image"] == f"${{GRADWIRE_IMAGE:-{image.rpartition('/')[2]}}}"
    folder = tmp_path_factory.mktemp("stack")
    # The users of the images, and Redis's data folder, as in the images of the registry.
    (folder / "Dockerfile").write_text(
        "FROM localhost/base-servers\nRUN mkdir /data && chown 999:1000 /data\n"
    )
    for service in ("nginx", "redis"):
        podman.build(folder, f"localhost/{services[service]['image']}")
    stack = Stack(podman, folder / "project")
    try:
        stack.compose("up", "--detach", "--no-build", "--pull", "never")
        for replica in REPLICAS:
            with stack.direct(replica) as client:
                until(partial(answers, client))
        until(lambda: answers(stack.client))
        yield stack
    finally:
        stack.client.close()
        stack.compose("down", "--volumes", "--timeout", "5")


def evaluate(client: httpx.Client, program: Any, number: int, **headers: str) -> None:
    body = {"program": program, "variables": {"x": number}}
    reply = client.post("/v1/evaluate", json=body, headers=headers)
    assert reply.status_code == 200, reply.text
    assert reply.json()["outputs"] == 3 * number**2


def ask_of_all(stack: Stack, program: Any, times: int = 30) -> None:
    """Use many programs with different homes, so that every replica is used."""
    for number in range(times):
        evaluate(stack.client, program, number, **{"Gradwire-Program": f"{number}"})


def registered(stack: Stack) -> dict[str, str]:
    reply = stack.client.post("/v1/programs", json={"program": PROGRAM})
    assert reply.status_code in (200, 201), reply.text
    return {"ref": reply.json()["id"]}


def test_health_checks_work_inside_the_containers(stack: Stack, podman: Podman):
    for service in (*REPLICAS, "redis", "nginx"):
        podman("healthcheck", "run", stack.container(service))


def test_requests_through_nginx_are_answered(stack: Stack):
    body = {"program": "sum(x**2)", "variables": {"x": [1, 2, 3]}}
    reply = stack.client.post("/v1/gradient", json=body)
    assert reply.json()["gradients"] == {"x": [2.0, 4.0, 6.0]}
    assert stack.client.get("/metrics").status_code == 404


def test_registered_program_is_known_to_every_replica(stack: Stack):
    program = registered(stack)
    ask_of_all(stack, program)
    for replica in REPLICAS:
        with stack.direct(replica) as client:
            evaluate(client, program, 5)
            figures = client.get("/metrics").text
        assert 'route="/v1/evaluate",status="200"' in figures


def test_tape_works_on_every_replica(stack: Stack):
    for number in range(12):
        body = {"program": "y = x**3", "variables": {"x": number}}
        tape = stack.client.post("/v1/tapes", json=body).json()["tape"]
        reply = stack.client.post(f"/v1/tapes/{tape}/gradient", json={"sources": ["x"]})
        assert reply.status_code == 200, reply.text
        assert reply.json()["gradients"] == [3.0 * number**2]


def test_records_survive_a_restart_of_redis(stack: Stack, podman: Podman):
    program = registered(stack)
    podman("restart", "--time", "5", stack.container("redis"))
    evaluate(stack.client, PROGRAM, 2)  # needs no store
    until(lambda: stack.client.get("/v1/programs").status_code == 200, 15)
    held = [entry["id"] for entry in stack.client.get("/v1/programs").json()["programs"]]
    assert program["ref"] in held
    ask_of_all(stack, program)


def test_clients_do_not_notice_a_killed_replica(stack: Stack, podman: Podman):
    program = registered(stack)
    podman("kill", "--signal", "KILL", stack.container(REPLICAS[0]))
    ask_of_all(stack, program)
