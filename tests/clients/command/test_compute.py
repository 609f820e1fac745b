import json

import httpx
import numpy as np
import pytest

LOSS = "h = tanh(x @ layer.w + layer.b)\nloss = mean((h - y)**2)"
AT = ["layer.w=[0.1,-0.2]", "layer.b=0.3", "x=[[1,2],[3,4]]", "y=[0,1]"]


def test_a_gradient_is_printed_with_its_shape_and_dtype(run):
    lines = run("grad", "sum(x**2)", "x=[1,2,3]").stdout.splitlines()
    assert lines[0] == "Gradient of 14.0"
    assert lines[1].split() == ["source", "type", "at", "gradient", "norm"]
    assert "float64[3]" in lines[2]
    assert "[2., 4., 6.]" in lines[2]


@pytest.mark.parametrize(
    ("words", "path", "members"),
    [
        (["eval", "x**2, log(y)", "x=[1,2]", "y=[0,-1]"], "evaluate", {}),
        (["grad", "sum(x**2 * y)", "x=[1,2]", "y=3"], "gradient", {}),
        (["grad", "x**2 * y", "x=[1,2]", "y=3", "--sources", "y"], "gradient", {"sources": "y"}),
        (["jacobian", "x**2 * y", "x=[1,2]", "y=3"], "jacobian", {}),
        (["hessian", "sum(x**2 * y)", "x=[1,2]", "y=3"], "hessian", {}),
        (["check", "sum(x**2 * y)", "x=[1,2]", "y=3"], "check", {}),
        (
            ["jvp", "x * y", "x=[1,2]", "y=3", "--tangent", "x=[1,-1]"],
            "jvp",
            {"tangents": {"x": [1, -1]}},
        ),
        (
            ["hvp", "sum(x**4 + y)", "x=[1,2]", "y=3", "--vector", "x=[1,-1]"],
            "hvp",
            {"vectors": {"x": [1, -1]}},
        ),
        (
            ["jacobian", "x * y", "x=[1,2]", "y=3", "--format=coo", "--sources=x"],
            "jacobian",
            {"format": "coo", "sources": "x"},
        ),
        (["eval", "x * 2j + y", "x=[1,2]", "y=0"], "evaluate", {}),
        (
            ["grad", "x * y", "x=[1,2]", "y=3", "--output-gradients=[1,10]", "--exact"],
            "gradient",
            {"output_gradients": [1, 10], "exact": True},
        ),
        (
            ["eval", "h = x * y; sum(h)", "x=[1,2]", "y=3", "--outputs", '{"a": ["h"]}'],
            "evaluate",
            {"outputs": {"a": ["h"]}},
        ),
        (
            ["grad", "x * y", "x=[1,2]", "y=3", "--batch", "x", "--sources=x,y"],
            "gradient",
            {"batch": ["x"], "sources": ["x", "y"]},
        ),
        (
            ["grad", "h = x * y; sum(h)", "x=[1,2]", "y=3", "--target=h", "--zero"],
            "gradient",
            {"target": "h", "unconnected_gradients": "zero"},
        ),
    ],
    ids=lambda part: part[0] if isinstance(part, list) else None,
)
def test_json_is_the_document_that_the_service_writes(answer, service_url, words, path, members):
    values = dict(word.split("=", 1) for word in words[2:4])
    variables = {name: json.loads(value) for name, value in values.items()}
    document = {"program": words[1], "variables": variables, **members}
    expected = httpx.post(f"{service_url}/v1/{path}", json=document)
    assert expected.is_success, expected.text
    assert answer(*words) == expected.json()


def test_sources_keep_their_nesting(answer):
    sources = {"weights": ["layer.w"], "bias": "layer.b"}
    found = answer("grad", LOSS, *AT, "--sources", json.dumps(sources))["gradients"]
    assert list(found) == ["weights", "bias"]
    assert np.shape(found["weights"]) == (1, 2)
    whole = answer("grad", LOSS, *AT)["gradients"]
    assert whole["layer"] == {"w": found["weights"][0], "b": found["bias"]}


def test_one_source_by_name_is_one_gradient(answer):
    assert answer("grad", "x * y", "x=2", "y=3", "--sources", "x")["gradients"] == 3.0
    assert answer("grad", "x * y", "x=2", "y=3", "--sources", "x,y")["gradients"] == [3.0, 2.0]


def test_large_arrays_are_abbreviated_and_small_ones_whole(run):
    small = run("eval", "arange(8.0) * x", "x=1").stdout
    assert "[0., 1., 2., 3., 4., 5., 6., 7.]" in small
    large = run("eval", "arange(1000.0) * x", "x=1").stdout
    assert "float64[1000]" in large
    assert "..." in large
    assert len(large) < 400


def test_scalars_are_printed_in_all_their_digits(run):
    assert "3.3333333333333335" in run("eval", "x / 3", "x=10").stdout


def test_missing_gradients_say_why_and_nonfinite_values_where(run):
    assert (
        "none: stop_gradient ends the path, line 2\n"
        in run("grad", "y = 2 * x\nx * stop_gradient(w * y)", "x=1", "w=1").stdout
    )
    shown = run("grad", "a = log(sum(x))\na + 0*sqrt(y)", "x=[0,0]", "y=0", "z=1").stdout
    assert "none: the target does not depend on this source" in shown
    assert "! First non-finite value, forward: log, given 0\n  line 1: a = log(sum(x))\n" in shown
    assert "\n  line 2: a + 0*sqrt(y)\n                ^" in shown


def test_explanations_show_values_adjoints_and_costs(run, answer):
    words = ["explain", "h = tanh(x)\nsum(w * h)", "w=2", "x=[1,2]", "--sources", "w"]
    shown = [line.split() for line in run(*words).stdout.splitlines()]
    (line,) = [cells for cells in shown if "tanh" in cells and "h" in cells]
    assert line[:6] == ["2", "tanh", "1", "float64[2]", "1", "h"]
    assert ["recorded"] in shown
    assert ["replayed"] in shown
    found = answer(*words, "--time")
    assert all(instruction["seconds"] >= 0 for instruction in found["instructions"])
    assert "seconds" not in answer(*words)["instructions"][0]
    found = answer("explain", "x**2", "x=3", "--query", "hessian")
    assert any(instruction["derivative"] for instruction in found["instructions"])


def test_a_wrong_gradient_is_the_exit_code_of_check(run):
    wrong = "custom_gradient(lambda x: x, lambda z_bar, z, x: 2 * z_bar)(x)"
    assert "all right" in run("check", "sum(sin(x))", "x=[1,2]").stdout
    shown = run("check", wrong, "x=3", exits=1).stdout
    assert "WRONG" in shown


def test_programs_may_begin_with_a_minus(answer):
    assert answer("eval", "-x**2", "x=3")["outputs"] == -9.0
    assert answer("eval", "-floor(x)", "x=-1.5")["outputs"] == 2.0
    assert answer("eval", "-x", "x=3")["outputs"] == -3.0


def test_options_may_stand_before_the_command_and_the_last_one_counts(run, service_url):
    wrong = "http://127.0.0.1:1"
    before = run("--url", wrong, "--json", "eval", "x", "x=1", "--url", service_url)
    assert json.loads(before.stdout)["outputs"] == 1.0
    assert run("--url", wrong, "limits", exits=5).stdout == ""


def test_a_timeout_is_the_limit_of_the_service(run):
    slow = "for i in range(100000000):\n    x = x * 0.999 + sin(x)\nx"
    told = run("eval", slow, "x=0.5", "--timeout", "0.3", exits=8).stderr
    assert "the request exceeded its deadline of 300 ms" in told
    assert "hint: --timeout SECONDS allows more" in told


def test_local_needs_no_server(run, answer, monkeypatch):
    monkeypatch.setenv("GRADWIRE_URL", "local")
    assert answer("grad", "sum(x**2)", "x=[1,2]")["gradients"] == {"x": [2.0, 4.0]}
    monkeypatch.setenv("GRADWIRE_URL", "http://127.0.0.1:1")
    assert answer("--url", "local", "eval", "x + 1", "x=1")["outputs"] == 2.0
