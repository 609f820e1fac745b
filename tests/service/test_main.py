"""The command: its options, and how the process stops."""

import json
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import pytest
from gradwire_service import __version__
from gradwire_service.__main__ import main


@contextmanager
def started(*options):
    """A process of the service, and its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    command = [sys.executable, "-m", "gradwire_service", "serve", "--port", str(port)]
    process = subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True)
    address = f"http://127.0.0.1:{port}"
    for _ in range(200):
        try:
            httpx.get(address + "/readyz")
        except httpx.ConnectError:
            time.sleep(0.05)
        else:
            break
    try:
        yield process, address
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def process():
    with started("--drain-seconds", "1", "--log-level", "warning") as both:
        yield both


def awaited(ask, right):
    """The first response that is ``right``, asked for again and again."""
    end = time.monotonic() + 10
    while not right(response := ask()):
        assert time.monotonic() < end, response.text
        time.sleep(0.02)
    return response


def refuses(response):
    """Whether it is 503."""
    return response.status_code == 503


def test_sigterm_lets_work_finish_while_readiness_is_down(process):
    process, address = process
    request = {"program": "while True: pass\nx", "variables": {"x": 1.0}, "timeout_ms": 4000}
    with httpx.Client(base_url=address, timeout=30) as client, ThreadPoolExecutor() as threads:
        answers = threads.submit(httpx.post, address + "/v1/gradient", json=request, timeout=30)
        awaited(lambda: client.get("/metrics"), lambda told: "gradwire_in_flight 1.0" in told.text)
        process.send_signal(signal.SIGTERM)
        awaited(lambda: client.get("/readyz"), refuses)
        assert client.get("/healthz").status_code == 200
        evaluation = {"program": "1 + 1"}
        assert client.post("/v1/evaluate", json=evaluation).status_code == 200
        refused = awaited(lambda: client.post("/v1/evaluate", json=evaluation), refuses)
        assert refused.json()["code"] == "draining"
        assert refused.headers["retry-after"]
        assert process.poll() is None
        assert answers.result().json()["code"] == "deadline_exceeded"
    assert process.wait(5) == 0
    assert process.stderr.read() == ""


@pytest.mark.parametrize("sent", [[signal.SIGINT], [signal.SIGTERM, signal.SIGTERM]])
def test_an_idle_process_stops_at_once(process, sent):
    process, _ = process
    for signal_ in sent:
        process.send_signal(signal_)
        time.sleep(0.05)
    assert process.wait(5) == 0


@pytest.mark.parametrize(
    ("proxies", "client"), [("127.0.0.0/8", "192.0.2.1"), ("10.0.0.0/8", "127.0.0.1")]
)
def test_only_proxies_are_believed_whose_request_it_is(proxies, client):
    options = ["--proxies", proxies, "--log-client-addresses", "true", "--log-format", "json"]
    with started(*options) as (process, address):
        httpx.get(address + "/v1/limits", headers={"x-forwarded-for": "192.0.2.1"})
        process.terminate()
        lines = [json.loads(line) for line in process.stderr]
    asked = [line for line in lines if line.get("route") == "/v1/limits"]
    assert [line["client"] for line in asked] == [client]


def test_the_version(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out.strip() == __version__


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "required: command"),
        (["serve", "--port", "many"], "port"),
        (["serve", "--max-body-bytes", "-1"], "--max-body-bytes=-1: Input should be greater"),
        (["serve", "--store", "sqlite:/nowhere/x.db"], "sqlite:/nowhere/x.db cannot be opened"),
        (["serve", "--nothing", "1"], "--nothing"),
    ],
)
def test_wrong_options_are_refused(capsys, arguments, complaint):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert complaint in capsys.readouterr().err


def test_every_setting_is_an_option(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["serve", "--help"])
    shown = capsys.readouterr().out
    for option in "--host", "--max-array-bytes", "--default-timeout-ms", "--drain-seconds":
        assert option in shown
