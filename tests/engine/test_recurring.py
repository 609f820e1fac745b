"""Requests whose residents change: one executable for all, and what recurs is computed once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Answer, Engine, Leaf, Limits, Query
from gradwire_engine.backends.reference.backend import ReferenceExecutable
from gradwire_engine.backends.staged import Specialised
from gradwire_engine.backends.tiers import Tiers
from gradwire_engine.backends.walk.executable import WalkExecutable
from gradwire_engine.queries import Call
from gradwire_engine.queries.residents import ResidentHistory
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.engine.test_residents import arrays, kept, same

RNG = np.random.default_rng(53)
#: What depends on examples alone is a fair part of it.
TEXT = "z = (x - mean(x, axis=0)) / std(x, axis=0)\nmean((tanh(z @ w) - log(1 + y**2))**2)"
BATCHES = [(RNG.normal(size=(30, 4)), RNG.normal(size=30)) for _ in range(10)]


def go_on() -> None:
    """No deadline."""


class Counts:
    """The numbers of programs compiled, paths staged, stages begun, and replays."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.compiled = self.staged = self.begun = self.replayed = 0
        self._patch = patch
        self._count(Call, "_record", "compiled")
        self._count(Tiers, "stage", "staged")
        self._count(Specialised, "_begin", "begun")
        for kind in (WalkExecutable, ReferenceExecutable):
            self._count(kind, "replay", "replayed")

    def _count(self, kind: type, name: str, counter: str) -> None:
        method = getattr(kind, name)

        def counted(*args: Any, **named: Any) -> Any:
            setattr(self, counter, getattr(self, counter) + 1)
            return method(*args, **named)

        self._patch.setattr(kind, name, counted)


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counts:
    return Counts(monkeypatch)


def resident(digest: str, array: Any) -> Leaf:
    return Leaf(np.asarray(array), resident=digest)


def batch(k: int) -> dict[str, Leaf]:
    """Examples under digests of their own."""
    x, y = BATCHES[k]
    return {"x": resident(f"x{k}", x), "y": resident(f"y{k}", y)}


def call(engine: Engine, text: str, given: Mapping[str, Leaf], **asked: Any) -> Call:
    query = Query(**{"kind": "gradient", "sources": "w", **asked})
    return engine.call(engine.parse(text), given, query)


def answered(engine: Engine, text: str, given: Mapping[str, Leaf], **asked: Any) -> Answer:
    return call(engine, text, given, **asked).replay(go_on)


def sent(given: Mapping[str, Leaf]) -> dict[str, Leaf]:
    """The same values without references."""
    return {name: leaf._replace(resident=None) for name, leaf in given.items()}


def identical(one: Answer, other: Answer) -> None:
    for x, y in zip(arrays(one), arrays(other), strict=True):
        assert np.asarray(x).tobytes() == np.asarray(y).tobytes()


@pytest.mark.parametrize("exact", [False, True])
def test_a_hundred_digests_are_compiled_once(counts, exact):
    engine, plain = Engine(), Engine()
    for k in range(100):
        given = {"x": resident(f"x{k}", RNG.normal(size=(30, 4))), "w": resident(f"w{k}", [k] * 4)}
        given["y"] = Leaf(BATCHES[0][1])
        found = answered(engine, TEXT, given, exact=exact)
        (identical if exact else same)(found, answered(plain, TEXT, sent(given), exact=exact))
    assert counts.compiled == 2  # once by either engine
    assert counts.staged == counts.begun == 0


@pytest.mark.parametrize("exact", [False, True])
def test_a_training_compiles_once_and_prepares_each_minibatch_when_it_comes_again(counts, exact):
    engine, plain, w, begun = Engine(), Engine(), np.ones(4), []
    for epoch in range(4):
        for k in range(10):
            given = {**batch(k), "w": resident(f"w{epoch}.{k}", w)}
            found = answered(engine, TEXT, given, exact=exact)
            (identical if exact else same)(found, answered(plain, TEXT, sent(given), exact=exact))
            w = w - 0.1 * found.gradients
        begun.append(counts.begun)
    assert counts.compiled == 2
    assert counts.staged == 1
    assert begun == [0, 10, 10, 10]
    last = call(engine, TEXT, {**batch(0), "w": Leaf(w)}, exact=exact)
    (parts,) = last.entry.paths[0].tiers.staged.values()
    assert parts is not None
    alone = {"log", "euclidean_norm" if exact else "sqrt"}
    assert alone <= names(parts.static)
    assert alone.isdisjoint(names(parts.residual))


def test_who_refers_to_values_needs_nothing_compiled_that_was_for_values(counts):
    engine, given = Engine(), {**batch(0), "w": Leaf(np.ones(4))}
    answered(engine, TEXT, sent(given))
    answered(engine, TEXT, given)
    assert counts.compiled == 1


def test_examples_that_stay_are_prepared_with_others_that_join_them(counts):
    """Another fit to other observations at the same points."""
    engine = Engine()
    for fit in range(3):
        y = resident(f"y{fit}", BATCHES[fit][1])
        for step in range(4):
            given = {"x": batch(0)["x"], "y": y, "w": Leaf(np.full(4, 0.1 * step))}
            same(answered(engine, TEXT, given), answered(Engine(), TEXT, sent(given)))
    kept_for = call(engine, TEXT, given).entry.residents._specialised
    assert {"".join(digest for _, digest in digests) for _, digests in kept_for} == {
        *("x0", "x0y0", "x0y1", "x0y2")
    }


def test_of_too_many_minibatches_some_are_kept_and_not_each_dropped_for_the_next(counts):
    each = kept_bytes_of_one()
    engine = Engine(Limits(kept_bytes=5 * each))  # of which some is taken beside
    begun, counts.begun = [], 0
    for epoch in range(6):
        for k in range(10):
            given = {**batch(k), "w": resident(f"w{epoch}.{k}", np.ones(4))}
            last = call(engine, TEXT, given)
            last.replay(go_on)
            assert sum(x.nbytes for x in kept(last)) <= 5 * each
        begun.append(counts.begun)
    assert begun[0] == 0
    assert begun[1:] == 5 * begun[1:2]
    assert 2 <= begun[1] <= 5


def kept_bytes_of_one() -> int:
    engine = Engine()
    for step in range(2):
        last = call(engine, TEXT, {**batch(0), "w": Leaf(np.full(4, step))})
        last.replay(go_on)
    return sum(x.nbytes for x in kept(last))


def test_minibatches_that_come_no_more_make_room():
    engine = Engine(Limits(kept_bytes=5 * kept_bytes_of_one()))

    def epochs(numbers: Iterator[int]) -> set[str]:
        for step, k in enumerate(numbers):
            last = call(engine, TEXT, {**batch(k), "w": Leaf(np.full(4, step))})
            last.replay(go_on)
        every = [digest for _, pairs in last.entry.residents._specialised for _, digest in pairs]
        return {digest for digest in every if digest[0] == "x"}

    assert epochs(islice(cycle([0, 1]), 10)) == {"x0", "x1"}
    assert epochs(islice(cycle([7, 8]), 40)) >= {"x7", "x8"}


def test_what_is_kept_counts_in_the_cache_and_goes_before_what_is_compiled(counts):
    engine = Engine(cache_bytes=1 << 20)
    text, x = "sum(tanh(exp(x) @ w))", RNG.normal(size=(250, 250))
    for step in range(3):
        first = call(engine, text, {"x": resident("x", x), "w": Leaf(np.full(250, 0.1 * step))})
        first.replay(go_on)
    (found,) = kept(first)
    assert found.base.nbytes == found.nbytes == x.nbytes  # not more, of a pool
    assert first.entry.nbytes == first.entry.counted_bytes >= x.nbytes
    counts.compiled, others = 0, 0
    values = sent({"x": resident("x", x), "w": Leaf(np.ones(250))})
    while kept(first) and others < 1000:
        others += 1
        answered(engine, f"{text} * {others}", values)
    assert engine._context.cache.budget.taken <= 1 << 20
    answered(engine, text, values)
    assert counts.compiled == others < 1000


def test_the_paths_of_one_program_keep_no_more_than_the_cache():
    engine = Engine(cache_bytes=1 << 20)
    text = "k = 0\nfor i in range(6):\n    if a > i:\n        k = k + 1\nsum(tanh(exp(x * k) * a))"
    x = RNG.normal(size=(200, 200))
    for a in 2 * (0.5, 1.5, 2.5, 3.5, 4.5, 2.5):
        given = {"x": resident("x", x), "a": Leaf(np.array(a))}
        last = call(engine, text, given, sources="a")
        same(last.replay(go_on), answered(Engine(), text, sent(given), sources="a"))
    assert len(last.entry.paths) > 1
    assert 0 < sum(array.nbytes for array in kept(last)) <= 1 << 20


DECIDING = "s = 2.0 if sum(x) > 0 else -3.0\ns * sum(exp(x) @ w)"


@pytest.mark.parametrize("exact", [False, True])
def test_residents_that_decide_alike_share_what_is_compiled(counts, exact):
    """Others have a path of their own, as any variable's values, which is found at once."""
    engine, plain = Engine(), Engine()
    signs = [1, 1, -1, 1, -1, -1]
    for turn in range(4):
        for k, sign in enumerate(signs):
            x = sign * np.abs(BATCHES[k][0])
            given = {"x": resident(f"x{k}", x), "w": Leaf(np.full(4, turn + 1.0))}
            before = counts.replayed
            found = answered(engine, DECIDING, given, exact=exact)
            assert turn < 3 or counts.replayed == before + 1
            (identical if exact else same)(
                found, answered(plain, DECIDING, sent(given), exact=exact)
            )
    assert counts.compiled == 4  # two paths by either engine
    paths = call(engine, DECIDING, given, exact=exact).entry.paths
    staged = [parts for path in paths for parts in path.tiers.staged.values()]
    assert len(paths) == len(staged) == 2
    assert all(parts and "guard" not in names(parts.residual) for parts in staged)


def names(executable: Any) -> set[str]:
    return {i.op.name for i in executable.tape.instructions}


def test_another_digest_is_another_array():
    engine = Engine()
    for _ in range(3):
        for k in range(3):
            given = {"x": resident(f"x{k}", BATCHES[k][0]), "w": Leaf(np.zeros(4))}
            found = answered(engine, "sum(exp(x) + w)", given, kind="evaluate", sources=None)
            assert_allclose(found.value, np.exp(BATCHES[k][0]).sum())


def test_the_same_digest_of_another_variable_is_another_resident():
    engine, (a, b) = Engine(), RNG.normal(size=(2, 5))
    for x, y in 3 * [(("a", a), ("b", b)), (("b", b), ("a", a))]:
        given = {"x": resident(*x), "y": resident(*y), "w": Leaf(np.ones(5))}
        found = answered(engine, "sum(exp(x) * w - sin(y))", given)
        assert_allclose(found.value, np.sum(np.exp(x[1]) - np.sin(y[1])))


def test_examples_under_another_digest_are_others():
    engine, x = Engine(), BATCHES[0][0]
    for _ in range(3):
        for name, scale in (("x", 1), ("v", 2)):
            given = {"x": resident(name, x * scale), "w": Leaf(np.arange(4.0))}
            found = answered(engine, "sum(x**2 * w)", given, batch={"x": 0})
            assert_allclose(found.value, (x * scale) ** 2 @ np.arange(4.0))
            assert_allclose(found.gradients, (x * scale) ** 2)


def test_threads_with_different_digests_have_each_their_own():
    engine, w = Engine(), np.ones(4)
    expected = [answered(Engine(), TEXT, sent({**batch(k), "w": Leaf(w)})) for k in range(10)]

    def asked(step: int) -> Answer:
        return answered(engine, TEXT, {**batch(step % 10), "w": Leaf(w)})

    with ThreadPoolExecutor(8) as pool:
        for step, found in enumerate(pool.map(asked, range(200))):
            same(found, expected[step % 10])
    (entry,) = engine._context.cache._entries.values()
    assert engine._context.cache.taken == entry.counted_bytes == entry.nbytes


REQUESTS = st.lists(st.tuples(*[st.sampled_from("abc")] * 3), max_size=40)


@given(REQUESTS)
def test_only_what_came_recurs_and_what_came_as_a_whole_does(requests):
    history, came = ResidentHistory(), list[dict[int, str]]()
    for request in requests:
        digests = dict(enumerate(request))
        found = history.recurring(digests)
        assert found.numbers == {number for number, _ in found.digests}
        for item in found.digests:
            assert item in digests.items()
            assert any(item in earlier.items() for earlier in came)
        if digests in came:
            assert dict(found.digests) == digests
        if not any(digests.items() & earlier.items() for earlier in came):
            assert not found.numbers
        came.append(digests)


def test_what_came_is_forgotten_when_much_else_has_come():
    history = ResidentHistory()
    for k in range(20_000):
        assert not history.recurring({0: f"x{k}"}).numbers
    assert history.nbytes <= 1 << 20
    assert history.recurring({0: "x19999"}).numbers == {0}
    assert not history.recurring({0: "x0"}).numbers


def test_residents_of_many_ages_come_together():
    history = ResidentHistory()
    for k in range(30):
        history.recurring({i: f"{i}" for i in range(k + 1)})
    every = {i: f"{i}" for i in range(30)}
    assert history.recurring(every).numbers == set(every)
