"""Each query takes text, a stored program or a Python function, with the same keywords."""

from dataclasses import dataclass
from typing import Any

import gradwire
import numpy as np
import pytest

TEXT = "mean((tanh(x @ params.w + params.b) - y)**2)"
POINT: dict[str, Any] = {
    "params": {"w": np.array([0.1, -0.2]), "b": 0.5},
    "x": np.array([[1.0, 2.0], [3.0, 4.0]]),
    "y": np.array([0.0, 1.0]),
}
ALONG = {"params": {"w": np.array([1.0, -1.0]), "b": 0.0}}


def loss(params, x, y):
    return np.mean((np.tanh(x @ params["w"] + params["b"]) - y) ** 2)


QUERIES = {
    "evaluate": lambda c, f: c.evaluate(f, POINT).outputs,
    "gradient": lambda c, f: c.gradient(f, POINT).gradients,
    "gradient of some": lambda c, f: c.gradient(f, POINT, sources=["params.w", "x"]).gradients,
    "check": lambda c, f: c.check(f, POINT, sources="params").gradients,
    "jacobian": lambda c, f: c.jacobian(f, POINT, sources="params", mode="reverse").jacobian,
    "jacobian by keywords": lambda c, f: c.jacobian(program=f, variables=POINT).jacobian,
    "hessian": lambda c, f: c.hessian(f, POINT, sources={"w": "params.w"}).hessian,
    "jvp": lambda c, f: c.jvp(f, POINT, ALONG).jvp,
    "hvp": lambda c, f: c.hvp(f, POINT, ALONG).hvp,
    "explain": lambda c, f: c.explain(f, POINT, sources="x").instructions[-1].op,
    "grad": lambda c, f: c.grad(f, sources="params")(POINT),
    "value_and_grad": lambda c, f: c.value_and_grad(f, sources="y")(POINT, x=POINT["x"] + 1),
}


@pytest.mark.parametrize("query", QUERIES)
def test_text_stored_programs_and_functions_give_one_answer(client, query):
    ask = QUERIES[query]
    text, stored = ask(client, TEXT), ask(client, client.programs.register(TEXT))
    for function in (loss, gradwire.function(loss)):
        for found in (stored, ask(client, function)):
            np.testing.assert_equal(simplified(found), simplified(text))


def simplified(found):
    """Nested arrays with the digits that recordings share with texts."""
    if isinstance(found, dict):
        return {name: simplified(part) for name, part in found.items()}
    if isinstance(found, (list, tuple)):
        return [simplified(part) for part in found]
    return found if isinstance(found, str) else np.round(found, 12)


async def test_answers_are_awaited(awaiting_client):
    answer = await awaiting_client.gradient(loss, POINT, sources="params.b")
    again = await awaiting_client.grad(TEXT, sources="params.b")(POINT)
    assert answer.gradients == pytest.approx(again)


def test_a_function_decides_anew_by_its_arguments(client):
    def kinked(x):
        return 2.0 * x if x > 0 else -x

    slopes = [client.gradient(kinked, {"x": x}, sources="x").gradients for x in (3.0, -3.0, 1.0)]
    assert slopes == [2.0, -1.0, 2.0]


def test_integers_are_numbers_where_they_are_differentiated(client):
    def power(x, n):
        return sum(x**i for i in range(n))

    assert client.evaluate(power, {"x": 2, "n": 3}).outputs == 7
    assert client.gradient(power, {"x": 2, "n": 3}, sources="x").gradients == 5.0
    assert client.gradient(lambda x: x**2, {"x": 3}).gradients == {"x": 6.0}


def test_values_come_nested_and_captured_arrays_are_no_sources(client):
    @dataclass
    class Both:
        low: np.ndarray
        rest: tuple

    scale = np.array([1.0, 10.0])

    def several(x):
        return Both(x * scale, (x, [x[0]]))

    outputs = client.evaluate(several, {"x": np.array([1.0, 2.0])}).outputs
    assert outputs["low"].tolist() == [1.0, 20.0]
    assert outputs["rest"][1] == [1.0]
    answer = client.gradient(lambda x: np.sum(x * scale), {"x": np.array([1.0, 2.0])})
    assert answer.gradients.keys() == {"x"}


def test_keys_that_are_no_names_are_read(client):
    point = {"p": {"a b": [1.0, 2.0], "of": [{"c": 3.0}]}}
    answer = client.gradient(lambda p: p["a b"][1] * p["of"][0]["c"], point)
    assert answer.gradients["p"]["of"] == [{"c": 2.0}]


def test_errors_name_the_line_of_the_function(client):
    def wrong(x):
        return x @ np.ones(7)

    with pytest.raises(gradwire.ShapeMismatch) as caught:
        client.gradient(wrong, {"x": np.ones(3)})
    assert "in wrong" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    ("f", "variables", "told"),
    [
        (loss, {"x": 1.0}, "missing a required argument"),
        (loss, 3, "variables go by name"),
        (lambda x: "text", {"x": 1.0}, "returns arrays"),
    ],
)
def test_what_cannot_be_asked_for_by_name_is_refused(client, f, variables, told):
    with pytest.raises(gradwire.UsageError, match=told):
        client.gradient(f, variables)


#: What recordings call results, arguments that are nested, and functions.
NAMES = [*(f"v{n}" for n in range(6)), "v0_", "v1_", "a_k", "body0", "f0", "sum"]


@pytest.mark.parametrize("name", NAMES)
def test_arguments_may_be_called_what_results_are(client, name):
    """Sources are found by name: a result of that name would be one."""

    def nested(a, q):
        u = np.sin(a["k"]) * q
        for _ in range(3):
            u = np.cos(u) + a["m"] * u
        return np.sum(u * a["k"])

    def flat(a, q):
        return nested({"k": a, "m": 0.5}, q)

    for function, value in (
        (nested, {"k": np.array([0.3, 2.0]), "m": 0.7}),
        (flat, np.array([0.3, 2.0])),
    ):
        names = {name: value, f"{name}_": 1.5}
        called = eval(f"lambda {name}, {name}_: f({name}, {name}_)", {"f": function})
        found = client.gradient(called, names).gradients
        expected = client.gradient(function, {"a": value, "q": 1.5}).gradients
        np.testing.assert_equal(found, {name: expected["a"], f"{name}_": expected["q"]})


def test_arguments_may_not_hide_functions(client):
    sine = np.sin
    with pytest.raises(gradwire.UsageError, match="called np would hide"):
        client.gradient(lambda np: sine(np["k"]), {"np": {"k": 1.0}})
