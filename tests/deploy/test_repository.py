"""The frame around the code: make's targets, the CI script, what the distributions say."""

import os
import re
import shutil
import subprocess
import sys
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


def test_what_containers_are_made_of_is_known_by_its_content(repository: Path, tmp_path: Path):
    def digest() -> str:
        command = [sys.executable, str(tmp_path / "tools/container_inputs.py")]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    inputs = ["Dockerfile", ".dockerignore", "docker-compose.yml", "pyproject.toml"]
    folders = ["deploy", "service/gradwire_service", "tests/containers", "tools"]
    for name in inputs:
        shutil.copy(repository / name, tmp_path)
    for name in folders:
        shutil.copytree(repository / name, tmp_path / name)
    first = digest()
    for name in ["deploy/container-test.passed", "deploy/keys/keys.json", "README.md"]:
        (tmp_path / name).write_text("something else")
    assert digest() == first
    seen = {first}
    for name in [*inputs, "deploy/nginx/routing.conf", "service/gradwire_service/__main__.py"]:
        with (tmp_path / name).open("a") as file:
            file.write("\n")
        seen.add(digest())
    (tmp_path / "service/gradwire_service/settings/more.py").touch()
    assert len(seen | {digest()}) == 8


@pytest.mark.parametrize("folder", [".", "clients/python", "clients/tensorflow"])
def test_distribution_ships_the_licence(repository: Path, folder: str):
    licence = (repository / folder / "LICENSE").read_text()
    assert licence == (repository / "LICENSE").read_text()
    assert load(repository / folder / "pyproject.toml")["project"]["license"] == "Apache-2.0"


def test_all_distributions_have_one_version_and_one_python(repository: Path):
    server = load(repository / "pyproject.toml")["project"]
    for folder in ["clients/python", "clients/tensorflow"]:
        client = load(repository / folder / "pyproject.toml")["project"]
        assert client["version"] == server["version"]
        assert client["requires-python"] == server["requires-python"]
    assert f"gradwire=={server['version']}" in client["dependencies"]


def test_every_typed_package_says_so(repository: Path):
    packages = load(repository / "pyproject.toml")["tool"]["hatch"]["build"]["targets"]["wheel"]
    for package in [
        *packages["packages"],
        "clients/python/gradwire",
        "clients/tensorflow/gradwire/tf",
        "clients/tensorflow/gradwire/tfe",
    ]:
        assert (repository / package / "py.typed").is_file()
