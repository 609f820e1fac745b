"""Containers without a registry: base images from Debian packages, built by buildah.

podman runs them. Between runs are kept the bases and, by one run at a time, the images of what a
Dockerfile installs.
"""

from __future__ import annotations

import ast
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from configparser import ConfigParser
from contextlib import suppress
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[2]
_BASE = ("--build-arg", "BASE=localhost/base-python")
PROGRAMS = ["mmdebstrap", "buildah", "podman", "runc", "iptables"]
_PATH = os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/sbin"])

#: As slim as the images that they replace: no documentation, no translations.
_SLIM = [
    "--variant=essential",
    "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr",
    *(f"--dpkgopt=path-exclude=/usr/share/{what}/*" for what in ("doc", "info", "locale", "man")),
]
#: Debian 12 has Python 3.11, so it can replace python:3.11-slim.
BASES = {
    "python": ["usr-is-merged", "libstdc++6", "python3-minimal", "python3-venv"],
    "servers": ["usr-is-merged", "nginx-light", "redis-server", "wget"],
}
_CONTAINERS_CONF = """
[network]
network_backend="netavark"
network_config_dir="{folder}/networks"
[engine]
cgroup_manager="cgroupfs"
events_logger="file"
runtime="runc"
tmp_dir="{folder}/engine"
[containers]
log_driver="k8s-file"
default_ulimits=["nofile=4096:4096","nproc=4096:4096"]
"""
# buildah copies its own program into memory for each step and seals the copy. The kernel refuses
# that while a page waits on another processor's list, and buildah gives up; made layers stay.
_UNSEALED = "sealing memfd copy: Device or resource busy"


def missing() -> list[str]:
    """The required programs that are not installed."""
    return [program for program in PROGRAMS if shutil.which(program, path=_PATH) is None]


def base(name: str) -> Path:
    """The file system of a base as an archive, created once."""
    packages = BASES[name]
    digest = hashlib.sha256(json.dumps([_SLIM, packages]).encode()).hexdigest()[:12]
    cache = _cache()
    archive = cache / f"{name}-{digest}.tar"
    if not archive.exists():
        part = cache / f"{archive.stem}.{os.getpid()}.tar"
        include = f"--include={','.join(packages)}"
        command = ["mmdebstrap", "--quiet", *_SLIM, include, "bookworm", str(part)]
        made = subprocess.run(
            command, env={**os.environ, "PATH": _PATH}, capture_output=True, text=True, check=False
        )
        assert made.returncode == 0, made.stderr[-4000:]
        part.rename(archive)
    return archive


def _cache() -> Path:
    """The folder that caches archives and images."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gradwire"
    cache.mkdir(parents=True, exist_ok=True)
    return cache


class Podman:
    """podman and buildah with their own settings, images and networks."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._storage = folder, folder / "storage"
        self._kept: set[str] = set()
        self._lock = (_cache() / "containers.lock").open("w")
        with suppress(BlockingIOError):
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._storage = _cache() / "containers"
        (folder / "networks").mkdir()
        (folder / "containers.conf").write_text(_CONTAINERS_CONF.format(folder=folder))
        (folder / "registries.conf").write_text("")
        self._environment = {
            **os.environ,
            "BUILDAH_ISOLATION": "chroot",
            "CONTAINERS_CONF": f"{folder}/containers.conf",
            "CONTAINERS_REGISTRIES_CONF": f"{folder}/registries.conf",
            "CONTAINERS_STORAGE_CONF": f"{folder}/storage.conf",
            "PATH": _PATH,
        }
        for driver in ("overlay", "overlay", "vfs"):
            self._keep_layers_by(driver)
            if self("info", check=False).returncode == 0:
                break
            shutil.rmtree(self._storage)
        self._end_all()

    def __call__(
        self,
        *arguments: str,
        check: bool = True,
        program: str = "podman",
        settings: Mapping[str, str] = {},
    ) -> subprocess.CompletedProcess[str]:
        """Run podman, or another such program, with environment variables, until it exits."""
        while True:
            done = subprocess.run(
                [program, *arguments],
                cwd=self._folder,  # the file that podman leaves after running out of memory
                env={**self._environment, **settings},
                capture_output=True,
                text=True,
                check=False,
            )
            if _UNSEALED not in done.stderr:
                break
        said = f"{program} {' '.join(arguments)}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
        assert not check or done.returncode == 0, said
        return done

    def inspect(self, name: str) -> dict[str, Any]:
        """The output of ``podman inspect`` for a container or image."""
        (found,) = json.loads(self("inspect", name).stdout)
        assert isinstance(found, dict)
        return found

    def containers(self) -> list[str]:
        """The names of all containers, including stopped ones."""
        return self("ps", "--all", "--format", "{{.Names}}").stdout.split()

    def take_bases(self) -> None:
        """Import the bases as images: localhost/base-python and localhost/base-servers."""
        with ThreadPoolExecutor() as pool:
            for name, archive in zip(BASES, pool.map(base, BASES), strict=True):
                image = f"localhost/{archive.stem}:latest"
                if self("image", "exists", image, check=False).returncode:
                    self("import", "--quiet", str(archive), image)
                self("tag", image, f"localhost/base-{name}")
                self._kept |= {image, f"localhost/base-{name}:latest"}

    def build_service(self, target: str, tag: str, *dependencies: str) -> None:
        """Build this repository's image; those of the stages ``dependencies`` are kept."""
        for stage in dependencies:
            image = f"localhost/{stage}:latest"
            self._kept.add(image)
            self.build(REPOSITORY, image, *_BASE, "--target", stage)
        self.build(REPOSITORY, tag, *_BASE, "--target", target)

    def build(self, folder: Path, tag: str, *options: str) -> None:
        """Build an image with this machine's pip settings and network."""
        pip = self._folder / "pip.conf"
        mounts = [f"--volume={pip}:/etc/pip.conf:ro", *_pip_settings(pip)]
        self(
            *(
                "bud",
                "--quiet",
                "--layers",
                "--format",
                "docker",
                "--pull-never",
                "--network",
                "host",
            ),
            *(*mounts, *options, "--tag", tag, str(folder)),
            program="buildah",
        )

    def remove_all(self) -> None:
        """Stop and remove everything but the images that are kept."""
        self._end_all()
        shown = self("images", "--format", "{{.Repository}}:{{.Tag}}", check=False).stdout.split()
        for image in {*shown} - self._kept:
            self("untag", image, check=False)
        self("image", "prune", "--force", check=False)
        # podman leaves its own mounts mounted.
        mounts = Path("/proc/mounts").read_text().splitlines()
        for place in sorted((line.split()[1] for line in mounts), reverse=True):
            if place.startswith((f"{self._folder}/", f"{self._storage}/")):
                subprocess.run(["umount", place], env=self._environment, check=False)
        shutil.rmtree(self._folder)
        self._lock.close()

    def _end_all(self) -> None:
        """Remove all containers, also those that a run has left that was killed."""
        for what in [
            ("rm", "--all", "--force", "--time", "0"),
            ("volume", "rm", "--all", "--force"),
            ("network", "prune", "--force"),
        ]:
            self(*what, check=False)

    def _keep_layers_by(self, driver: str) -> None:
        (self._folder / "storage.conf").write_text(
            f'[storage]\ndriver="{driver}"\ngraphroot="{self._storage}"\nrunroot="{self._folder}/run"\n'
        )


def _pip_settings(target: Path) -> Iterator[str]:
    """Write all of pip's settings to one file; returns mounts for the files that they name."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    )
    settings = ConfigParser(interpolation=None)
    named: set[str] = set()
    for line in listed.stdout.splitlines():
        key, _, value = line.partition("=")
        section, _, option = key.rpartition(".")
        text = ast.literal_eval(value)
        section = "global" if section == ":env:" else section
        settings.read_dict({section: {option: text}})
        named.update(_paths(text.split()))
    with target.open("w") as file:
        settings.write(file)
    return (f"--volume={path}:{path}:ro" for path in sorted(named))


def _paths(words: Sequence[str]) -> Iterator[str]:
    for word in words:
        path = Path(word.removeprefix("file://"))
        if path.is_absolute() and path.exists():
            # The pages of a package index link to files next to it.
            yield str(path.parent if word.startswith("file://") else path)
