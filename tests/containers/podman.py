"""Containers without a registry: bases from Debian's packages, images by buildah, run by podman.

All that they keep lies below one folder; the bases alone are kept from run to run.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from configparser import ConfigParser
from pathlib import Path
from typing import Any

PROGRAMS = ["mmdebstrap", "buildah", "podman", "runc", "iptables"]
_PATH = os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/sbin"])

#: As slim as the images that they stand for: no documents, no other languages.
_SLIM = [
    "--variant=essential",
    "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr",
    *(f"--dpkgopt=path-exclude=/usr/share/{what}/*" for what in ("doc", "info", "locale", "man")),
]
#: Debian 12's Python is 3.11: an honest stand-in for python:3.11-slim.
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


def missing() -> list[str]:
    """The programs that are not installed."""
    return [program for program in PROGRAMS if shutil.which(program, path=_PATH) is None]


def base(name: str) -> Path:
    """The file system of a base as an archive, made once."""
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
    """podman and buildah with settings, images and networks of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "networks").mkdir()
        (folder / "containers.conf").write_text(_CONTAINERS_CONF.format(folder=folder))
        (folder / "registries.conf").write_text("")
        self.environment = {
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
        self, *arguments: str, check: bool = True, seconds: float = 60, program: str = "podman"
    ) -> subprocess.CompletedProcess[str]:
        """Run podman, or another such program, to its end."""
        done = subprocess.run(
            [program, *arguments],
            cwd=self._folder,  # where podman leaves a file when memory was not enough
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        said = f"{program} {' '.join(arguments)}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
        assert not check or done.returncode == 0, said
        return done

    def inspect(self, name: str) -> dict[str, Any]:
        """What is known of a container or image."""
        (found,) = json.loads(self("inspect", name).stdout)
        assert isinstance(found, dict)
        return found

    def containers(self) -> list[str]:
        """The names of all containers, of those that ended too."""
        return self("ps", "--all", "--format", "{{.Names}}").stdout.split()

    def take_bases(self) -> None:
        """Have the bases as images: localhost/base-python and localhost/base-servers."""
        with ThreadPoolExecutor() as pool:
            for name, archive in zip(BASES, pool.map(base, BASES), strict=True):
                self("import", "--quiet", str(archive), f"localhost/base-{name}", seconds=120)

    def build(self, folder: Path, tag: str, *options: str) -> None:
        """Build an image, pip being set and connected as it is on this machine."""
        pip = self._folder / "pip.conf"
        mounts = [f"--volume={pip}:/etc/pip.conf:ro", *_pip_settings(pip)]
        self(
            *("bud", "--quiet", "--format", "docker", "--pull-never", "--network", "host"),
            *(*mounts, *options, "--tag", tag, str(folder)),
            program="buildah",
            seconds=240,
        )

    def remove_all(self) -> None:
        """End and forget all of it."""
        for what in [
            ("rm", "--all", "--force", "--time", "0"),
            ("volume", "rm", "--all", "--force"),
            ("network", "prune", "--force"),
            ("rmi", "--all", "--force"),
        ]:
            self(*what, check=False)
        # What podman mounts for itself stays mounted.
        mounts = Path("/proc/mounts").read_text().splitlines()
        for place in sorted((line.split()[1] for line in mounts), reverse=True):
            if place.startswith(f"{self._folder}/"):
                subprocess.run(["umount", place], env=self.environment, check=False)
        shutil.rmtree(self._folder)

    def _keep_layers_by(self, driver: str) -> None:
        shutil.rmtree(self._folder / "storage", ignore_errors=True)
        (self._folder / "storage.conf").write_text(
            f'[storage]\ndriver="{driver}"\n'
            f'graphroot="{self._folder}/storage"\nrunroot="{self._folder}/run"\n'
        )


def _pip_settings(target: Path) -> Iterator[str]:
    """Write all of pip's settings to one file; gives mounts of the files that they name."""
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
            # The pages of an index link to files that lie beside it.
            yield str(path.parent if word.startswith("file://") else path)
