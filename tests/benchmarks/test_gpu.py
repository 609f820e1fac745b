"""The computations that are measured on GPUs agree on the host, and what fails is in the report."""

import gc
import json
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest
from gpu import run
from gpu.cases import Case, checked, measured
from gpu.devices import Host
from gpu.rows import ROWS

pytest.importorskip("llvmlite", reason="the host computes with machine code")
# PyTorch itself uses a deprecated function for its derivative tables.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script`:DeprecationWarning")
#: Not measured here: compilers take tens of seconds, and only GPUs can capture.
SLOW = {"torch, compiled", "torch, captured"}


LIBRARIES = {name for name in ("jax", "torch") if find_spec(name)}


def installed(tool):
    library = tool.split(",")[0]
    return tool not in SLOW and (library not in ("jax", "torch") or library in LIBRARIES)


@pytest.fixture(scope="module")
def imported():
    """Spare the libraries' million objects the collection after each tool."""
    for library in LIBRARIES:
        import_module(library)
    gc.collect()
    gc.freeze()


@pytest.mark.parametrize("row", [row for row in ROWS if row != "gradbench"])
def test_all_tools_compute_what_is_expected(imported, monkeypatch, row):
    monkeypatch.setattr("gpu.cases._QUICK_SECONDS", 0.0)
    device = Host()
    for case in ROWS[row](device, 1e-4, True):
        tools = {tool: prepare for tool, prepare in case.tools.items() if installed(tool)}
        for figure in measured(case._replace(tools=tools), device, quick=True):
            assert figure.failure is None, figure
            assert figure.seconds is not None
            assert figure.seconds > 0
            assert (figure.error is None) == (figure.tool in case.unchecked)


def test_a_tool_that_fails_or_is_wrong_does_not_keep_the_others_from_running():
    def broken():
        raise RuntimeError("no such device")

    tools = {
        "broken": broken,
        "wrong": lambda: lambda: [np.array([1.0, 2.1])],
        "right": lambda: lambda: [np.array([1.0, 2.0])],
    }
    case = Case("two numbers", tools, lambda: [np.array([1.0, 2.0])], 1e-3, moved_bytes=16)
    figures = measured(case, Host(), quick=True)
    assert [figure.failure for figure in figures] == [
        "RuntimeError: no such device",
        "ValueError: result 0 is wrong: relative error 0.05 > 0.001",
        None,
    ]
    seconds, rate = figures[2].seconds, figures[2].bytes_per_second
    assert seconds is not None
    assert rate == pytest.approx(16 / seconds)


@pytest.mark.parametrize("found", [np.array([1.0, np.nan]), np.array([[1.0, 2.0]]), np.array(1.0)])
def test_an_answer_with_nan_or_of_another_shape_is_wrong(found):
    with pytest.raises(ValueError, match="result 0"):
        checked([found], [np.array([1.0, 2.0])], 1e-3)


def test_the_command_prints_a_table_and_writes_the_figures(tmp_path, monkeypatch, capsys):
    output = tmp_path / "figures.json"
    options = f"--device host --scale 1e-4 --quick --only gradbench --output {output}"
    monkeypatch.setattr("sys.argv", ["gpu.run", *options.split()])
    monkeypatch.setattr("gpu.twelve.NAMES", ["hello", "lse"])
    run.main()
    figures = json.loads(output.read_text())["figures"]
    assert [figure["failure"] for figure in figures] == [None] * 4
    assert "GradBench lse n=2500: gradient" in capsys.readouterr().out
