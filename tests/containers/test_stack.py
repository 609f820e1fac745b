"""The running compose file: replicas with a shared store behind nginx."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.containers.podman import Podman
from tests.containers.stack import REPLICAS, Stack, answers, services, started, until

PROGRAM = "y = x * x * x\ngrad(y, x)"


@pytest.fixture(scope="module")
def stack(podman: Podman, image: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    default = f"${{GRADWIRE_IMAGE:-{image.rpartition('/')[2]}}}"
    assert services()[REPLICAS[0]]["image"] == default
    with started(podman, tmp_path_factory.mktemp("stack"), settings={}) as stack:
        yield stack


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
    # Each replica that has missed Redis asks for it again a moment later.
    until(lambda: all(answers(stack.client, "/v1/programs") for _ in range(3 * len(REPLICAS))))
    held = [entry["id"] for entry in stack.client.get("/v1/programs").json()["programs"]]
    assert program["ref"] in held
    ask_of_all(stack, program)


def test_clients_do_not_notice_a_killed_replica(stack: Stack, podman: Podman):
    program = registered(stack)
    podman("kill", "--signal", "KILL", stack.container(REPLICAS[0]))
    ask_of_all(stack, program)
