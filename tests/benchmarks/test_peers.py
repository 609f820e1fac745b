"""The peers' workloads are the same functions in every form, and workers answer."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from peers.tools import MODULES, TOOLS, asked, check
from peers.workloads import WORKLOADS

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
# PyTorch itself uses a deprecated function for its derivative tables.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script`:DeprecationWarning")
INSTALLED = [tool for tool in TOOLS if tool not in MODULES or find_spec(MODULES[tool])]


@pytest.mark.parametrize("what", WORKLOADS)
@pytest.mark.parametrize("tool", INSTALLED)
def test_a_tool_agrees_with_the_result_by_hand(tool, what):
    problem = WORKLOADS[what].problem(small=True)
    if asked(tool, problem.row):
        check(problem, TOOLS[tool](problem)())


def test_a_worker_measures_first_and_later_calls_and_memory():
    """It also checks its answer at the end."""
    done = subprocess.run(
        [sys.executable, "-m", "peers.worker", "gradwire", "Rosenbrock, n = 10"],
        input="0\n3\n",
        env={**os.environ, "PYTHONPATH": str(BENCHMARKS)},
        capture_output=True,
        text=True,
        check=True,
    )
    first, later, _ = map(float, done.stdout.split())
    assert min(first, later) > 0
