"""autograd's own tests, through Gradwire: `make autograd-test` fetches and runs them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "autograd_suite"
#: The folder of autograd's sources, with its tests in it.
SOURCES = os.environ.get("AUTOGRAD_SOURCES")


@pytest.mark.asked("AUTOGRAD_SOURCES")
def test_autograd_s_tests_pass(tmp_path):
    paths = [str(HERE / "shim"), str(HERE), *sys.path]
    environment = {
        **os.environ,
        "GRADWIRE_URL": "local",
        "GRADWIRE_DEFAULT_TIMEOUT_MS": "60000",  # on a busy machine
        "PYTHONPATH": os.pathsep.join(paths),
    }
    tests = Path(SOURCES or "").resolve() / "tests"
    ran = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-p", "plugin", "-p", "no:cacheprovider",
            "-c", os.devnull, f"--rootdir={tests}", "-q", "-rs", str(tests),
        ],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    sys.stdout.write(ran.stdout)
    assert ran.returncode == 0, ran.stdout[-5000:] + ran.stderr[-2000:]
    passed = re.search(r"(\d+) passed", ran.stdout)
    assert passed is not None
    assert int(passed[1]) > 590  # twelve more, if xarray is installed
