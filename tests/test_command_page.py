"""The page of the command shows what the command prints."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "command.md"
SHOWN_URL = "http://127.0.0.1:8000"

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs Bash")


def steps() -> list[tuple[str, str]]:
    """The commands of the page, each with what it prints."""
    blocks = re.findall(
        r"^```console\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    return [
        (command, shown)
        for block in blocks
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
    ]


def pattern(shown: str) -> str:
    """A pattern of what is shown: an ellipsis is anything, in a line of its own any lines."""
    parts = [re.escape(line).replace("…", "[^\n]*") for line in shown.splitlines()]
    return "".join(r"(?:.*\n)*" if part == "[^\n]*" else f"{part}\n" for part in parts)


@pytest.mark.thorough
def test_every_command_prints_what_the_page_shows(service_url, tmp_path):
    folder, programs = tmp_path / "work", tmp_path / "bin"
    folder.mkdir()
    programs.mkdir()
    for name, module in (("gradwire", "-m gradwire_command"), ("python", "")):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
        (programs / name).chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    found = steps()
    assert len(found) > 15
    for command, shown in found:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env={**os.environ, "PATH": path, "GRADWIRE_URL": service_url},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        printed = done.stdout.replace(service_url, SHOWN_URL)
        assert re.fullmatch(pattern(shown), printed), (command, printed)
