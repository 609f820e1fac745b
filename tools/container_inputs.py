"""Prints a digest of the container tests' inputs, to see if they changed since the last run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

INPUTS = [
    ".dockerignore",
    "Dockerfile",
    "deploy",
    "docker-compose.yml",
    "pyproject.toml",
    "service/gradwire_service/__main__.py",
    "service/gradwire_service/serving.py",
    "service/gradwire_service/settings",
    "service/gradwire_service/watchdog.py",
    "service/gradwire_service/workers",
    "tests/containers",
    "tools/container_inputs.py",
]
#: The file with the digest for which the container tests last passed.
PASSED = "deploy/container-test.passed"


def files(root: Path) -> Iterator[Path]:
    """The files of all inputs, except keys, users' data and Python's caches."""
    for name in INPUTS:
        place = root / name
        yield from sorted(
            path
            for path in ([place] if place.is_file() else place.rglob("*"))
            if path.is_file()
            and "__pycache__" not in path.parts
            and path.parent.name != "keys"
            and root / "deploy/data" not in path.parents
            and path != root / PASSED
        )


def digest(root: Path) -> str:
    """The digest of the names and contents of all inputs."""
    total = sha256()
    for path in files(root):
        content = sha256(path.read_bytes()).hexdigest()
        total.update(f"{content}  {path.relative_to(root).as_posix()}\n".encode())
    return total.hexdigest()


if __name__ == "__main__":
    sys.stdout.write(digest(Path(__file__).parents[1]) + "\n")
