"""The command as a process: what it imports, and how it ends."""

import contextlib
import os
import pty
import signal
import subprocess
import sys
import threading
import tomllib
from pathlib import Path

import click
import pytest

from tests.processes import until

DISTRIBUTION = Path(__file__).parents[3] / "clients" / "command"
SLOW = "for i in range(100000000):\n    x = x * 0.999 + sin(x)\nx"
#: What a process runs before the command, so that it prints when its own service is asked.
TELLING = """
import os
from gradwire.local import LocalTransport
answer = LocalTransport._answer
async def telling(self, request):
    os.write(1, b"asked\\n")
    return await answer(self, request)
LocalTransport._answer = telling
"""
#: Blocks SIGINT in the thread that waits: another one gets it, and the wait is not interrupted.
ELSEWHERE = """
import signal
begin = LocalTransport._begin
def beginning(*arguments):
    begin(*arguments)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
LocalTransport._begin = beginning
"""
LATE = b'{"code": "deadline_exceeded", "title": "Deadline exceeded", "detail": "it was late"}'


def command(before: str = "") -> list[str]:
    """The command as its distribution installs it."""
    scripts = tomllib.loads((DISTRIBUTION / "pyproject.toml").read_text())["project"]["scripts"]
    module, _, function = scripts["gradwire"].partition(":")
    code = f"{before}import sys; from {module} import {function} as main; sys.exit(main())"
    return [sys.executable, "-c", code]


@pytest.fixture
def environment(service_url):
    return {**os.environ, "GRADWIRE_URL": service_url, "NO_COLOR": "1"}


def started(*words: str, url: str, before: str = "") -> subprocess.Popen[str]:
    """A command that goes on, without a time limit of the service that would end it."""
    return subprocess.Popen(
        [*command(before), *words],
        env={**os.environ, "GRADWIRE_URL": url, "GRADWIRE_MAX_TIMEOUT_MS": "3600000"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """The exit code of a process, and what else it prints."""
    out, err = process.communicate()
    return process.returncode, out, err


def done(*words: str, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*command(), *words], capture_output=True, text=True, check=False, **options
    )


def test_the_command_answers_and_fails_as_a_process(environment):
    right = done("grad", "sum(x**2)", "x=[1,2,3]", env=environment)
    assert right.returncode == 0
    assert right.stderr == ""
    assert "[2., 4., 6.]" in right.stdout
    wrong = done("eval", "foo(x)", "x=1", env=environment)
    assert wrong.returncode == 3
    assert wrong.stdout == ""
    assert wrong.stderr.startswith("error: Unknown operation")


@pytest.mark.thorough
def test_lines_are_as_wide_as_the_terminal_and_wider_for_other_programs(environment):
    words = ["grad", "sum(x**2)", f"x={list(range(8))}"]
    environment = {**environment, "COLUMNS": "50", "TERM": "xterm"}
    piped = done(*words, env=environment).stdout.splitlines()
    assert max(map(len, piped)) > 80
    terminal, other = pty.openpty()
    with subprocess.Popen([*command(), *words], env=environment, stdout=other) as process:
        assert process.wait() == 0
    os.close(other)
    shown = click.unstyle(os.read(terminal, 10000).decode()).splitlines()
    os.close(terminal)
    assert len(shown) > len(piped)
    assert max(map(len, shown)) <= 50


def test_help_imports_neither_numpy_nor_httpx_nor_rich():
    code = "import sys; from gradwire_command.application import application as a"
    for words in (["--help"], ["grad", "--help"], ["--version"]):
        code += f"; a.run({words})"
    code += "; print(*sys.modules, file=sys.stderr)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.count("Usage: gradwire") == 2
    imported = set(told.stderr.split())
    assert "click" in imported
    assert not imported & {"numpy", "httpx", "rich", "asyncio", "gradwire.client"}


@pytest.mark.thorough
def test_the_sdk_imports_no_command():
    code = "import sys, gradwire; print(*sys.modules); gradwire.Client; print(*sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    package, client = map(set, map(str.split, told.stdout.splitlines()))
    assert not package & {"click", "rich"}
    assert not client & {"gradwire_command", "gradwire.display"}  # httpx imports Click by itself


@pytest.mark.thorough
def test_an_interrupt_ends_it_quietly(script):
    server = script(...)
    process = started("eval", "x", "x=0.5", url=server.url)
    until(lambda: server.requests or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    assert ended(process) == (130, "", "\n")  # which ends the line of ^C


@pytest.mark.thorough
@pytest.mark.parametrize("where", ["", ELSEWHERE], ids=["here", "in another thread"])
def test_an_interrupt_ends_its_own_service(where):
    process = started("eval", SLOW, "x=0.5", "--timeout=3600", url="local", before=TELLING + where)
    assert process.stdout is not None
    assert process.stdout.readline() == "asked\n"
    process.send_signal(signal.SIGINT)
    assert ended(process) == (130, "", "\n")  # which ends the line of ^C


@pytest.mark.thorough
def test_a_closed_pipe_ends_it_quietly(environment):
    pipe, end = os.pipe()
    os.close(pipe)
    told = subprocess.run(
        [*command(), "ops"], env=environment, stdout=end, stderr=subprocess.PIPE, check=False
    )
    os.close(end)
    assert (told.returncode, told.stderr) == (141, b"")


@pytest.mark.thorough
def test_a_terminal_shows_what_is_waited_for(script, environment):
    has_shown = threading.Event()
    head = b"HTTP/1.1 504 Late\r\nContent-Type: application/problem+json\r\nContent-Length: "
    server = script(has_shown, head + b"%d\r\n\r\n" % len(LATE) + LATE)
    terminal, other = pty.openpty()
    environment |= {"GRADWIRE_URL": server.url, "TERM": "xterm", "COLUMNS": "80"}
    process = subprocess.Popen(
        [*command(), "eval", "x", "x=0.5"], env=environment, stdout=subprocess.DEVNULL, stderr=other
    )
    os.close(other)
    shown = b""
    with contextlib.suppress(OSError):  # its other end is closed
        while read := os.read(terminal, 4096):
            shown += read
            if b"waiting for the answer" in shown and b"0:00:01" in shown:
                has_shown.set()
    os.close(terminal)
    has_shown.set()  # if it ended without
    assert process.wait() == 8
    assert b"waiting for the answer" in shown
    assert b"0:00:01" in shown
    assert b"deadline_exceeded" in shown
