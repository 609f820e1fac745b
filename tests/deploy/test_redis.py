"""Redis as the compose file starts it: users, passwords and TLS, with a real service."""

import asyncio
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import redis
import yaml

from tests.deploy.test_compose import default
from tests.fleet.fleets import replica
from tests.fleet.processes import free_port
from tests.service.store.redis_server import REDIS, RedisServer

REPOSITORY = Path(__file__).parents[2]
PAGE = (REPOSITORY / "docs/how-to/deployment.md").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text())["services"]["redis"]
PASSWORD, OPERATORS = "hunter2", "hunter3"

pytestmark = pytest.mark.skipif(REDIS is None, reason="redis-server is not installed")


def started(folder: Path, *, tls: bool) -> RedisServer:
    """A Redis with the compose file's options, on the loopback; its ``url`` has no password."""
    options = []
    for word in COMPOSE["entrypoint"][1:]:
        text = word.replace("${GRADWIRE_REDIS_PASSWORD:-gradwire}", PASSWORD)
        text = text.replace("${GRADWIRE_REDIS_OPERATOR_PASSWORD:-gradwire}", OPERATORS)
        options.append(re.sub("^/etc/redis|^/data$", str(folder), default(text)))
    port = free_port()
    ports = ["--port", "0", "--tls-port", str(port)] if tls else ["--port", str(port)]
    return RedisServer(folder, *options, *ports, port=port).start()


@pytest.mark.thorough
async def test_a_service_works_with_the_rights_of_its_user(tmp_path):
    server = started(tmp_path, tls=False).ready()
    try:
        store = f"redis://gradwire:{PASSWORD}@127.0.0.1:{server.port}/0"
        await use(tmp_path, store)
        with redis.Redis(port=server.port, username="gradwire", password=PASSWORD) as client:
            client.publish("gradwire:jobs", "")
            for refused in (["FLUSHALL"], ["CONFIG", "GET", "*"], ["GET", "x"], ["KEYS", "*"]):
                with pytest.raises(redis.exceptions.NoPermissionError):
                    client.execute_command(*refused)
            with pytest.raises(redis.exceptions.NoPermissionError):
                client.publish("others", "")
        with (
            redis.Redis(port=server.port) as client,
            pytest.raises(redis.exceptions.AuthenticationError),
        ):
            client.get("gradwire:x")
        with redis.Redis(port=server.port, username="operator", password=OPERATORS) as client:
            refusals = [entry["object"] for entry in client.acl_log()]
            known = {"flushall", "config|get", "x", "keys", "others", "client|setinfo"}
            assert set(refusals) <= known  # none of the service's
            before = sorted(client.keys())
        server.stop()
        server.start().ready()
        with redis.Redis(port=server.port, username="operator", password=OPERATORS) as client:
            assert before
            assert sorted(client.keys()) == before
    finally:
        server.stop()


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
async def test_connections_are_encrypted_with_the_certificate_of_the_page(tmp_path):
    commands = re.findall(r"^openssl req .*$", PAGE, re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        await asyncio.to_thread(
            subprocess.run, ["sh", "-c", command], cwd=tmp_path, check=True, capture_output=True
        )
    server = started(tmp_path, tls=True)
    try:
        await server.listening()
        address = f"rediss://gradwire:{PASSWORD}@localhost:{server.port}/0"
        await use(tmp_path, f"{address}?ssl_ca_certs={tmp_path}/ca.crt")
        client = redis.Redis(port=server.port)
        with pytest.raises(redis.ConnectionError):
            client.ping()
    finally:
        server.stop()


async def use(folder: Path, store: str) -> None:
    """Store and read a program, a tape and a result by a service."""
    async with replica(folder, store=store, processes=1) as service, service.client() as client:
        program = {"program": "sum(x * x)"}
        made = await client.post("/v1/programs", json=program)
        assert made.status_code == 201, made.text
        for body in ({"program": {"ref": made.json()["id"]}}, program):
            request = {**body, "variables": {"x": [1.0, 2.0]}, "persistent": True}
            tape = await client.post("/v1/tapes", json=request)
            assert tape.status_code == 201, tape.text
            answer = await client.post(f"/v1/tapes/{tape.json()['tape']}/gradient", json={})
            assert answer.json()["gradients"]["x"] == [2.0, 4.0]
        job = {**program, "variables": {"x": [1.0, 2.0]}, "wait_ms": 0}
        begun = await client.post("/v1/minimize", json=job)
        assert begun.status_code in {200, 202}, begun.text
