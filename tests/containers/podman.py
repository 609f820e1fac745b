"""Containers without a registry: base images from Debian packages, built by buildah.

podman runs them. Everything is stored below one folder; only the bases are kept between runs.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from configparser import ConfigParser
from pathlib import Path
from typing import Any

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
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gradwire"
    archive = cache / f"{name}-{digest}.tar"
    if not archive.exists():
        cache.mkdir(parents=True, exist_ok=True)
        part = cache / f"{archive.stem}.{os.getpid()}.tar"
        include = f"--include={','.join(packages)}"
        command = ["mmdebstrap", "--quiet", *_SLIM, include, "bookworm", str(part)]
        made = subprocess.run(
            command, env={**os.environ, "PATH": _PATH}, capture_output=True, text=True, check=False
        )
        assert made.returncode == 0, made.stderr[-4000:]
        part.rename(archive)
    return archive


class Podman:
    """podman and buildah with their own settings, images and networks."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
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
        self._keep_layers_by("overlay")
        if self("info", check=False).returncode:
            self._keep_layers_by("vfs")

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
                self("import", "--quiet", str(archive), f"localhost/base-{name}")

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
        """Stop and remove everything."""
        for what in [
            ("rm", "--all", "--force", "--time", "0"),
            ("volume", "rm", "--all", "--force"),
            ("network", "prune", "--force"),
            ("rmi", "--all", "--force"),
        ]:
            self(*what, check=False)
        # podman leaves its own mounts mounted.
        mounts = Path("/proc/mounts").read_text().splitlines()
        for place in sorted((line.split()[1] for line in mounts), reverse=True):
            if place.startswith(f"{self._folder}/"):
                subprocess.run(["umount", place], env=self._environment, check=False)
        shutil.rmtree(self._folder)

    def _keep_layers_by(self, driver: str) -> None:
        shutil.rmtree(self._folder / "storage", ignore_errors=True)
        (self._folder / "storage.conf").write_text(
            f'[storage]\ndriver="{driver}"\n'
            f'graphroot="{self._folder}/storage"\nrunroot="{self._folder}/run"\n'
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
