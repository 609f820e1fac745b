"""The life of API keys on a running service: created, distributed, used, revoked."""

from __future__ import annotations

import asyncio
import io
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

import gradwire
import pytest
from gradwire_service.__main__ import main

from tests.fleet.fleets import Replica, replica
from tests.fleet.processes import Program, free_port

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are ended by signals")


def new_key(file: Path, *options: str, tenant: str = "acme") -> str:
    """Create a key and its entry in the file, as the command does."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        main(["keys", "new", "--tenant", tenant, "--name", "key", "--file", str(file), *options])
    return printed.getvalue().strip()


def key_of_command(file: Path, *options: str) -> str:
    """Create a key and its entry in the file with the command."""
    command = [sys.executable, "-m", "gradwire_service", "keys", "new"]
    command += ["--tenant", "acme", "--name", "key", "--file", str(file), *options]
    made = subprocess.run(command, capture_output=True, text=True, check=True)
    assert not made.stderr
    return made.stdout.strip()


def service_of(server: Replica, key: str) -> gradwire.Client:
    """The SDK with a key and without retries."""
    return gradwire.Client(
        f"http://127.0.0.1:{server.port}", api_key=key, max_retries=0, timeout=None
    )


async def eventually(happens: Callable[[], bool]) -> None:
    """Wait for the effect of a change of the file."""
    while not happens():  # noqa: ASYNC110
        await asyncio.sleep(0.05)


async def test_keys_can_be_added_and_revoked_while_the_service_runs(tmp_path: Path):
    file = tmp_path / "keys.json"
    first = key_of_command(file, "--scopes", "compute,write")
    async with replica(tmp_path, apart=True, keys_file=file, log_level="info") as server:

        def works(key: str) -> bool:
            with service_of(server, key) as client:
                try:
                    return bool(client.evaluate("x + 1", {"x": 1}).outputs == 2)
                except gradwire.Unauthenticated:
                    return False

        assert works(first)
        second = new_key(file)
        await eventually(lambda: works(second))
        entries = file.read_text().splitlines()
        file.write_text("\n".join(["[", entries[2].rstrip(","), "]"]))
        await eventually(lambda: not works(first))
        assert works(second)
        file.write_text('[{"MARKER": 1}')
        await eventually(lambda: "the previous API keys stay in use" in server.log())
        assert works(second)
        assert "MARKER" not in server.log()
        server.send(signal.SIGTERM)
        assert await server.ended() == 0
        for key in first, second:
            assert key.split("_")[2] not in server.log()


async def test_errors_name_the_missing_key_or_scope_and_no_spelling_bypasses_authentication(
    tmp_path: Path,
):
    """Variants of the request target, and of keys."""
    file = tmp_path / "keys.json"
    key = new_key(file)
    writes = new_key(file, "--scopes", "write")
    slow = new_key(file, "--requests-per-second", "0.0001", "--burst", "1")
    async with replica(tmp_path, keys_file=file, processes=0) as server:
        with service_of(server, writes) as client, pytest.raises(gradwire.Forbidden) as forbidden:
            client.evaluate("x", {"x": 1})
        assert "compute" in str(forbidden.value)
        with service_of(server, slow) as client:
            client.evaluate("x", {"x": 1})
            with pytest.raises(gradwire.RateLimited):
                client.evaluate("x", {"x": 1})

        async def status(target: str, *headers: str) -> int:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            lines = [f"GET {target} HTTP/1.1", "host: service", *headers, "", ""]
            writer.write("\r\n".join(lines).encode("latin-1"))
            answer = await reader.readuntil(b"\r\n")
            writer.close()
            return int(answer.split()[1])

        for target in (
            *("/v1/programs", "//v1/programs", "/v1/%70rograms", "/v1/programs;a", "/v1/programs/"),
            *("/healthz/../v1/programs", "/healthz%2f..%2fv1/programs", "/docs/../v1/programs"),
            *("/docs/%2e%2e/v1/programs", "/v1/programs%00", "/v1/programs?/healthz"),
            *(
                "http://service/v1/programs",
                "/v1/ops/../programs",
                "?/healthz",
                "/v1/programs#/docs/",
            ),
        ):
            assert await status(target) in (400, 401), target
        good = f"authorization: Bearer {key}"
        assert await status("/v1/programs", good) == 200
        for headers in (
            [good, good],
            [good, "authorization: Basic x"],
            [f"authorization : Bearer {key}"],
            ["authorization: Bearer", f" {key}"],
            [f"authorization: Bearer {key}, Bearer {key}"],
            [f"authorization: Bearer\xa0{key}"],
            [f"authorization: Bearer {key}\0"],
            [f"proxy-authorization: Bearer {key}"],
        ):
            assert await status("/v1/programs", *headers) in (400, 401), headers


@pytest.mark.parametrize("settings", [{}, {"GRADWIRE_OPEN": "true"}])
async def test_a_service_without_keys_listens_only_on_the_loopback(
    tmp_path: Path, settings: dict[str, str]
):
    port = free_port()
    command = [sys.executable, "-m", "gradwire_service", "serve", "--port", str(port)]
    settings = {"GRADWIRE_PROCESSES": "0", **settings}
    server = Program("server", [*command, "--host", "0.0.0.0"], port, tmp_path, settings)
    try:
        server.start()
        if "GRADWIRE_OPEN" in settings:
            await server.listening()
        else:
            assert await server.ended() == 2
            assert "GRADWIRE_OPEN=true" in server.log()
            assert "gradwire-server keys new" in server.log()
    finally:
        server.stop()
