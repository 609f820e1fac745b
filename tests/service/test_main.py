"""The command: its options, and how the process stops."""

import json
import os
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import NamedTuple

import httpx
import pytest
from gradwire_service import __version__
from gradwire_service.__main__ import main

from tests.fleet.forks import Forked, forked
from tests.fleet.processes import free_port
from tests.processes import until
from tests.service.conftest import PATIENT_OPTIONS

#: Without worker processes, which take a while to start.
ONE = ("--processes", "0")


class Started(NamedTuple):
    """A process of the service, a client of it and the file of its log."""

    process: Forked
    client: httpx.Client
    log: Path

    def send(self, sent):
        """Send it a signal."""
        self.process.send_signal(sent)

    def ended(self):
        """Wait until it has ended; gives its status."""
        return self.process.wait()


@pytest.fixture
def start(tmp_path):
    """Starts the command with these options."""
    with ExitStack() as stack:

        def start(*options, **environment):
            port, log = free_port(), tmp_path / "log"
            arguments = ["serve", "--port", str(port), *PATIENT_OPTIONS, *options]
            process = forked(arguments, {**os.environ, **environment}, log)
            stack.callback(process.wait)
            stack.callback(process.kill)
            client = stack.enter_context(
                httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=None)
            )

            def listens():
                assert process.poll() is None, log.read_text()
                try:
                    client.get("/healthz")
                except httpx.ConnectError:
                    return False
                return True

            until(listens)
            return Started(process, client, log)

        yield start


def awaited(client, path, right):
    """The first response at this path for which ``right`` is true."""
    found: list[httpx.Response] = []

    def seen() -> bool:
        found.append(client.get(path))
        return bool(right(found[-1]))

    until(seen)
    return found[-1]


def refuses(response):
    """True if a response has the status 503."""
    return response.status_code == 503


@pytest.mark.thorough
@pytest.mark.skipif(find_spec("cupy") is not None, reason="there may be a GPU")
def test_without_a_gpu_the_service_says_why_and_ends(start):
    service = start("--backend", "cupy", "--processes", "1", "--drain-seconds", "600")

    def told(response):
        return refuses(response) and response.json()["code"] == "draining"

    response = awaited(service.client, "/readyz", told)
    assert "the GPU cannot be used: CuPy cannot be imported" in response.json()["detail"]
    evaluation = {"program": "1 + 1"}
    assert service.client.post("/v1/evaluate", json=evaluation).status_code == 200
    service.send(signal.SIGTERM)  # or it would go on for ten minutes
    assert service.ended() == 1
    assert "CuPy cannot be imported" in service.log.read_text()


EVALUATION = {"program": "1 + 1"}


@pytest.mark.thorough
def test_after_sigterm_work_is_accepted_while_readyz_is_503(start):
    service = start("--drain-seconds", "600", "--log-level", "warning")
    service.send(signal.SIGTERM)
    awaited(service.client, "/readyz", refuses)
    assert service.client.get("/healthz").status_code == 200
    assert service.client.post("/v1/evaluate", json=EVALUATION).status_code == 200
    service.send(signal.SIGTERM)
    assert service.ended() == 0
    assert "settings that the next version does not read" in service.log.read_text()
    assert service.log.read_text().count("\n") == 1


def test_after_that_work_is_refused_and_what_has_begun_is_answered(start):
    service, hold = start(*ONE, "--drain-seconds", "0"), Event()
    client, content = service.client, json.dumps(EVALUATION).encode()

    def body():
        yield content[:5]
        hold.wait()
        yield content[5:]

    headers = {"content-type": "application/json", "content-length": str(len(content))}
    with ThreadPoolExecutor() as threads:
        begun = threads.submit(client.post, "/v1/evaluate", content=body(), headers=headers)
        awaited(client, "/metrics", lambda response: "gradwire_in_flight 1.0" in response.text)
        service.send(signal.SIGTERM)
        awaited(client, "/readyz", refuses)
        until(lambda: refuses(client.post("/v1/evaluate", json=EVALUATION)))
        refused = client.post("/v1/evaluate", json=EVALUATION)
        assert refused.json()["code"] == "draining"
        assert refused.headers["retry-after"]
        hold.set()
        assert begun.result().json()["outputs"] == 2
    assert service.ended() == 0


@pytest.mark.parametrize(
    ("proxies", "client", "processes"),
    [("127.0.0.0/8", "192.0.2.1", "0"), ("10.0.0.0/8", "127.0.0.1", "1")],
)
def test_forwarded_addresses_are_only_trusted_from_proxies(start, proxies, client, processes):
    """And a process that is interrupted stops at once."""
    options = ["--processes", processes, "--drain-seconds", "600"]
    options += ["--proxies", proxies, "--log-client-addresses", "true", "--log-format", "json"]
    service = start(*options)
    service.client.get("/v1/limits", headers={"x-forwarded-for": "192.0.2.1"})
    service.send(signal.SIGINT)
    assert service.ended() == 0
    lines = [json.loads(line) for line in service.log.read_text().splitlines()]
    asked = [line for line in lines if line.get("route") == "/v1/limits"]
    assert [line["client"] for line in asked] == [client]


def test_a_port_in_use_is_reported_with_a_hint(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        arguments = ["serve", *ONE, "--port", str(taken.getsockname()[1])]
        process = forked(arguments, os.environ, tmp_path / "log")
        assert process.wait() == 2
    told = (tmp_path / "log").read_text()
    assert "address already in use" in told
    assert "choose another port with --port or GRADWIRE_PORT" in told


def test_the_version_is_printed(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out.strip() == __version__


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "required: command"),
        (["serve", "--port", "many"], "port"),
        (["serve", "--max-body-bytes", "-1"], "--max-body-bytes=-1: Input should be greater"),
        (
            ["serve", "--processes", "0", "--store", "sqlite:/nowhere/x.db"],
            "sqlite:/nowhere/x.db cannot be opened",
        ),
        (["serve", "--nothing", "1"], "--nothing"),
    ],
)
def test_invalid_options_are_refused(capsys, arguments, complaint):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert complaint in capsys.readouterr().err


def test_every_setting_is_an_option(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["serve", "--help"])
    shown = capsys.readouterr().out
    for option in "--host", "--max-total-bytes", "--default-timeout-ms", "--watchdog-seconds":
        assert option in shown


def says(service, words):
    return words in service.log.read_text()


def registered(service):
    return service.client.post("/v1/programs", json={"program": "x * x", "name": "square"})


def test_without_a_named_store_a_restart_loses_nothing(start, tmp_path):
    kept = {"GRADWIRE_STORE": "", "XDG_STATE_HOME": str(tmp_path / "state")}
    options = *ONE, "--log-level", "info"
    services = [start(*options, **kept) for _ in range(2)]  # which share the file
    assert registered(services[0]).status_code == 201
    asked = {"program": {"name": "square"}, "variables": {"x": 3.0}}
    tape = services[1].client.post("/v1/tapes", json={**asked, "persistent": True}).json()["tape"]
    large = {**asked, "variables": {"x": [3.0] * 9000}, "keep": ["outputs"]}
    result = services[1].client.post("/v1/evaluate", json=large).json()["outputs"]
    for service in services:
        until(partial(says, service, f"store local:{tmp_path}/state/gradwire/store.sqlite3"))
        service.send(signal.SIGKILL)
        service.ended()
    assert (tmp_path / "state" / "gradwire").stat().st_mode & 0o777 == 0o700
    again = start(*ONE, **kept)
    assert again.client.post("/v1/gradient", json=asked).json()["gradients"] == {"x": 6.0}
    answer = again.client.post(f"/v1/tapes/{tape}/gradient", json={})
    assert answer.json()["gradients"] == {"x": 6.0}
    # Results are values that a client can compute again: they were in memory.
    lost = {"program": "y * 1", "variables": {"y": {"ref": result["ref"]}}}
    assert again.client.post("/v1/evaluate", json=lost).json()["code"] == "unknown_ref"


@pytest.mark.parametrize("home", ["a file", "read-only", "none", "relative"])
def test_where_no_file_can_be_written_what_is_stored_is_in_memory(start, tmp_path, home):
    file = tmp_path / "file"
    file.write_text("")
    homes = {"a file": str(file), "read-only": "/proc/self", "none": "", "relative": "here"}
    options = *ONE, "--log-level", "info"
    service = start(*options, GRADWIRE_STORE="", HOME=homes[home], XDG_STATE_HOME="")
    assert registered(service).status_code == 201
    until(partial(says, service, "store memory:"))
    assert says(service, "what is stored is in memory, and lost at a restart")
