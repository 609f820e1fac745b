"""Every command and program of the README does what the page says, as a new user would run it."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import numpy as np
import pytest

from tests.processes import until

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
_STAMP = Path(sys.prefix) / ".runtime"
#: Whether make built this environment for this checkout, and has nothing left to do to it.
MADE = (
    _STAMP.exists()
    and ROOT in _STAMP.parents
    and _STAMP.stat().st_mtime >= (ROOT / "pyproject.toml").stat().st_mtime
)
SHELL = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)


def commands(page: str) -> list[str]:
    """The requests that a page shows."""
    blocks = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    return [
        command
        for block in blocks
        for command in re.findall(r"^curl (?:[^'\n]|'[^']*')*", block, re.MULTILINE)
    ]


CURL = commands(README)


def run(command: str, url: str) -> dict[str, object]:
    """Run a command of the page against the service at ``url``; gives what it prints."""
    command = command.replace("127.0.0.1:8000", url.removeprefix("http://"))
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=True)
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def test_all_curl_commands_are_found():
    assert len(CURL) == README.count("\ncurl ") == 2


def test_requests_are_answered_as_the_page_shows(service_url):
    def rounded(text: str) -> float:
        return round(float(text), 12)  # last bits depend on the processor

    shown = re.findall(r"```json\n(.*?)```", README, re.DOTALL)
    for command, block in zip(CURL, shown, strict=True):
        expected = json.loads(block, parse_float=rounded)
        answer = json.loads(json.dumps(run(command, service_url)), parse_float=rounded)
        assert list(answer) == list(expected)
        answer.update({name: expected[name] for name in answer if name == "instance"})
        assert answer == expected


def test_the_gradient_by_curl_is_the_difference_quotient(service_url):
    answer = run(CURL[0], service_url)
    x, y, step = np.array([0, 1, 2]), np.array([1, 3, 5]), 1e-6

    def loss(slope: float, offset: float) -> float:
        return float(np.mean((slope * x + offset - y) ** 2))

    def slope_of(dx: float, dy: float) -> float:
        return (loss(1 + dx, dy) - loss(1 - dx, -dy)) / (2 * step)

    assert answer["value"] == pytest.approx(loss(1, 0))
    assert answer["gradients"] == {
        "slope": pytest.approx(slope_of(step, 0), rel=1e-6),
        "offset": pytest.approx(slope_of(0, step), rel=1e-6),
    }


def test_the_first_tutorial_begins_with_the_same_request():
    tutorial = (ROOT / "docs/tutorial/first-gradient.md").read_text(encoding="utf-8")
    assert commands(tutorial)[0] == CURL[0]


def test_the_python_program_prints_what_it_says(service_url):
    (program,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-"],
        input=program,
        env={**os.environ, "GRADWIRE_URL": service_url},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    gradient, difference = done.stdout.splitlines()
    ((few, exact),) = re.findall(r"print\(gradient\)  # .*\((-\d\.\d+)….*\((-\d\.\d+)\)", README)
    many, last = re.findall(r"-\d\.\d+", gradient)
    assert (many[: len(few)], last) == (few, exact)
    assert 0 < abs(float(difference)) < 1e-5


def test_commands_of_make_are_targets():
    made = re.findall(r"^make (\w+)", "\n".join(SHELL), re.MULTILINE)
    assert made == ["serve", "test"]
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    for target in made:
        assert f"make {target} " in done.stdout


@pytest.mark.skipif(not MADE, reason="make did not build this environment for this checkout")
def test_make_serve_brings_the_service_up():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = ["make", "serve", f"VENV={sys.prefix}", f"ARGS=--port {port} --log-level warning"]
    process = subprocess.Popen(command, cwd=ROOT, start_new_session=True)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
            until(lambda: process.poll() is not None or answers(client))
        assert process.poll() is None
        assert run(CURL[0], f"http://127.0.0.1:{port}")["value"] == pytest.approx(14 / 3)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def answers(client: httpx.Client) -> bool:
    """True if a server is there and well."""
    try:
        return client.get("/healthz").status_code == 200
    except httpx.TransportError:
        return False


def test_all_links_lead_somewhere():
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", README):
        assert (ROOT / link).exists(), link
