"""Tests, and the processes that they start, do not depend on who started the tests."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: Run by who ignores and blocks signals; prints what a process inherits that is started then.
INHERITED = """
import json, locale, os, signal, subprocess, sys, time
for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGCHLD):
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGUSR1])
os.umask(0o077)
from tests.processes import settle
settle()
os.kill(os.getpid(), signal.SIGHUP)  # is still ignored here
def told(command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
status = dict(line.split(":\\t") for line in told(["cat", "/proc/self/status"]).splitlines())
print(json.dumps({
    # Of signal 32, the C library's own, Python knows nothing.
    "signals": [int(status[name], 16) & ~(1 << 31) for name in ("SigBlk", "SigIgn")],
    "umask": told(["sh", "-c", "umask"]).strip(),
    "status": subprocess.run(["false"]).returncode,
    "environment": dict(one.split("=", 1) for one in told(["env", "-0"]).split("\\0") if one),
    "encoding": locale.getencoding().lower(),
    "zone": time.strftime("%Z", time.localtime(0)),
}))
"""
FOREIGN = {
    "COLUMNS": "40",
    "GRADWIRE_API_KEY": "foreign",
    "GRADWIRE_URL": "http://foreign.example",
    "NO_COLOR": "1",
    "PYTEST_ADDOPTS": "--foreign",
    "PYTHONWARNINGS": "always",
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux reports the signals")
def test_nothing_is_inherited_that_changes_what_programs_do(tmp_path):
    given = {
        **FOREIGN,
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "NO_PROXY": "example.org",
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "TERM": "xterm",
        "TMPDIR": str(tmp_path),
        "TZ": "Asia/Kathmandu",
    }
    run = [sys.executable, "-c", INHERITED]
    told = json.loads(subprocess.run(run, env=given, capture_output=True, check=True).stdout)
    environment = told.pop("environment")
    assert told == {
        "signals": [0, 0],
        "umask": "0022",
        "status": 1,
        "encoding": "utf-8",
        "zone": "UTC",
    }
    assert not environment.keys() & FOREIGN.keys()
    assert Path(environment["HOME"]).parent == tmp_path
    assert not list(tmp_path.iterdir())  # of homes that were made
    assert environment["NO_PROXY"].split(",") == ["127.0.0.1", "localhost", "::1", "example.org"]
    assert environment["PATH"] == given["PATH"]
