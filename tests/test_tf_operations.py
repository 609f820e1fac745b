"""The functions that tools/tf_operations.py writes are as it would write them now."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_written_functions_are_those_of_the_table():
    checked = subprocess.run(
        [sys.executable, str(ROOT / "tools/tf_operations.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (checked.returncode, checked.stderr) == (0, "")
