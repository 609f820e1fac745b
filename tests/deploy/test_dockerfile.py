"""The image: what hadolint says of it, and what it must hold."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def final_stage(repository: Path) -> str:
    """The last stage's instructions, one on each line."""
    text = (repository / "Dockerfile").read_text()
    instructions = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE))
    return instructions[instructions.rindex("\nFROM ") :]


def test_hadolint_finds_nothing(repository: Path):
    beside = Path(sys.executable).with_name("hadolint")
    hadolint = str(beside) if beside.exists() else shutil.which("hadolint")
    if hadolint is None:
        pytest.skip("hadolint has no binary for this platform")
    found = subprocess.run(
        [hadolint, "--failure-threshold", "style", "Dockerfile"],
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (found.returncode, found.stdout) == (0, ""), found.stdout + found.stderr


def test_base_is_an_argument_with_a_python_the_project_supports(repository: Path):
    base = re.match(r"ARG BASE=python:3\.(\d+)-slim\n", (repository / "Dockerfile").read_text())
    requires = tomllib.loads((repository / "pyproject.toml").read_text())["project"][
        "requires-python"
    ]
    assert base is not None
    assert int(base[1]) >= int(requires.removeprefix(">=3."))


def test_runs_as_a_user_without_rights(final_stage: str):
    users = re.findall(r"^USER (\d+):(\d+)$", final_stage, flags=re.MULTILINE)
    assert len(users) == 1
    assert all(int(number) > 0 for number in users[0])


def test_signals_reach_the_service(final_stage: str):
    entrypoint = re.search(r"^ENTRYPOINT (.*)$", final_stage, flags=re.MULTILINE)
    assert entrypoint is not None
    assert json.loads(entrypoint[1]) == ["/venv/bin/gradwire-server"]


def test_health_check_needs_no_shell_and_no_curl(final_stage: str):
    check = re.search(r"^HEALTHCHECK .*?CMD (.*)$", final_stage, flags=re.MULTILINE)
    assert check is not None
    program, flag, source = json.loads(check[1])
    assert (program, flag) == ("/venv/bin/python", "-c")
    assert "/healthz" in source
    compile(source, "HEALTHCHECK", "exec")


@pytest.mark.parametrize(
    "variable",
    [
        "GRADWIRE_HOST=0.0.0.0",
        "OMP_NUM_THREADS=1",
        "OPENBLAS_NUM_THREADS=1",
        "PYTHONDONTWRITEBYTECODE=1",
        "WEB_CONCURRENCY=1",
    ],
)
def test_environment(final_stage: str, variable: str):
    environment = re.search(r"^ENV (.*)$", final_stage, flags=re.MULTILINE)
    assert environment is not None
    assert variable in environment[1].split()


def test_build_context_holds_all_that_is_copied(repository: Path):
    kept = {
        line.removeprefix("!")
        for line in (repository / ".dockerignore").read_text().splitlines()
        if line.startswith("!")
    }
    dockerfile = (repository / "Dockerfile").read_text()
    copies = re.findall(r"^COPY (?!--from)(.*) \S+$", dockerfile, flags=re.MULTILINE)
    copied = {source for sources in copies for source in sources.split()}
    assert copied == kept
    assert all((repository / source).exists() for source in copied)
