"""Others' programs that tests run: `make generators` installs requirements.txt, package.json."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

#: Where they are installed.
TOOLS = Path(sys.prefix) / "tools"
_PATH = os.pathsep.join(
    [str(TOOLS / "bin"), str(TOOLS / "node_modules/.bin"), os.environ.get("PATH", os.defpath)]
)


def found(program: str) -> str:
    """The path of one of these programs, or Node's; skips the test where it is not installed."""
    path = shutil.which(program, path=_PATH)
    if path is None or (program != "node" and not path.startswith(str(TOOLS))):
        pytest.skip(f"{program} is not installed: `make generators` does it, where it can")
    return path


def run(folder: Path, command: str, *arguments: str, given: str = "") -> str:
    """The output of a command that succeeds in a folder; its first word is one of the programs."""
    program, *options = command.split()
    environment = {
        "PATH": _PATH,
        "HOME": str(folder),
        "NO_PROXY": "127.0.0.1",
        # No module is fetched, and what the compiler makes of its library is kept.
        "GOFLAGS": "-mod=mod",
        "GOPROXY": "off",
        "GOTOOLCHAIN": "local",
        "GOCACHE": str(TOOLS / "go-cache"),
        "MYPY_CACHE_DIR": str(TOOLS / "mypy-cache"),
        # Java ends before it has gained from its second compiler.
        "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    done = subprocess.run(
        [found(program), *options, *arguments],
        cwd=folder,
        env=environment,
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
