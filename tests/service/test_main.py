"""The command: its options, and how the process stops."""

import signal
import socket
import subprocess
import sys
import threading
import time

import httpx
import pytest
from gradwire_service import __version__
from gradwire_service.__main__ import main


@pytest.fixture
def process():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    command = [sys.executable, "-m", "gradwire_service", "serve", "--port", str(port)]
    options = ["--drain-seconds", "0.3", "--log-level", "warning"]
    process = subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True)
    address = f"http://127.0.0.1:{port}"
    for _ in range(200):
        try:
            httpx.get(address + "/readyz")
        except httpx.ConnectError:
            time.sleep(0.05)
        else:
            break
    yield process, address
    process.kill()
    process.communicate()


def test_sigterm_lets_work_finish_while_readiness_is_down(process):
    process, address = process
    request = {"program": "while True: pass\nx", "variables": {"x": 1.0}, "timeout_ms": 1500}
    answers = []
    working = threading.Thread(
        target=lambda: answers.append(httpx.post(address + "/v1/gradient", json=request))
    )
    working.start()
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)
    time.sleep(0.1)
    assert httpx.get(address + "/readyz").status_code == 503
    assert httpx.get(address + "/healthz").status_code == 200
    taken = httpx.post(address + "/v1/evaluate", json={"program": "1 + 1"})
    assert taken.status_code == 200
    time.sleep(0.5)
    refused = httpx.post(address + "/v1/evaluate", json={"program": "1 + 1"})
    assert (refused.status_code, refused.json()["code"]) == (503, "draining")
    assert refused.headers["retry-after"]
    assert process.poll() is None
    working.join(10)
    assert answers[0].json()["code"] == "deadline_exceeded"
    assert process.wait(5) == 0
    assert process.stderr.read() == ""


@pytest.mark.parametrize("sent", [[signal.SIGINT], [signal.SIGTERM, signal.SIGTERM]])
def test_an_idle_process_stops_at_once(process, sent):
    process, _ = process
    for signal_ in sent:
        process.send_signal(signal_)
        time.sleep(0.05)
    assert process.wait(5) == 0


def test_the_version(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out.strip() == __version__


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "required: command"),
        (["serve", "--port", "many"], "port"),
        (["serve", "--max-body-bytes", "-1"], "max_body_bytes"),
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
