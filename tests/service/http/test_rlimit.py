"""The limit of open files."""

import subprocess
import sys

import pytest

resource = pytest.importorskip("resource")

PROGRAM = """
import resource
from gradwire_service.http.rlimit import allow_connections
resource.setrlimit(resource.RLIMIT_NOFILE, {limits})
allow_connections({number})
print(*resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.parametrize(
    ("limits", "number", "allowed"),
    [((64, 600), 100, 356), ((64, 128), 100, 128), ((500, 600), 100, 500)],
)
def test_the_soft_limit_is_raised_within_the_hard_limit(limits, number, allowed):
    program = PROGRAM.format(limits=limits, number=number)
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert [int(limit) for limit in printed.stdout.split()] == [allowed, limits[1]]
