"""The frame around the code: make's targets, the CI script, what the distributions say."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml


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


def test_hosted_continuous_integration_runs_the_same_script(repository: Path):
    workflow = yaml.safe_load((repository / ".github/workflows/ci.yml").read_text())
    (job,) = workflow["jobs"].values()
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert commands == [".ci/run"]
    (cached,) = (step["with"]["path"] for step in job["steps"] if "path" in step.get("with", {}))
    assert cached.removeprefix("~/.cache/") in (repository / commands[0]).read_text()
    assert {"push", "pull_request"} <= workflow[True].keys()  # YAML reads `on` as true
    assert workflow["permissions"] == {"contents": "read"}


def test_a_release_is_tested_before_it_is_built_and_built_before_it_is_published(
    repository: Path,
):
    workflow = yaml.safe_load((repository / ".github/workflows/release.yml").read_text())
    assert workflow[True] == {"push": {"tags": ["v*"]}}
    jobs = workflow["jobs"]
    assert [job.get("needs") for job in jobs.values()] == [None, "test", "build"]
    assert jobs["test"]["steps"][-1] == {"run": ".ci/run"}
    commands = [step["run"].split()[:2] for step in jobs["build"]["steps"] if "run" in step]
    assert commands[0] == ["make", "release"]
    assert "release" in (repository / "Makefile").read_text().split(".PHONY:")[1].split("\n")[0]
    # Only what is published has a token to publish with.
    assert workflow["permissions"] == {"contents": "read"}
    assert "permissions" not in jobs["test"]


def test_owners_of_code_are_of_folders_that_exist(repository: Path):
    lines = (repository / ".github/CODEOWNERS").read_text().splitlines()
    places = [line.split()[0] for line in lines if line and not line.startswith("#")]
    assert places[0] == "*"
    for place in places[1:]:
        assert (repository / place.strip("/")).exists(), place


def test_issues_have_forms(repository: Path):
    forms = [*(repository / ".github/ISSUE_TEMPLATE").glob("[!c]*.yml")]
    assert len(forms) == 3
    for form in forms:
        asked = yaml.safe_load(form.read_text())
        assert {"name", "description", "body"} <= asked.keys()
        ids = [field["id"] for field in asked["body"]]
        assert len(ids) == len(set(ids)) > 0


@pytest.mark.thorough
def test_hooks_find_what_continuous_integration_would(repository: Path, tmp_path: Path):
    """Each hook's command passes on the sources, and those of files fail on a bad one."""
    pytest.importorskip("importlinter")
    (local,) = yaml.safe_load((repository / ".pre-commit-config.yaml").read_text())["repos"]
    bad = tmp_path / "bad.py"
    bad.write_text("import os\nx = {  'a':1}\n")
    for hook in local["hooks"]:
        command = [*hook["entry"].split()]
        command[0] = str(Path(sys.prefix) / "bin" / Path(command[0]).name)
        files = ["tests/conftest.py"] if hook.get("pass_filenames", True) else []
        done = subprocess.run(
            [*command, *files], cwd=repository, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        if files:
            wrong = subprocess.run(
                [*command, bad], cwd=repository, capture_output=True, check=False
            )
            assert wrong.returncode == 1


@pytest.mark.parametrize("folder", [".", "clients/python", "clients/command", "clients/tensorflow"])
def test_distribution_ships_the_licence(repository: Path, folder: str):
    licence = (repository / folder / "LICENSE").read_text()
    assert licence == (repository / "LICENSE").read_text()
    assert load(repository / folder / "pyproject.toml")["project"]["license"] == "Apache-2.0"


def test_all_distributions_have_one_version_and_one_python(repository: Path):
    server, sdk, *others = (
        load(repository / folder / "pyproject.toml")["project"]
        for folder in (".", "clients/python", "clients/command", "clients/tensorflow")
    )
    for client in (sdk, *others):
        assert client["version"] == server["version"]
        assert client["requires-python"] == server["requires-python"]
    for client in others:
        assert f"gradwire=={server['version']}" in client["dependencies"]
    command = others[0]
    assert sdk["optional-dependencies"]["cli"] == [f"{command['name']}=={server['version']}"]


def test_every_typed_package_says_so(repository: Path):
    packages = load(repository / "pyproject.toml")["tool"]["hatch"]["build"]["targets"]["wheel"]
    for package in [
        *packages["packages"],
        "clients/python/gradwire",
        "clients/tensorflow/gradwire/tf",
        "clients/tensorflow/gradwire/tfe",
    ]:
        assert (repository / package / "py.typed").is_file()
