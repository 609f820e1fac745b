"""Programs that decide often: one recording for all paths, and the answers of the one taken."""

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.errors import EngineError
from gradwire_engine.polling import no_deadline
from numpy.testing import assert_allclose

from tests.tables import table

#: Programs of x, y and z that decide by values: of two, three or more things.
PROGRAMS = table(__file__, "PROGRAMS")


def asked(engine, text, values, **query):
    """The answer in the parts that clients see, or the error and its place."""
    variables = {name: Leaf(np.asarray(value)) for name, value in values.items()}
    call = engine.call(engine.parse(text), variables, Query(**{"kind": "gradient", **query}))
    try:
        answer = call.replay(no_deadline)
    except EngineError as error:
        return (type(error), str(error), error.at), call
    numbers = [answer.value, *answer.gradients.values(), *answer.updates.values()]
    kinds = [None if number is None else np.asarray(number).dtype for number in numbers]
    reasons = {path: (u.reason, u.detail) for path, u in answer.unconnected.items()}
    return (numbers, kinds, reasons, answer.warnings, {*answer.updates}), call


def same(found, expected):
    if isinstance(found[0], type):
        return found == expected
    pairs = zip(found[0], expected[0], strict=True)
    close = [
        a is b or np.allclose(a, b, rtol=1e-13, atol=1e-14, equal_nan=True)
        for a, b in pairs
        if (a is None) == (b is None)
    ]
    return len(close) == len(found[0]) and all(close) and found[1:] == expected[1:]


@pytest.mark.parametrize("kind", ["gradient", "evaluate"])
@pytest.mark.parametrize("unconnected", ["none", "zero"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_answers_are_those_of_the_path_taken(name, unconnected, kind):
    rng, engine = np.random.default_rng(0), Engine()
    for _ in range(40):
        values = dict(zip("xyz", rng.normal(size=3), strict=True))
        query = {"unconnected": unconnected, "kind": kind}
        if kind == "evaluate":
            query.pop("unconnected")
        found, _ = _evaluated(engine, PROGRAMS[name], values, query)
        expected, _ = _evaluated(Engine(), PROGRAMS[name], values, query)
        assert same(found, expected), (values, found, expected)


def _evaluated(engine, text, values, query):
    if query["kind"] == "gradient":
        return asked(engine, text, values, **query)
    variables = {name: Leaf(np.asarray(value)) for name, value in values.items()}
    call = engine.call(engine.parse(text), variables, Query(**query))
    try:
        answer = call.replay(no_deadline)
    except EngineError as error:
        return (type(error), str(error), error.at), call
    numbers = [answer.value, *answer.updates.values()]
    return (numbers, [np.asarray(n).dtype for n in numbers], answer.warnings), call


@pytest.mark.parametrize("count", [5, 20])
def test_many_decisions_need_few_recordings(count):
    rng, engine = np.random.default_rng(1), Engine()
    lines = [
        f"if x[{i}] > 0:\n  s = s + sqrt(x[{i}])*w\nelse:\n  s = s - x[{i}]" for i in range(count)
    ]
    text = "\n".join(["s = 0.0", *lines, "s"])
    recordings: set[int] = set()
    for _ in range(60):
        x = rng.normal(size=count)
        (numbers, *_), call = asked(engine, text, {"x": x, "w": 1.5})
        recordings.update(map(id, call.entry.paths))
        root = np.sqrt(np.maximum(x, 0))
        value, of_x, of_w = numbers
        assert_allclose(value, np.sum(np.where(x > 0, 1.5 * root, -x)))
        with np.errstate(divide="ignore"):
            assert_allclose(of_x, np.where(x > 0, 0.75 / root, -1))
        assert of_w is None if (x <= 0).all() else np.isclose(of_w, np.sum(root))
    assert len(recordings) == 5


def test_a_source_has_no_gradient_where_its_branch_is_not_taken():
    rng, engine, count = np.random.default_rng(2), Engine(), 12
    lines = [f"if x{i} > 0:\n  s = s + x{i}**3" for i in range(count)]
    text = "\n".join(["s = 0.0", *lines, "s"])
    for _ in range(40):
        x = rng.normal(size=count)
        values = {f"x{i}": each for i, each in enumerate(x)}
        ((_, *gradients), _, reasons, *_), _ = asked(engine, text, values)
        for i, each in enumerate(x):
            if each > 0:
                assert_allclose(gradients[i], 3 * each**2)
            else:
                assert gradients[i] is None
                assert reasons[f"x{i}"] == ("no_path", "only a decision depends on this source")
