"""Results of large constants are computed once, counted, and never change an answer."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Limits, Query
from gradwire_engine.backends.staged import Specialised
from gradwire_engine.errors import BadArgument, DeadlineExceeded
from gradwire_engine.explain import explain
from numpy.testing import assert_allclose

from tests.engine.conftest import called

N = 200_000
GRID = f"t = linspace(0, 1, {N})\nz = a * sin(30 * t) + b * t\nsum(z**2)"
MASKED = "n = len(q)\ns = (q @ q.T) * tril(ones((n, n)))\nsum(s**2)"
RNG = np.random.default_rng(4)
VALUES: dict[str, dict[str, Any]] = {
    GRID: {"a": np.float64(1.25), "b": np.float64(-0.5)},
    MASKED: {"q": RNG.normal(size=(400, 4))},
    f"sum(x[(arange({N}) * 7) % {N}]**3)": {"x": RNG.normal(size=N)},
    "sum(solve(m + 0.5 * eye(370), v))": {
        "m": np.eye(370) + RNG.normal(size=(370, 370)) / 60,
        "v": RNG.normal(size=370),
    },
}


def asked(text, limits=None, **query):
    engine = Engine(limits) if limits else Engine()
    return called(engine, text, given(text), "gradient", **query)


def given(text):
    return {name: Leaf(np.asarray(x)) for name, x in VALUES[text].items()}


def executable(call):
    return call.entry.paths[0].executable


def numbers(answer):
    return [np.asarray(answer.value), *map(np.asarray, leaves_of(answer.derivatives))]


def leaves_of(nested):
    if isinstance(nested, dict | list):
        items = nested.values() if isinstance(nested, dict) else nested
        return [leaf for item in items for leaf in leaves_of(item)]
    return [nested]


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("text", VALUES)
def test_answers_are_those_that_constants_give_each_time(text, exact):
    call = asked(text, exact=exact)
    first, *others = [call.replay(lambda: None) for _ in range(3)]
    assert isinstance(executable(call), Specialised)
    plain = asked(text, Limits(kept_bytes=0), exact=exact)
    expected = plain.replay(lambda: None)
    assert not isinstance(executable(plain), Specialised)
    for answer in (first, *others):
        for found, wanted in zip(numbers(answer), numbers(expected), strict=True):
            if exact:
                assert found.tobytes() == wanted.tobytes()
            assert_allclose(found, wanted, rtol=1e-11, atol=1e-11)


def test_what_is_kept_is_counted():
    call = asked(GRID)
    call.replay(lambda: None)
    found = executable(call)
    kept = sum([x.nbytes for x in found.kept])
    assert kept == 2 * 8 * N
    assert found.constant_bytes >= kept
    assert found.nbytes >= kept
    assert call.entry.nbytes >= kept
    assert all(not x.flags.writeable for x in found.kept)


def test_up_to_a_size_constants_are_in_the_tape():
    engine = Engine()
    text = "t = linspace(0, 1, 1000)\nsum((a * sin(t))**2)"
    call = called(engine, text, {"a": 2.0}, "gradient")
    call.replay(lambda: None)
    assert not isinstance(executable(call), Specialised)


def test_nothing_is_kept_beyond_the_limit():
    call = asked(GRID, Limits(kept_bytes=8 * N))
    call.replay(lambda: None)
    assert sum([x.nbytes for x in executable(call).kept]) <= 8 * N


def test_the_first_replay_is_predicted_to_take_longer():
    call = asked(GRID)
    call.compile(lambda: None)
    before = executable(call).seconds
    assert not executable(call).kept
    call.replay(lambda: None)
    assert executable(call).seconds < before


def test_what_is_interrupted_is_computed_again():
    call = asked(GRID)
    call.compile(lambda: None)

    def stop():
        raise DeadlineExceeded("it took too long")

    with pytest.raises(DeadlineExceeded):
        executable(call).replay(call.arguments.inputs, stop)
    assert not executable(call).kept
    assert call.replay(lambda: None).value == asked(GRID).replay(lambda: None).value


def test_threads_share_what_is_kept():
    call = asked(GRID)
    call.compile(lambda: None)
    with ThreadPoolExecutor(4) as threads:
        answers = [*threads.map(lambda _: call.replay(lambda: None).value, range(8))]
    assert len(executable(call).kept) == 2
    assert_allclose(answers, answers[0], rtol=1e-13)


def test_an_error_of_constants_has_its_place():
    engine = Engine()
    text = f"i = arange({N})\nz = i[i + 1]\nsum(x * z)"
    call = called(engine, text, {"x": np.ones(N)}, "gradient")
    for _ in range(3):
        with pytest.raises(BadArgument, match="out of range") as caught:
            call.replay(lambda: None)
        assert caught.value.at is not None
        assert caught.value.at.line == 2


def test_what_is_left_is_explained():
    engine = Engine()
    leaves = given(GRID)
    ticks = iter(range(10**6))
    found = explain(engine.parse(GRID), leaves, Query("gradient"), clock=lambda: float(next(ticks)))
    assert [*found.stages][-1] == "residual"
    operations = [step.op.name for step in found.replayed.steps]
    assert not any(op.startswith(("progression", "sin")) for op in operations)
    assert found.times is not None
    assert len(found.times.steps) == len(operations)
