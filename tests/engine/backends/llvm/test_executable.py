"""Machine code that replaces steps of a walk: when, with which answers, and when not."""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Leaf, Query
from gradwire_engine.engine import Engine
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tests.effort import examples

pytest.importorskip("llvmlite")

from gradwire_engine.backends.base import FusedGroup
from gradwire_engine.backends.llvm.backend import NativeBackend
from gradwire_engine.backends.llvm.compiler import Library, Source, compile_here, load_text
from gradwire_engine.backends.llvm.executable import NativeExecutable
from gradwire_engine.backends.walk.loops import Loops
from gradwire_engine.ops.base import PRIMITIVES

from tests.engine.conftest import Asker
from tests.engine.kernels.tapes import Writer, apply, go_on, kernels, native
from tests.engine.test_replays import SHAPES, programs, values_of
from tests.processes import until

TEXT = "sum(tanh(v) * exp(-v * v) + sin(v)) + max(v * v)"


def arriving(run: Any, inputs: Any) -> None:
    """Replay until machine code has taken the place of NumPy."""
    while not any(i.op.name == "native" for i in run.replayed.instructions):
        time.sleep(0.005)
        run.replay(inputs, go_on)


@pytest.fixture
def by_native(monkeypatch):
    """An engine that compiles in the background."""
    monkeypatch.setattr(Engine, "backend", NativeBackend(compile_here))
    return Asker()


@pytest.fixture
def at_once(monkeypatch):
    """An engine that waits for machine code."""
    monkeypatch.setattr(Engine, "backend", NativeBackend())
    return Asker()


def asked(ask: Asker, text: str, values: dict[str, Any], **query: Any) -> Any:
    """A call that can be replayed."""
    leaves = {name: Leaf(np.asarray(value)) for name, value in values.items()}
    question = Query(**{"kind": "gradient", "unconnected": "zero", **query})
    return ask.engine.call(ask.engine.parse(text), leaves, question)


def flat(answer: Any) -> list[Any]:
    return [answer.value, *answer.gradients.values()]


def test_machine_code_comes_after_the_second_replay(by_native):
    call = asked(by_native, TEXT, {"v": np.linspace(-1, 1, 21)})
    answers = [flat(call.replay(go_on))]
    run = call.entry.paths[0].executable
    assert isinstance(run, NativeExecutable)
    answers.append(flat(call.replay(go_on)))
    arriving(run, [np.linspace(-1, 1, 21)])
    answers += [flat(call.replay(go_on)) for _ in range(3)]
    for answer in answers[1:]:
        for found, expected in zip(answer, answers[0], strict=True):
            assert_allclose(found, expected, rtol=1e-14, atol=1e-14)


def test_an_eager_one_does_not_wait(at_once):
    call = asked(at_once, TEXT, {"v": np.linspace(-1, 1, 23)})
    call.replay(go_on)
    assert kernels(call.entry.paths[0].executable)


def test_exact_queries_are_numpys_alone(at_once):
    call = asked(at_once, TEXT, {"v": np.linspace(-1, 1, 24)}, exact=True)
    for _ in range(3):
        call.replay(go_on)
    run = call.entry.paths[0].executable
    assert not isinstance(run, NativeExecutable)
    assert not any(isinstance(i.op, FusedGroup) for i in run.replayed.instructions)


GUARDED = (
    "if sum(v * v) > 1:\n    y = tanh(v) * 2 + sin(v)\nelse:\n    y = exp(v) - v * v\nsum(y * v)"
)


@pytest.mark.parametrize("fixture", ["by_native", "at_once"])
def test_guards_fail_over_to_other_paths(request, fixture):
    ask, plain = request.getfixturevalue(fixture), Asker()
    for k in range(12):
        v = np.linspace(0.1, 1, 9) * (2.0 if k % 3 else 0.1)
        answer = flat(asked(ask, GUARDED, {"v": v}).replay(go_on))
        expected = flat(asked(plain, GUARDED, {"v": v}, exact=True).replay(go_on))
        for found, other in zip(answer, expected, strict=True):
            assert_allclose(found, other, rtol=1e-13, atol=1e-15)
        paths = asked(ask, GUARDED, {"v": v}).entry.paths
        if k == 6:
            for path in paths:
                arriving(path.executable, [v])
    assert len(paths) == 2
    assert all(kernels(path.executable) for path in paths)


def test_values_that_are_not_finite_are_those_of_an_exact_replay(at_once):
    for bad in (np.nan, np.inf, 1e308):
        v = np.linspace(-1, 1, 20)
        v[-1] = bad
        found = flat(asked(at_once, TEXT, {"v": v}).replay(go_on))
        expected = flat(asked(at_once, TEXT, {"v": v}, exact=True).replay(go_on))
        for one, other in zip(found, expected, strict=True):
            if not np.isfinite(one).all():
                assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


def broken(_texts: Any, _whose: str) -> Any:
    """LLVM refuses what it is given."""
    return compile_here([Source("no text")])


def test_a_kernel_that_cannot_be_compiled_leaves_numpy(caplog):
    w = Writer()
    tape = w.tape(apply("tanh", apply("exp", w.input(np.ones(25)))))
    run = NativeExecutable(tape, go_on, Loops(), 1, broken, Library())
    with caplog.at_level(logging.ERROR, "gradwire"):
        answers = [run.replay(w.inputs, go_on).outputs[0] for _ in range(2)]
        until(lambda: caplog.records)
        answers.append(run.replay(w.inputs, go_on).outputs[0])
    assert "could not be compiled" in caplog.text
    assert not kernels(run)
    for answer in answers:
        assert_array_equal(answer, np.tanh(np.exp(np.ones(25))))


def test_what_could_not_be_compiled_is_tried_again(caplog):
    w = Writer()
    tape = w.tape(apply("sinh", apply("exp", w.input(np.ones(27)))))
    failures = [MemoryError()]

    def compile_texts(texts: Any, whose: str) -> Any:
        if failures:
            raise failures.pop()
        return compile_here(texts, whose)

    run = NativeExecutable(tape, go_on, Loops(), 1, compile_texts, Library())
    for _ in range(2):
        run.replay(w.inputs, go_on)
    until(lambda: caplog.records)
    arriving(run, w.inputs)
    (z,) = run.replay(w.inputs, go_on).outputs
    assert_allclose(z, np.sinh(np.e), rtol=1e-14)


def test_after_a_failure_others_are_compiled():
    with pytest.raises(RuntimeError):
        load_text("define void @kernel(ptr %p) {\nentry:\n  ret i64 %p\n}\n")
    w = Writer()
    run = native(w.tape(apply("tanh", apply("exp", w.input(np.ones(26))))))
    (z,) = run.replay(w.inputs, go_on).outputs
    assert_allclose(z, np.tanh(np.e), rtol=1e-15)


def test_equal_texts_are_compiled_once_for_those_who_share_a_library():
    text = "define void @kernel(ptr %pointers) {\nentry:\n  ret void\n}\n"
    sources = [Source(text), Source(text), Source(text.replace("pointers", "p"))]
    library, other = Library(), Library()
    one, same, differs = library.load(sources, library.compiled(sources))
    assert one is same
    assert one is not differs
    assert library.load(sources, library.compiled(sources, broken))[0] is one
    assert other.load(sources, other.compiled(sources))[0] is not one


def test_what_ieee_arithmetic_answers_beside_kernels_is_answered(at_once):
    text = "x = sum(v)\ny = 1 / x\nsum(tanh(v) * y + exp(v))"
    for v in (np.ones(5), np.array([1.0, -1.0, 0.5, -0.5, 0.0])):
        found = flat(asked(at_once, text, {"v": v}).replay(go_on))
        expected = flat(asked(at_once, text, {"v": v}, exact=True).replay(go_on))
        for one, other in zip(found, expected, strict=True):
            assert_allclose(one, other, rtol=1e-14)


@pytest.mark.parametrize("compile_texts", [None, compile_here])
def test_threads_replay_one_executable_at_once(compile_texts):
    w = Writer()
    x = w.input(np.ones(3000))
    y = apply("tanh", apply("multiply", x, x))
    z = PRIMITIVES["sum"]((0,))(apply("exp", PRIMITIVES["sort"](0)(y)))
    run = NativeBackend(compile_texts).compile(w.tape(y, z), go_on)
    wrong: list[Any] = []

    def work(number):
        given = np.linspace(0, 1, 3000) * number
        right = np.tanh(given * given)
        for _ in range(100):
            found, total = run.replay([given], go_on).outputs
            if not np.allclose(found, right, rtol=1e-13, atol=0) or not np.isclose(
                total, np.exp(right).sum(), rtol=1e-12
            ):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    arriving(run, w.inputs)


@examples(50)
@given(text=programs(), seed=st.integers(0, 2**32 - 1))
def test_random_programs_agree_with_exact_replays(text, seed):
    values = dict(zip(SHAPES, values_of(seed), strict=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Engine, "backend", NativeBackend())
        ask = Asker()
        call = asked(ask, text, values)
        found = [flat(call.replay(go_on)) for _ in range(2)]
        expected = flat(asked(ask, text, values, exact=True).replay(go_on))
    assert kernels(call.entry.paths[0].executable)
    for answer in found:
        for one, other in zip(answer, expected, strict=True):
            scale = 1 + np.max(np.abs(other))
            assert_allclose(one, other, rtol=1e-9, atol=1e-9 * scale)
