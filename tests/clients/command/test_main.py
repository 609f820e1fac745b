"""The command as a process: what it imports, and how it ends."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import click
import pytest

SDK = Path(__file__).parents[3] / "clients" / "python"
SLOW = "for i in range(100000000):\n    x = x * 0.999 + sin(x)\nx"


def command() -> list[str]:
    """The command as its distribution installs it."""
    scripts = tomllib.loads((SDK / "pyproject.toml").read_text())["project"]["scripts"]
    module, _, function = scripts["gradwire"].partition(":")
    code = f"import sys; from {module} import {function} as main; sys.exit(main())"
    return [sys.executable, "-c", code]


@pytest.fixture
def environment(service_url):
    return {**os.environ, "GRADWIRE_URL": service_url, "NO_COLOR": "1"}


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


def test_lines_are_as_wide_as_the_terminal_and_wider_for_other_programs(environment):
    words = ["grad", "sum(x**2)", f"x={list(range(8))}"]
    environment = {**environment, "COLUMNS": "50", "TERM": "xterm"}
    piped = done(*words, env=environment).stdout.splitlines()
    assert max(map(len, piped)) > 80
    terminal, other = pty.openpty()
    with subprocess.Popen([*command(), *words], env=environment, stdout=other) as process:
        assert process.wait(20) == 0
    os.close(other)
    shown = click.unstyle(os.read(terminal, 10000).decode()).splitlines()
    os.close(terminal)
    assert len(shown) > len(piped)
    assert max(map(len, shown)) <= 50


def test_without_its_libraries_the_command_says_what_to_install():
    code = "import sys; sys.modules['rich'] = None; from gradwire.command.__main__ import main"
    told = subprocess.run(
        [sys.executable, "-c", f"{code}; sys.exit(main())"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 11
    assert told.stderr == (
        "error: the command gradwire needs rich, not installed here\n"
        "  hint: pip install 'gradwire[cli]'\n"
    )


def test_help_imports_neither_numpy_nor_httpx_nor_rich():
    code = "import sys; from gradwire.command.application import application as a; a.run(%r)"
    code += "; print(*sys.modules, file=sys.stderr)"
    for words in (["--help"], ["grad", "--help"], ["--version"]):
        told = subprocess.run(
            [sys.executable, "-c", code % words], capture_output=True, text=True, check=True
        )
        imported = set(told.stderr.split())
        assert "click" in imported
        assert not imported & {"numpy", "httpx", "rich", "asyncio", "gradwire.client"}


def test_the_sdk_imports_no_command():
    code = "import sys, gradwire; print(*sys.modules); gradwire.Client; print(*sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    package, client = map(set, map(str.split, told.stdout.splitlines()))
    assert not package & {"click", "rich"}
    assert not client & {"gradwire.command", "gradwire.display"}  # httpx imports Click by itself


@pytest.mark.parametrize("url", ["a server's", "local"])
def test_an_interrupt_ends_it_quietly(environment, url):
    if url == "local":
        environment = {**environment, "GRADWIRE_URL": "local"}
    started = [*command(), "eval", SLOW, "x=0.5", "--timeout=50"]
    process = subprocess.Popen(
        started, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    time.sleep(4 if url == "local" else 2)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert (out, err.strip()) == ("", "")


def test_a_closed_pipe_ends_it_quietly(environment):
    pipe, end = os.pipe()
    os.close(pipe)
    told = subprocess.run(
        [*command(), "ops"], env=environment, stdout=end, stderr=subprocess.PIPE, check=False
    )
    os.close(end)
    assert (told.returncode, told.stderr) == (141, b"")


def test_a_terminal_shows_what_is_waited_for(environment):
    terminal, other = pty.openpty()
    environment = {**environment, "TERM": "xterm", "COLUMNS": "80"}
    process = subprocess.Popen(
        [*command(), "eval", SLOW, "x=0.5", "--timeout=2.5"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=other,
    )
    os.close(other)
    shown = b""
    while process.poll() is None or select.select([terminal], [], [], 0)[0]:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                shown += os.read(terminal, 4096)
            except OSError:  # its other end is closed
                break
    os.close(terminal)
    assert process.wait(20) == 8
    assert b"waiting for the answer" in shown
    assert b"0:00:01" in shown
    assert b"deadline_exceeded" in shown
