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
def stages(repository: Path) -> dict[str, str]:
    """The instructions of each stage, one on each line, by how it begins."""
    text = (repository / "Dockerfile").read_text()
    instructions = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE))
    parts = [part.partition("\n") for part in instructions.split("\nFROM ")[1:]]
    return {begins: rest for begins, _, rest in parts}


@pytest.fixture(scope="module")
def final_stage(stages: dict[str, str]) -> str:
    """What both images are made of, beside their environments."""
    return stages["${BASE} AS runtime"]


def test_images_differ_by_their_environments(stages: dict[str, str]):
    *_, last = stages
    assert last == "runtime AS server", "the last is the default"
    for name, build in {"server": "build", "gpu": "gpu-build", "dask": "dask-build"}.items():
        copy, *environment = stages[f"runtime AS {name}"].strip().splitlines()
        assert copy == f"COPY --from={build} /venv /venv"
        assert len(environment) == (name != "server")
        dependencies = f"{build.removesuffix('build')}dependencies"
        assert stages[f"{dependencies} AS {build}"] == stages["dependencies AS build"]
    of_gpus = stages["runtime AS gpu"].strip().splitlines()[1]
    named = dict(pair.split("=") for pair in of_gpus.removeprefix("ENV ").split())
    assert named["GRADWIRE_BACKEND"] == "cupy"
    # The rest of the file system may be read-only.
    assert all(named[name].startswith("/tmp/") for name in ("CUDA_CACHE_PATH", "CUPY_CACHE_DIR"))


def test_changes_of_code_install_no_dependencies(stages: dict[str, str]):
    """What comes from elsewhere is installed in stages that copy nothing but what is pinned."""
    installing = {name: text for name, text in stages.items() if "--requirement" in text}
    assert len(installing) == 4
    for text in installing.values():
        copies = re.findall(r"^COPY (.*) \S+$", text, flags=re.MULTILINE)
        assert copies
        assert all(re.fullmatch(r"(deploy/image/\w+\.txt ?)+", sources) for sources in copies)


def pinned(repository: Path, name: str) -> dict[str, str]:
    lines = (repository / "deploy/image" / name).read_text().splitlines()
    found = [line.split(" \\")[0] for line in lines if not line.startswith(" ")]
    return {line: line.split("==")[0] for line in found}


def test_pinned_requirements_of_dask_extend_the_others(repository: Path):
    every, dask = pinned(repository, "requirements.txt"), pinned(repository, "dask.txt")
    assert every.keys() < dask.keys()
    added = {dask[line] for line in dask.keys() - every.keys()}
    assert {"dask", "distributed", "pyarrow", "zarr"} < added
    assert not added & {"pandas", "bokeh", "cupy-cuda13x"}


def test_pinned_requirements_of_gpus_extend_the_others(repository: Path):
    every, gpu = pinned(repository, "requirements.txt"), pinned(repository, "gpu.txt")
    assert every.keys() < gpu.keys()
    added = {gpu[line] for line in gpu.keys() - every.keys()}
    assert {"cupy-cuda13x", "nvidia-cublas", "nvidia-cuda-nvrtc"} < added
    assert all(re.match("cuda-|cupy-|nvidia-", name) for name in added)


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
    inside = {
        source for source in copied for above in Path(source).parents if above.as_posix() in copied
    }
    assert copied - inside == kept
    assert all((repository / source).exists() for source in copied)
