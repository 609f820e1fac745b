"""Many examples in one query: as a loop over them, also where they take different paths."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Leaf, Query
from gradwire_engine.errors import DtypeMismatch, InputError, ShapeMismatch
from numpy.testing import assert_allclose, assert_array_equal

from tests.engine.conftest import called
from tests.tables import cases

RNG = np.random.default_rng(6)
X, Y, W = RNG.normal(size=(5, 3)), RNG.normal(size=5), RNG.normal(size=3)
#: Programs of x (a vector), y (a number) and w (a vector that all examples share).
PROGRAMS = [
    "tanh(x @ w) * y",
    "sum(softmax(x * w)) + y",
    "s = 0.0\nfor v in x:\n    s = s + sin(v * y)\ns * w[0]",
    "y*y if y > 0 else sum(x * w)",
    "s = y\nwhile abs(s) < 2:\n    s = 2*s + 0.1\ns * sum(x) * w[1]",
    "x[1:] = x[1:] * w[0]\nsum(x) * y",
    "z = x*x if sum(x) > 0 else (x if y > 0 else exp(x))\nmax(z) + w[2]",
]
KINDS: dict[str, Any] = {
    "evaluate": {},
    "gradient": {},
    "jacobian": {},
    "hessian": {},
    "jvp": {"sources": {"x": "x", "y": "y"}},
    "hvp": {"sources": {"x": "x", "w": "w"}},
}
VECTORS = {
    "jvp": {"x": RNG.normal(size=3), "y": np.float64(0.5)},
    "hvp": {"x": RNG.normal(size=3), "w": RNG.normal(size=3)},
}


def leaves(answer):
    found = [("value", answer.value), *answer.derivatives.items(), *answer.updates.items()]
    flat = []
    while found:
        name, part = found.pop()
        if isinstance(part, dict | list):
            items = part.items() if isinstance(part, dict) else enumerate(part)
            found += [(f"{name}.{key}", item) for key, item in items]
        else:
            flat.append((name, part))
    return dict(flat)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", PROGRAMS)
def test_a_batch_is_a_loop(ask, text, kind):
    asked = {"kind": kind, "unconnected": "zero", **KINDS[kind]}
    vectors = VECTORS.get(kind)
    given = {"x": X, "y": Y, "w": W}
    together = leaves(ask.answer(text, given, vectors, batch={"x": 0, "y": 0}, **asked))
    for k in range(len(Y)):
        one = leaves(ask.answer(text, given | {"x": X[k], "y": Y[k]}, vectors, **asked))
        assert one.keys() == together.keys()
        for name, expected in one.items():
            assert_allclose(together[name][k], expected, atol=1e-12, err_msg=name)


SEEDS = RNG.normal(size=(3, 4))


@pytest.mark.parametrize("text", PROGRAMS)
def test_many_cotangents_are_a_loop(ask, text):
    given = {"x": X[0], "y": Y[0], "w": W}
    asked = {"target": {"a": ["r"], "b": "x"}, "sources": ["w", "x"], "unconnected": "zero"}
    text = f"r = sin(w) * y\n{text}"
    batch = {"output_gradients.a[0]": 1}
    together = leaves(ask.answer(text, given, {"a": [SEEDS], "b": None}, batch=batch, **asked))
    for k in range(4):
        one = leaves(ask.answer(text, given, {"a": [SEEDS[:, k]], "b": None}, **asked))
        for name, expected in one.items():
            assert_allclose(together[name][k], expected, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("kind", ["jvp", "hvp"])
@pytest.mark.parametrize("text", PROGRAMS)
def test_examples_may_each_have_their_own_direction(ask, text, kind):
    field = {"jvp": "tangents", "hvp": "vectors"}[kind]
    asked = {"kind": kind, "sources": {"x": "x", "y": "y"}, "unconnected": "zero"}
    stack = RNG.normal(size=(3, 5))
    along = {"x": stack, "y": np.float64(0.5)}
    batch = {"x": 0, "y": 0, f"{field}.x": 1}
    together = leaves(ask.answer(text, {"x": X, "y": Y, "w": W}, along, batch=batch, **asked))
    for k in range(len(Y)):
        one = along | {"x": stack[:, k]}
        given = {"x": X[k], "y": Y[k], "w": W}
        for name, expected in leaves(ask.answer(text, given, one, **asked)).items():
            assert_allclose(together[name][k], expected, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("kind", ["jacobian", "hessian"])
@pytest.mark.parametrize("text", ["w[0] * x[ids] * x[::-1]", "x**2 if y > 0 else -x * exp(x)"])
def test_coordinates_are_those_of_each_example(ask, text, kind):
    ids = np.array([[0, 1, 2], [2, 1, 0], [0, 1, 2], [1, 2, 0], [2, 1, 0]])
    asked = {"kind": kind, "sources": "x", "format": "coo"}
    given = {"x": X, "y": Y, "w": W, "ids": ids}
    together = ask.answer(text, given, batch={"x": 0, "y": 0, "ids": 0}, **asked)
    for k in range(len(Y)):
        one = ask.answer(text, {"x": X[k], "y": Y[k], "w": W, "ids": ids[k]}, **asked)
        found = {part: every[k] for part, every in together.derivatives[kind].items()}
        assert [*found["shape"]] == [*one.derivatives[kind]["shape"]]
        assert_allclose(whole(found), whole(one.derivatives[kind]), atol=1e-12)


def whole(coordinates):
    array = np.zeros(coordinates["shape"])
    np.add.at(array, tuple(coordinates["indices"].T), coordinates["values"])
    return array


def test_an_example_without_a_matrix_has_one_of_zeros(ask):
    asked = {"kind": "jacobian", "sources": "w", "format": "coo", "batch": {"x": 0, "y": 0}}
    given = {"x": X, "y": Y, "w": W}
    found = ask.answer("w * x if y > 0 else x", given, **asked).derivatives["jacobian"]
    for k in range(len(Y)):
        one = whole({part: every[k] for part, every in found.items()})
        assert_array_equal(one, np.diag(X[k]) if Y[k] > 0 else np.zeros((3, 3)))


#: Rules that decide on the cotangent: one fails on what the other path is for.
DECIDING = [
    "f = custom_gradient(lambda x: (x, lambda g: 2*g if sum(g) > 0 else -g))\nf(m)",
    "f = custom_gradient(lambda x: (x, lambda g: inv(g) if sum(g) > 0 else -g))\nf(m)",
]


@pytest.mark.parametrize("text", DECIDING)
@pytest.mark.parametrize("order", [1, -1])
def test_rules_may_decide_on_each_cotangent(ask, text, order):
    seeds = np.stack([np.eye(2), np.zeros((2, 2)), -np.ones((2, 2)), 2 * np.eye(2)])[::order]
    given = {"m": np.eye(2)}
    program, query = ask.engine.parse(text), Query("gradient", sources="m")
    recording = ask.engine.recording(program, {"m": Leaf(given["m"])})
    recording.run(ask.poll)
    batch = query._replace(batch={"output_gradients": 0})
    together = ask.answer(text, given, seeds, sources="m", batch=batch.batch).gradients
    of_tape = recording.call(batch, seeds).replay(ask.poll).gradients
    for k, seed in enumerate(seeds):
        expected = ask.answer(text, given, seed, sources="m").gradients
        chosen = (np.linalg.inv(seed) if "inv" in text else 2 * seed) if seed.sum() > 0 else -seed
        assert_allclose(expected, chosen)
        assert_allclose(together[k], chosen)
        assert_allclose(of_tape[k], chosen)
        assert_allclose(recording.call(query, seed).replay(ask.poll).gradients, chosen)


def test_a_variable_may_be_called_as_the_vectors_are(ask):
    given = {"vectors": np.array([1.0, 2.0])}
    along = {"vectors": np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])}
    asked = {"kind": "hvp", "sources": {"vectors": "vectors"}, "batch": {"vectors": 0}}
    answer = ask.answer("sum(vectors**3)", given, along, **asked)
    found = answer.derivatives["hvp"]["vectors"]
    assert_allclose(found, 6 * given["vectors"] * along["vectors"])


@pytest.mark.parametrize("text", PROGRAMS)
def test_a_check_of_many_tells_of_the_worst(ask, text):
    given = {"x": X, "y": Y, "w": W}
    answer = ask.answer(text, given, kind="check", batch={"x": 0, "y": 0})
    alone = [ask.answer(text, given | {"x": X[k], "y": Y[k]}, kind="check") for k in range(len(Y))]
    for path, check in answer.checks.items():
        assert check.ok
        assert all(one.checks[path].error <= check.error * 10 + 1e-9 for one in alone)
        gradient = 0.0 if answer.gradients[path] is None else answer.gradients[path]
        found = np.abs(answer.derivatives["differences"][path] - gradient)
        assert found[check.at] == check.error


def test_a_check_of_many_finds_the_wrong_one(ask):
    given = {"x": np.array([[1.0, 5.0], [3.0, 2.0], [0.0, 1.0]])}
    asked = {"kind": "check", "batch": {"x": 0}, "step": 0.01}
    check = ask.answer("sum(maximum(x, 2)**2)", given, **asked).checks["x"]
    assert (check.ok, check.at) == (False, (1, 1))
    many = np.tile(given["x"], (1, 200))  # of so many elements only a direction is tried
    check = ask.answer("sum(maximum(x, 2)**2)", {"x": many}, **asked).checks["x"]
    assert (check.ok, check.at) == (False, (1,))


def test_any_axis_and_nested_variables(ask):
    given = {"p": {"x": X.T, "s": [Y]}, "w": W}
    found = ask.value("sum(p.x * w) + p.s[0]", given, batch={"p.x": 1, "p.s[0]": -1})
    assert_allclose(found, X @ W + Y)
    whole = ask.value("sum(p.a) + p.b", {"p": {"a": X, "b": Y}}, batch={"p": 0})
    assert_allclose(whole, X.sum(1) + Y)


def test_gradients_of_what_examples_share_are_by_example(ask):
    answer = ask.answer("tanh(x @ w)", {"x": X, "w": W}, batch={"x": 0}, sources="w")
    assert_allclose(answer.gradients, (1 - np.tanh(X @ W) ** 2)[:, None] * X)


def test_other_values_of_recorded_paths_are_not_recorded_anew(ask):
    text = "y*y if y > 0 else -y"
    compiled = set()
    for _ in range(3):
        given = {"y": Leaf(RNG.normal(size=50))}
        call = called(ask.engine, text, given, "gradient", batch={"y": 0})
        call.replay(ask.poll)
        compiled.add(len(call.entry.paths))
    assert compiled == {2}


def test_a_path_that_fails_on_the_values_of_others_does_not_fail_for_them(ask):
    text = "sum(inv(m)) if r else sum(m)"
    m = np.stack([np.eye(2), np.zeros((2, 2)), 2 * np.eye(2)])
    found = ask.value(text, {"m": m, "r": np.array([True, False, True])}, batch={"m": 0, "r": 0})
    assert_allclose(found, [2, 0, 1])


@pytest.mark.thorough
@pytest.mark.parametrize(
    "text",
    [
        "y = x*x\nfor i in range(n):\n    y = y + x\ny",  # each example on a path of its own
        "sum(inv(m)) * x if r else x + n",  # each by itself: others fail on its path
    ],
)
def test_memory_grows_with_the_examples_alone(ask, text):
    count, width = 60, 20_000
    m = np.zeros((count, 2, 2))
    m[0] = np.eye(2)
    given = {"x": np.ones((count, width)), "n": np.arange(count), "m": m, "r": np.arange(count) < 1}
    tracemalloc.start()
    found = ask.value(text, given, batch=dict.fromkeys(given, 0))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    expected = 1 + np.arange(count)
    expected[0] += "inv" in text
    assert_allclose(found[:, 0], expected)
    assert peak < 12 * count * width * 8  # a copy of all for each example is 60


def test_a_gradient_that_only_some_examples_have_is_zero_for_the_others(ask):
    text = "x*w if x > 0 else x"
    answer = ask.answer(text, {"x": np.array([1.0, -1.0, 2.0]), "w": 3.0}, batch={"x": 0})
    assert_array_equal(answer.gradients["w"], [1, 0, 2])
    assert list(answer.unconnected) == ["w"]


def test_what_is_not_finite_on_a_path_not_taken_is_not_told(ask):
    answer = ask.answer("log(x) if x > 0 else x", {"x": np.array([1.0, -1.0])}, batch={"x": 0})
    assert_array_equal(answer.gradients["x"], [1, 1])
    assert not answer.nonfinite
    told = ask.answer("log(x)", {"x": np.array([1.0, 0.0])}, batch={"x": 0})
    assert told.nonfinite


def test_state_is_of_each_example(ask):
    answer = ask.answer("x.assign_add(w)\nx*x", {"x": Y, "w": 2.0}, batch={"x": 0})
    assert_allclose(answer.updates["x"], Y + 2)


@cases("batch, message")
def test_wrong_batches_are_refused(ask, batch, message):
    given = {"x": X, "w": W, "empty": np.zeros((0, 2)), "name": "a"}
    with pytest.raises(InputError, match=message) as caught:
        ask.answer("sum(x)", given, batch=batch)
    assert caught.value.at is not None
    assert caught.value.at.pointer == "/batch"


def test_results_of_different_shapes_do_not_stack(ask):
    with pytest.raises(ShapeMismatch, match="do not stack"):
        ask.value("x if x[0] > 0 else x[:1]", {"x": X}, batch={"x": 0})


def test_results_of_different_dtypes_do_not_stack(ask):
    with pytest.raises(DtypeMismatch, match="different dtypes, float64 and int64, which do not"):
        ask.value("sum(x) if x[0] > 0 else len(x)", {"x": X}, batch={"x": 0})
