"""Each query takes text, a stored program or a Python function, with the same keywords."""

import enum
import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

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


#: Names of keys, most of which programs would read as expressions or as other names.
KEYS = [
    *("a", "é", "ﬁ", "a-b", "x*2", "a[0]", "a.b", "0", "1", "1e3", "True", "None", "lambda"),
    *("", " a", "a b", "a\nb", "#", "'", '"', "\\", "{a}", "\u2028", "\x00", "😀", "f(a)"),
]

#: All of them that Python does not take as keywords in calls.
REFUSED_NAMES = [name for name in KEYS if name not in ("a", "é")]


@pytest.mark.parametrize("key", KEYS, ids=ascii)
@pytest.mark.parametrize("is_nested", [False, True])
def test_arguments_of_any_name_are_read_or_refused(client, key, is_nested):
    """Never another argument that the name would be an expression of."""

    def twice(**named):
        return 2.0 * (named["p"] if is_nested else named)[key]

    point = {"a": 7.0, "b": 1.0, "x": 11.0, "fi": 13.0, key: 5.0}
    variables = {"p": point} if is_nested else point
    if key in (("a.b", "ﬁ") if is_nested else REFUSED_NAMES):
        with pytest.raises((gradwire.UsageError, gradwire.APIError)):
            client.gradient(twice, variables)
        return
    answer = client.gradient(twice, variables)
    slopes = answer.gradients["p"] if is_nested else answer.gradients
    assert answer.value == 10.0
    assert slopes == {**dict.fromkeys(point), key: 2.0}


#: Queries of a program or a function of ``x`` alone, by either client.
AT_X = {
    "evaluate": lambda c, f, x: c.evaluate(f, {"x": x}),
    "gradient": lambda c, f, x: c.gradient(f, {"x": x}, output_gradients=x[0]),
    "check": lambda c, f, x: c.check(f, {"x": x}),
    "jacobian": lambda c, f, x: c.jacobian(f, {"x": x}),
    "hessian": lambda c, f, x: c.hessian(f, {"x": x}),
    "jvp": lambda c, f, x: c.jvp(f, {"x": np.ones(2)}, {"x": x}),
    "hvp": lambda c, f, x: c.hvp(f, {"x": np.ones(2)}, {"x": x}),
    "explain": lambda c, f, x: c.explain(f, {"x": x}),
    "grad": lambda c, f, x: c.grad(f, sources="x")(x=x),
    "value_and_grad": lambda c, f, x: c.value_and_grad(f, sources="x")({"x": x}),
}
OF_FUNCTIONS = {
    "function": lambda c, f, x: c.function(f)(x),
    "grad by position": lambda c, f, x: c.grad(f)(x),
    "jacobian by position": lambda c, f, x: c.jacobian(f)(x),
    "jvp by position": lambda c, f, x: c.jvp(f, (x,), (x,)),
    "vmap": lambda c, f, x: c.vmap(f)(x),
}


def cubes(x):
    return np.sum(x**3)


@pytest.mark.parametrize(
    ("ask", "subject"),
    [
        *((ask, "sum(x**3)") for ask in AT_X.values()),
        *((ask, cubes) for ask in (AT_X | OF_FUNCTIONS).values()),
    ],
    ids=[*AT_X, *(f"{name} of a function" for name in AT_X | OF_FUNCTIONS)],
)
async def test_values_are_those_at_the_call(awaiting_client, ask, subject):
    x = np.array([1.0, 2.0])
    asked = ask(awaiting_client, subject, x)
    x[:] = 50.0
    found = await asked
    expected = await ask(awaiting_client, subject, np.array([1.0, 2.0]))
    np.testing.assert_equal(of_request(found), of_request(expected))


def of_request(answer):
    """What an answer says, without its times."""
    if isinstance(answer, gradwire.Explanation):
        return [node.value for node in answer.nodes or ()]
    parts = ("value", "outputs", "gradients", "jacobian", "hessian", "jvp", "hvp")
    found = {part: getattr(answer, part) for part in parts if hasattr(answer, part)}
    return found or answer


class Scaled:
    def __init__(self, scale):
        self.scale = scale

    def of(self, x):
        return np.sum(x * self.scale)


def of_positions(a, b, /, c=3.0, *, d=1.0, **rest):
    return np.sum(a**2) * b + c * d + sum(rest.values())


def of_keywords(**named):
    return sum(np.sum(value) ** 2 for value in named.values())


#: Functions, arguments by name, and the same arguments as Python passes them.
CALLS: dict[str, Any] = {
    "positions alone": (
        of_positions,
        {"b": 2.0, "a": np.ones(3)},
        lambda n: ([n["a"], n["b"]], {}),
    ),
    "all kinds": (
        of_positions,
        {"d": 5.0, "z": 7.0, "b": 2.0, "a": np.ones(3), "c": 4.0},
        lambda n: ([n["a"], n["b"], n["c"]], {"d": n["d"], "z": n["z"]}),
    ),
    "a default left out": (
        of_positions,
        {"a": np.ones(3), "b": 2.0, "d": 5.0},
        lambda n: ([n["a"], n["b"]], {"d": n["d"]}),
    ),
    "keywords alone": (of_keywords, {"y": np.ones(2), "x": 3.0}, lambda n: ([], n)),
    "mapped": (gradwire.vmap(lambda w: w**2), {"w": np.ones(3)}, lambda n: ([n["w"]], {})),
    "mapped over some": (
        gradwire.vmap(lambda w, x: w * x, in_axes=(None, 0)),
        {"x": np.ones(3), "w": 2.0},
        lambda n: ([n["w"], n["x"]], {}),
    ),
    "a gradient": (
        gradwire.grad(lambda w: np.sum(w**2)),
        {"w": np.ones(3)},
        lambda n: ([n["w"]], {}),
    ),
    "a gradient at an integer": (gradwire.grad(lambda w: w**2), {"w": 3}, lambda n: ([n["w"]], {})),
    "a method": (Scaled(3.0).of, {"x": np.ones(3)}, lambda n: ([n["x"]], {})),
}


@pytest.mark.parametrize("case", CALLS)
def test_arguments_are_passed_as_the_function_takes_them(client, case):
    function, named, passed = CALLS[case]
    args, kwargs = passed(named)
    expected = client.function(function)(*args, **kwargs)
    np.testing.assert_equal(client.evaluate(function, named).outputs, expected)
    shuffled = dict(reversed(named.items()))
    assert client.gradient(function, shuffled).gradients.keys() == named.keys()


def test_an_explained_evaluation_has_no_sources_and_keeps_integers(client):
    def power(x, n):
        return sum(x**i for i in range(n))

    answer = client.explain(power, {"x": 2.0, "n": 3}, query="evaluate")
    assert not any(each.derivative for each in answer.instructions)
    assert [node.value for node in answer.nodes or ()][-1] == 7.0


@pytest.mark.parametrize("name", ["c", "x", "optimize", "K", "np", "complex", "inf", "sum", "v0"])
def test_names_within_strings_and_keywords_stay(client, name):
    """Names of arguments are words of the program elsewhere: subscripts, keywords, dtypes."""
    einsum = np.einsum

    def called(**named):
        k, x = named[name]["matrix"], named["other"]
        return einsum("cx,x->c", k, x).astype("complex64").real.sum(axis=0) + np.fmin(
            0.0 * x[0], np.inf
        )

    point = {name: {"matrix": np.arange(6.0).reshape(2, 3)}, "other": np.ones(3)}
    if name in ("np", "inf"):
        with pytest.raises(gradwire.UsageError, match="would hide"):
            client.gradient(called, point)
        return
    slopes = client.gradient(called, point).gradients
    np.testing.assert_allclose(slopes["other"], [3.0, 5.0, 7.0])


def test_functions_of_text_may_have_parameters_called_as_arguments(client):
    text = gradwire.program("k = e * 2\nsum(k * e)", "e")
    for name in ("e", "k", "f0", "v0", "result_"):
        called = eval(f"lambda {name}: f({name})", {"f": text})
        answer = client.gradient(called, {name: np.array([1.0, 2.0])})
        assert answer.gradients[name].tolist() == [4.0, 8.0]
    with pytest.raises(gradwire.UsageError, match="called sum would hide"):
        client.gradient(lambda **named: text(named["sum"]), {"sum": np.ones(2)})


class Pair(NamedTuple):
    w: Any
    rest: Any = None


@dataclass(frozen=True)
class Layer:
    w: Any
    activation: Any = np.tanh
    derived: Any = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "derived", 2.0 * self.w)


W = np.array([1.0, 2.0])
#: Nested arguments ``p``, and what in them is ``w``.
NESTED = {
    "none": ({"w": W, "b": None}, lambda p: p["w"]),
    "a function": ({"w": W, "f": np.tanh}, lambda p: p["w"]),
    "text": ({"w": W, "kind": "relu"}, lambda p: p["w"]),
    "empty levels": ({"w": W, "a": {}, "b": [], "c": [None]}, lambda p: p["w"]),
    "numbers": ({"w": W, "n": 3, "shape": (2, 3)}, lambda p: p["w"]),
    "numbers in a list": ([3, W, (2, 3), True], lambda p: p[1]),
    "a named tuple": (Pair(W), lambda p: p.w),
    "a dataclass": (Layer(W), lambda p: p.w),
    "a value that is none": ({"w": W, "value": None}, lambda p: p["w"]),
    "levels of all kinds": ({"a": [Pair({"b": (Layer(W), 1.0)})]}, lambda p: p["a"][0].w["b"][0].w),
    "none in a list": ([W, None], lambda p: p[0]),
    "a function in a list": ([W, np.tanh], lambda p: p[0]),
    "a value": ({"w": W, "value": W}, lambda p: p["w"]),
    "parts": ({"re": W, "im": W}, lambda p: p["re"]),
    "numbers as keys": ({0: W}, lambda p: p[0]),
}
REFUSED = {"none in a list", "a function in a list", "a value", "parts", "numbers as keys"}


@pytest.mark.parametrize("case", NESTED)
def test_nested_arguments_are_sent_or_refused(client, case):
    p, read = NESTED[case]

    def squared(p):
        return np.sum(read(p) ** 2)

    if case in REFUSED:
        with pytest.raises(gradwire.UsageError, match=r"\bp\b|missing values"):
            client.gradient(squared, {"p": p})
        return
    answer = client.gradient(squared, {"p": p})
    assert answer.value == 5.0
    assert read(answer.gradients["p"]).tolist() == [2.0, 4.0]
    assert client.evaluate(squared, {"p": p}).outputs == 5.0


@dataclass
class Point:
    x: Any
    y: Any


class NamedPoint(NamedTuple):
    x: Any
    y: Any


@pytest.mark.parametrize("kind", [Point, NamedPoint, dict])
@pytest.mark.parametrize("query", ["gradient", "jacobian", "hessian"])
def test_answers_are_nested_as_the_variables(client, kind, query):
    """For a function as for its text."""
    ask = getattr(client, query)
    point = kind(x=2.0, y=3.0)
    parts = {"gradient": "gradients"}.get(query, query)
    ours = getattr(ask(lambda x, y: x**2 * y, point), parts)
    theirs = getattr(ask("x**2 * y", point), parts)
    assert type(ours) is type(theirs) is kind
    assert ours == theirs


class Level(enum.IntEnum):
    LOW = 1


@pytest.mark.parametrize(
    "result", [Level.LOW, True, 2, 1j, {}, [], (), {"a": {}}, math.inf, np.float32(2), [{"a b": 1}]]
)
def test_plain_results_come_as_they_are(client, result):
    outputs = client.evaluate(lambda x: [x, result], {"x": 1.0}).outputs[1]
    assert outputs == (list(result) if isinstance(result, tuple) else result)


def test_results_by_numbers_are_refused(client):
    with pytest.raises(gradwire.UsageError, match="keys that are not strings"):
        client.evaluate(lambda x: {0: x, 1: x}, {"x": 1.0})
