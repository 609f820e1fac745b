"""The command explain: its documented output, and errors in its input files."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from gradwire_engine import Engine
from gradwire_engine.answer import Leaf, Query
from gradwire_engine.explain import explain
from gradwire_service.explain import main, page

from tests.service.workers import gpus

PAGE = Path(__file__).parents[2] / "docs/explanation/performance.md"
SECTION = re.compile(r"^## Where the time goes$(.*?)^## ", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LOOP = "t = x\nfor i in range(300):\n  t = t - 0.1*(t**3 - x)\nsum(t)"


@pytest.fixture
def printed(tmp_path, monkeypatch, capsys):
    """Run the command in a directory with these files."""

    def run(program, variables, *options):
        (tmp_path / "model.txt").write_text(program, encoding="utf-8")
        (tmp_path / "values.json").write_text(variables, encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        main(options or ["--program", "model.txt", "--variables", "values.json"])
        return capsys.readouterr().out

    return run


def untimed(text: str) -> list[str]:
    """The lines without the parts that differ between runs."""
    return [re.sub(r" +[\d.]+ (µs|%)", r" \1", line).rstrip() for line in text.splitlines() if line]


def test_the_documentation_shows_the_actual_output(printed):
    (section,) = SECTION.findall(PAGE.read_text(encoding="utf-8"))
    blocks = dict(FENCE.findall(section))
    _, _, _, *options = blocks["sh"].split()
    found = untimed(printed(blocks["python"], blocks["json"], *options))
    shown = untimed(blocks["text"])
    tape = shown[: next(i for i, line in enumerate(shown) if line.startswith("measured"))]
    start = found.index(tape[0])
    assert found[start : start + len(tape)] == tape
    assert sorted(found[-len(shown) + len(tape) :]) == sorted(shown[len(tape) :])


def test_shares_add_up_to_the_whole(printed):
    arguments = ["--program", "model.txt", "--variables", "values.json", "--time"]
    text = printed(LOOP, json.dumps({"x": [0.5, 1.5]}), *arguments)
    by_op, by_line = text.split("by operation:")[1].split("by line:")
    for table in by_op, by_line:
        shares = [float(share) for share in re.findall(r"([\d.]+) %$", table, re.MULTILINE)]
        assert sum(shares) == pytest.approx(100, abs=0.1 * len(shares))
        assert shares == sorted(shares, reverse=True)


def test_loops_are_printed_in_the_tape_and_as_code(printed):
    text = printed(LOOP, json.dumps({"x": [0.5, 1.5]}))
    assert "measured" not in text
    places = re.findall(r"^ +3:\d+′? +%\d+: float64\[2\] = subtract\(", text, re.MULTILINE)
    assert len(places) >= 2
    assert text.count("\ncode of %") == text.split("compacted:")[1].count("= loop[") == 2


@pytest.mark.thorough
@pytest.mark.parametrize("options", [[], ["--time"]])
def test_kernels_are_printed_with_their_neighbours(printed, options):
    pytest.importorskip("llvmlite")
    arguments = ["--program", "model.txt", "--variables", "values.json", "--machine-code"]
    program = "y = sin(x) * x\nsum(exp(sort(y)) * y) + sum(inv(m) * m)"
    values = {"x": [0.1 * k for k in range(30)], "m": [[2.0, 1.0], [0.5, 3.0]]}
    text = printed(program, json.dumps(values), *arguments, *options)
    kernels = re.findall(
        r"^  %(\d+): \d+ instructions, [\d,]+ op, ([\d,]+) B moved(.*)$", text, re.MULTILINE
    )
    assert len(kernels) >= 2
    assert all(int(moved.replace(",", "")) > 0 for _, moved, _ in kernels)
    assert all(("GB/s" in speed) == bool(options) for _, _, speed in kernels)
    apart = dict(re.findall(r"^  %(\d+) is not fused with %\d+: (.*)$", text, re.MULTILINE))
    assert {"a library computes it", "another fusion level"} <= {*apart.values()}
    assert {number for number, _, _ in kernels} & apart.keys()


def test_options_are_the_fields_of_a_request(printed):
    arguments = ["--program", "model.txt", "--variables", "values.json", "--query", "jvp"]
    arguments += ["--fields", json.dumps({"tangents": {"x": [1, 0]}})]
    text = printed("x*x", json.dumps({"x": [0.5, 1.5]}), *arguments)
    assert "\n  tangents " in text.split("compacted:")[1]


def test_exact_requests_are_explained_as_exact(printed):
    arguments = ["--program", "model.txt", "--variables", "values.json"]
    for exact, op in (True, "power"), (False, "multiply"):
        text = printed("x**3", '{"x": 0.5}', *arguments, "--fields", json.dumps({"exact": exact}))
        assert f"= {op}(" in text.split("compacted:")[1]


def test_nodes_are_printed_with_values_and_adjoints(printed):
    arguments = ["--program", "model.txt", "--variables", "values.json", "--nodes"]
    values = json.dumps({"x": [0.0] * 99 + [1.0], "w": 2.0})
    text = printed("h = w * x\nsum(h)", values, *arguments).split("nodes, with")[1]
    assert "w        %1: float64[] = input[index=1]() w source\n           = 2.0\n" in text
    assert "           ′ 1.0\n" in text
    assert "%2: float64[100] = multiply(%1, %0) h\n" in text
    assert "           = 0.0 to 2.0, mean 0.02\n           ′ 1.0 to 1.0, mean 1.0\n" in text
    assert " target\n           = 2.0\n" in text


def test_a_missing_file_is_named(printed, capsys):
    with pytest.raises(SystemExit):
        printed("x", "{}", "--program", "other.txt", "--variables", "values.json")
    assert "other.txt" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("program", "variables", "message"),
    [
        ("y = x +", "{}", r"1:\d+: "),
        ("y = 1\nx @ [1, 2]", '{"x": [1, 2, 3]}', "2:1: .*sizes"),
        ("x", '{"x": {"value": 1, "dtype": "none"}}', "/variables/x"),
        ("x", "[]", "--variables: expected a JSON object"),
        ("x", "{", "--variables: invalid JSON"),
    ],
)
def test_errors_are_printed_on_one_line(printed, capsys, program, variables, message):
    with pytest.raises(SystemExit) as exit:
        printed(program, variables)
    assert exit.value.code == 2
    assert re.search(f"error: .*{message}", capsys.readouterr().err)


def test_operations_on_the_host_are_listed():
    engine = Engine()
    asked = engine.parse("sum(sin(x))"), {"x": Leaf(np.ones(3))}, Query("gradient")
    assert "on the host: sin" in page(explain(*asked, backend=gpus.Backend()))
    assert not [line for line in page(explain(*asked)) if "on the host" in line]


@pytest.mark.skipif(find_spec("cupy") is not None, reason="there may be a GPU")
def test_without_a_gpu_the_command_says_so(printed, capsys):
    arguments = ["--program", "model.txt", "--variables", "values.json", "--gpu"]
    with pytest.raises(SystemExit):
        printed("x", '{"x": 1.0}', *arguments)
    assert "there is no GPU: CuPy cannot be imported" in capsys.readouterr().err
