"""GradBench's tool and evaluations speak its protocol, as processes and by themselves."""

import json
import os
import subprocess
import sys
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import gradwire
import numpy as np
import pytest
from gradbench.evaluate import mismatches
from gradbench.inputs import sample
from gradbench.join import join
from gradbench.published import HAND_WRITTEN
from gradbench.tools.gradwire.run import NAMES, connected, respond
from gradbench.workloads import workloads

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
TOOL = BENCHMARKS / "gradbench" / "tools" / "gradwire"


def test_a_session_over_standard_input_and_output(service_url):
    thrice = {"x": [0], "n": 3, "min_runs": 3, "min_seconds": 0}
    never = {"x": [0, 0], "min_runs": 0, "min_seconds": 0}
    messages: list[dict[str, object]] = [
        {"kind": "start", "eval": "hello"},
        {"kind": "define", "module": "hello"},
        {"kind": "evaluate", "module": "hello", "function": "double", "input": 5.0},
        {"kind": "analysis", "of": 2, "valid": True},
        {"kind": "evaluate", "module": "llsq", "function": "primal", "input": thrice},
        {"kind": "define", "module": "../../secret"},
        {"kind": "evaluate", "module": "ode", "function": "cube", "input": {"x": [1], "s": 1}},
        {"kind": "evaluate", "module": "lse", "function": "primal", "input": never},
        {"kind": "evaluate", "module": "ba", "function": "objective", "input": sample("ba")},
    ]
    lines = [json.dumps({"id": number, **message}) for number, message in enumerate(messages)]
    done = subprocess.run(
        [sys.executable, "-m", "gradbench.tool"],
        input="\n".join(lines),
        env={**os.environ, "GRADWIRE_URL": service_url, "PYTHONPATH": str(BENCHMARKS)},
        capture_output=True,
        text=True,
        check=True,
    )
    start, define, double, analysis, primal, unknown, cube, once, adjusted = map(
        json.loads, done.stdout.splitlines()
    )
    assert start == {"id": 0, "tool": "gradwire"}
    assert define == {"id": 1, "success": True}
    assert double["output"] == 10
    assert analysis == {"id": 3}
    assert primal["output"] == 1
    assert [timing["name"] for timing in primal["timings"]] == 3 * ["evaluate"]
    assert all(timing["nanoseconds"] > 0 for timing in primal["timings"])
    assert (unknown["id"], unknown["success"], cube["success"]) == (5, False, False)
    assert "there is no operation 'cube'" in cube["error"]
    assert once["output"] == pytest.approx(np.log(2))
    assert adjusted["output"]["w_err"]["repeated"] == sample("ba")["p"]


@pytest.mark.parametrize("references", [False, True])
def test_each_run_sends_all_data(references, service_url):
    """The service keeps no array of which it could compute something once for several runs."""
    x = np.random.default_rng([4, references]).normal(size=100_000)
    ref = sha256(b"float64 100000\n" + x.tobytes()).hexdigest()
    given = {"x": x.tolist(), "min_runs": 4}
    message = {"kind": "evaluate", "module": "lse", "function": "primal", "input": given}
    with gradwire.Client(service_url) if references else connected(service_url) as client:
        assert len(respond(client, message)["timings"]) == 4
        if references:  # where a client sends them, after two runs
            client.request("GET", f"/v1/tensors/sha256:{ref}")
        else:
            with pytest.raises(gradwire.NotFound):
                client.request("GET", f"/v1/tensors/sha256:{ref}")


EVALUATE = [sys.executable, "-m", "gradbench.evaluate"]
WRONG = """
import json, sys
for line in sys.stdin:
    number = json.loads(line)["id"]
    timings = [{"name": "evaluate", "nanoseconds": 2_000_000}]
    reply = {"id": number, "success": True, "output": 1.0, "timings": timings}
    print(json.dumps(reply), flush=True)
"""


@pytest.fixture
def in_benchmarks(monkeypatch):
    """The environment of processes whose modules are the benchmarks'."""
    monkeypatch.setenv("PYTHONPATH", str(BENCHMARKS))


@pytest.mark.skipif(find_spec("jax") is None, reason="the expected answers need JAX")
@pytest.mark.parametrize("evaluation", ["hello", "gmm", "kmeans"])
def test_an_evaluation_and_the_tool_as_processes(
    evaluation, service_url, in_benchmarks, monkeypatch
):
    monkeypatch.setenv("GRADWIRE_URL", service_url)
    command = [*EVALUATE, evaluation, "--most=2", "--min-seconds=0", "--min-runs=2"]
    found = [*join(command, [sys.executable, str(TOOL / "run.py")])]
    assert len(found) == 4
    assert all(each.valid and each.milliseconds for each in found)


@pytest.mark.skipif(find_spec("jax") is None, reason="the expected answers need JAX")
def test_a_tool_that_answers_wrongly(in_benchmarks):
    found = [*join([*EVALUATE, "hello", "--most=1"], [sys.executable, "-c", WRONG])]
    assert [(each.function, each.valid, each.passed) for each in found] == [
        ("square", True, True),  # of 1.0
        ("double", False, False),
    ]
    assert found[1].error == "output: expected 2.0, got 1.0"


def test_a_tool_that_ends_early(in_benchmarks):
    with pytest.raises(RuntimeError, match="the tool or the evaluation ended early"):
        list(join([*EVALUATE, "hello", "--no-validation"], [sys.executable, "-c", ""]))


@pytest.mark.parametrize(
    ("expected", "found", "wrong"),
    [
        ({"a": [1.0, 2.0]}, {"a": [1.0, 2.0001]}, []),
        ({"a": [1.0, 2.0]}, {"a": [1.0, 2.001]}, ["output.a[1]: expected 2.0, got 2.001"]),
        (1e9, 1e9 + 1e4, []),
        (1e9, 1e9 + 1e6, ["output: expected 1000000000.0, got 1001000000.0"]),
        ([1.0, 2.0], [1.0], ["output: expected the shape (2,), got (1,)"]),
        (1.0, None, ["output: expected 1.0, got nan"]),
        ({"a": 1.0}, {"b": 1.0}, ["output: expected an object with the members ['a']"]),
    ],
)
def test_mismatches_say_where_an_output_differs(expected, found, wrong):
    assert list(mismatches(expected, found)) == wrong


@pytest.mark.parametrize("evaluation", NAMES)
def test_the_default_inputs_are_those_that_have_published_times(evaluation):
    found = {each.name: len(each.functions) for each in workloads(evaluation)}
    published = HAND_WRITTEN.get(evaluation, dict.fromkeys(found, (0, 0)))
    assert found == {name: len(times) for name, times in published.items()}


def test_the_tools_folder_names_all_evaluations_in_order():
    assert (TOOL / "evals.txt").read_text().split() == sorted(NAMES)
