"""The frame around the code: make's targets, the CI script, what the distributions say."""

import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest


def load(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text())


def test_make_help_lists_every_target(repository: Path):
    phony = re.search(r"^\.PHONY: (.*)$", (repository / "Makefile").read_text(), re.MULTILINE)
    assert phony is not None
    printed = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=repository,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    listed = re.findall(r"^  make (\S+) +\S", printed.stdout, re.MULTILINE)
    assert sorted(listed) == sorted(phony[1].split())


def test_ci_script_is_executable_and_valid(repository: Path):
    script = repository / ".ci/run"
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", script], check=True)
    assert "set -euo pipefail" in script.read_text()


@pytest.mark.parametrize("folder", [".", "clients/python"])
def test_distribution_ships_the_licence(repository: Path, folder: str):
    licence = (repository / folder / "LICENSE").read_text()
    assert licence == (repository / "LICENSE").read_text()
    assert load(repository / folder / "pyproject.toml")["project"]["license"] == "Apache-2.0"


def test_both_distributions_have_one_version_and_one_python(repository: Path):
    server = load(repository / "pyproject.toml")["project"]
    client = load(repository / "clients/python/pyproject.toml")["project"]
    assert server["version"] == client["version"]
    assert server["requires-python"] == client["requires-python"]


def test_every_typed_package_says_so(repository: Path):
    packages = load(repository / "pyproject.toml")["tool"]["hatch"]["build"]["targets"]["wheel"]
    for package in [*packages["packages"], "clients/python/gradwire"]:
        assert (repository / package / "py.typed").is_file()
