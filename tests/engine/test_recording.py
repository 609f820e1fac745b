"""A recording answers what a call answers, from the values that it keeps."""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query, errors
from gradwire_engine.answer import Kind, Limits
from gradwire_engine.compile.derivatives import ALONG, VECTORS
from gradwire_engine.ops.constants import Guard, Input
from gradwire_engine.polling import no_deadline
from numpy.testing import assert_allclose, assert_array_equal

PROGRAMS = [
    "h = x * w\ny = sum(h**2)",
    "u, s, v = svd(x @ w)\nh = u * s\ny = sum(s) + sum(h)",
    "h = where(x > 0, sqrt(abs(x)), x * w)\ny = sum(h)",
    "h = x\nfor i in range(4):\n    h = sin(h) @ w\ny = mean(h)",
    "h = w * 2\nif sum(x) > 0:\n    h = exp(x)\ny = sum(h * x)",
    "h = x + 1\nw.assign(w * x)\ny = sum(w * h)",
    "w[1:] += x[1:]\nh = x\ny = sum(w * h)",
    "h = 3.0\ny = sum(h * x) + h * grad(sum(x**3), x)[0, 0]",
    "h = x * 1j\ny = real(sum(h * h * w))",
    "h = vmap(lambda row: sin(row) @ w)(x)\ny = sum(h * x)",
    "h = vmap(vmap(grad(lambda a, b: a**3 * b)))(x, w)\ny = sum(h)",
]
KINDS: list[Kind] = ["evaluate", "gradient", "jacobian", "hessian"]


def poll():
    """Never stop."""


def variables(seed=0):
    rng = np.random.default_rng(seed)
    return {"x": Leaf(rng.normal(size=(3, 3))), "w": Leaf(rng.normal(size=(3, 3)))}


def recorded(program, given, engine=None, **watching):
    recording = (engine or Engine()).recording(program, given, **watching)
    recording.run(poll)
    return recording


def assert_same(found, expected):
    assert type(found) is type(expected)
    if isinstance(found, dict):
        assert found.keys() == expected.keys()
        for key in found:
            assert_same(found[key], expected[key])
    elif found is not None:
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", PROGRAMS)
def test_a_recording_answers_what_a_call_answers(text, kind):
    engine, given = Engine(), variables()
    program = engine.parse(text)
    recording = recorded(program, given, watch=["h"])
    for sources in None, {"h": "h", "x": "x"}:
        query = Query(kind, sources=sources, outputs="y" if kind == "evaluate" else None)
        expected = engine.call(program, given, query).replay(poll)
        for _ in range(3):  # walked, then generated
            answer = recording.call(query).replay(poll)
            assert_same(answer.value, expected.value)
            assert_same(answer.derivatives, expected.derivatives)
            assert_same(answer.updates, expected.updates)
            assert answer.unconnected == expected.unconnected
            assert answer.warnings == expected.warnings


def test_vectors_differ_from_call_to_call():
    program = Engine().parse("y = exp(x) * w")
    given = variables()
    recording = recorded(program, given)
    for seed in np.ones((3, 3)), np.eye(3), np.eye(3, dtype=np.float32):
        answer = recording.call(Query("gradient", sources="x"), seed).replay(poll)
        assert_allclose(answer.gradients, seed * np.exp(given["x"].value) * given["w"].value)


@pytest.mark.parametrize("kind", ["gradient", "check", "jvp", "hvp"])
def test_many_vectors_are_answered_at_once(kind):
    given, rng = variables(), np.random.default_rng(1)
    recording = recorded(Engine().parse(PROGRAMS[3]), given)
    names = {"x": "x", "w": "w"} if kind in ALONG else None
    stacks = {name: rng.normal(size=(4, 3, 3)) for name in names or "y"}
    field = VECTORS[kind]
    query = Query(kind, target={"y": "h"}, sources=names, batch={field: 0})
    for _ in range(2):
        together = recording.call(query, stacks).replay(poll)
        for k in range(4):
            one = {name: stack[k] for name, stack in stacks.items()}
            expected = recording.call(query._replace(batch=None), one).replay(poll)
            for name, nested in expected.derivatives.items():
                chosen = {key: stack[k] for key, stack in together.derivatives[name].items()}
                assert_same({key: np.asarray(x) for key, x in chosen.items()}, nested)


def test_a_batch_of_vectors_replays_nothing_of_the_program():
    text = "h = x\nfor i in range(50):\n    h = sin(h)\ny = h * w"
    recording = recorded(Engine().parse(text), variables())
    query = Query("gradient", batch={"output_gradients": 0})
    instructions = compiled(recording.call(query, np.ones((7, 3, 3))))
    assert not any(i.op.name == "sin" for i in instructions)


@pytest.mark.parametrize(
    ("kind", "name"), [("gradient", "x"), ("jacobian", "output_gradients"), ("jvp", "vectors.x")]
)
def test_a_recording_is_of_one_point(kind, name):
    recording = recorded(Engine().parse("x * w"), variables())
    with pytest.raises(errors.InputError, match="recorded without examples"):
        recording.call(Query(kind, batch={name: 0}))


def compiled(call):
    """The instructions that a query replays."""
    call.compile(poll)
    return call.entry.paths[0].executable.tape.instructions


def test_only_what_follows_is_replayed():
    text = "h = x\n" + "h = sin(h)\n" * 50 + "if sum(h) > 9:\n    h = -h\ny = sum(h * w)"
    recording = recorded(Engine().parse(text), variables())
    instructions = compiled(recording.call(Query("gradient", sources="w")))
    assert not any(isinstance(i.op, Guard) for i in instructions)
    assert len(instructions) < 5
    instructions = compiled(recording.call(Query("gradient", sources="x")))
    assert not any(i.op.name == "sin" for i in instructions)
    assert sum(isinstance(i.op, Input) for i in instructions) == 50 + 2  # angles, w and y


def test_a_question_leaves_no_trace():
    recording = recorded(Engine().parse("h = x * w\ny = sum(h)"), variables())
    recorder = recording.recorded.recorder
    length = len(recorder.b.instructions)
    for query in Query("gradient"), Query("hessian"), Query("gradient", sources="nothing"):
        try:
            recording.call(query).replay(poll)
        except errors.UnknownName:
            continue
        assert len(recorder.b.instructions) == len(recorder.b.vars) == length
    assert len(recorder.b.inputs) == 2


def test_the_place_of_what_is_not_finite_is_of_the_whole_program():
    engine, given = Engine(), {"x": Leaf(np.array([0.0, 4.0]))}
    program = engine.parse("h = x * 2\ny = sum(sqrt(h))")
    query = Query("gradient")
    answer = recorded(program, given).call(query).replay(poll)
    assert answer.nonfinite == engine.call(program, given, query).replay(poll).nonfinite
    assert "backward" in answer.nonfinite


def test_values_kept_count_against_the_budget():
    program = Engine().parse("y = x\nfor i in range(100):\n    y = y + 1\ny")
    given = {"x": Leaf(np.ones(1000))}
    with pytest.raises(errors.OverBudget, match="bytes"):
        recorded(program, given, Engine(Limits(total_bytes=100_000)))
    assert recorded(program, given).recorded.nbytes > 800_000


DECIDING = [
    *PROGRAMS,
    "h = x\nwhile sum(h * h) < 50:\n    h = h * 2 + w\ny = sum(h * w)",
    "h = custom_gradient(lambda t: (t, lambda g: g * 2 if sum(t) > 0 else g))(x * w)\ny = sum(h)",
    "h = x[argsort(w[0])]\ny = sum(h * x)",
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", DECIDING)
def test_tapes_of_one_program_answer_for_their_own_values(text, kind):
    engine = Engine()
    program, query = engine.parse(text), Query(kind, outputs="y" if kind == "evaluate" else None)
    points = [variables(seed) for seed in range(5)]
    runs = [(given, recorded(program, given, engine, watch=["h"])) for given in points]
    for given, recording in [*runs, *runs[::-1]]:
        expected = Engine().call(program, given, query).replay(poll)
        answer = recording.call(query).replay(poll)
        assert_same(answer.value, expected.value)
        assert_same(answer.derivatives, expected.derivatives)


def test_tapes_that_decide_alike_are_recorded_once():
    engine, text = Engine(), "y = x * w\nif sum(x) > 0:\n    y = sin(y)\nsum(y)"
    program = engine.parse(text)
    signs = [1, -1, 2, -3, 5]
    given = [{"x": Leaf(np.ones(3) * sign), "w": Leaf(np.arange(3.0))} for sign in signs]
    runs = [recorded(program, each, engine) for each in given]
    assert len({id(run.recorded) for run in runs}) == 2
    before = [run.call(Query("gradient")).compiled for run in runs]
    runs[0].call(Query("gradient")).replay(poll)
    after = [run.call(Query("gradient")).compiled for run in runs]
    assert (before, after) == ([False] * 5, [True, False, True, False, True])
    watching = recorded(program, given[0], engine, watch_accessed=False)
    assert watching.recorded is not runs[0].recorded
    assert watching.call(Query("gradient")).replay(poll).gradients == {"x": None, "w": None}


def test_tapes_may_be_asked_at_once():
    engine = Engine()
    program = engine.parse(DECIDING[-2])
    queries = [Query(kind, target=name) for kind in KINDS[1:] for name in ("y", "h")]

    def ask(seed):
        given, query = variables(seed), queries[seed % len(queries)]
        answer = recorded(program, given, engine).call(query).replay(poll)
        alone = Engine().call(program, given, query).replay(poll)
        assert_same(answer.derivatives, alone.derivatives)

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(ask, seed) for seed in range(48)]:
            done.result()


def ask(recording, query):
    call = recording.call(query)
    call.compile(no_deadline)
    return call.replay(no_deadline)


def test_what_needs_each_pass_by_itself_is_compiled_once_and_holds_no_values():
    text = "h = x\nfor i in range(2000):\n    h = sin(h)\n    k = h * h\ny = sum(k)"
    engine, given = Engine(), {"x": Leaf(np.ones(100))}
    recording = recorded(engine.parse(text), given, engine)
    before = recording.nbytes
    query = Query("gradient", sources="h")  # of the last pass
    for turn in range(3):
        call = recording.call(query)
        assert call.compiled == (turn > 0)
        found = call.replay(poll).gradients
        assert_same(found, engine.call(recording.program, given, query).replay(poll).gradients)
    assert recording.nbytes == before


@pytest.mark.parametrize("kind", ["gradient", "hessian"])
def test_a_question_has_a_deadline_of_its_own(kind):
    """Not that of the request that recorded the program, whose rule it calls."""
    text = "f = custom_gradient(lambda t: (t**2, lambda g: g * 2 * t))\nsum(f(x))"
    over = False

    def deadline():
        if over:
            raise errors.DeadlineExceeded("the time is up")

    recording = Engine().recording(Engine().parse(text), {"x": Leaf(np.arange(3.0))})
    recording.run(deadline)
    over = True
    answer = recording.call(Query(kind)).replay(poll)
    assert_array_equal(answer.gradients["x"], [0, 2, 4])


@pytest.mark.thorough
def test_what_a_question_compiled_does_not_hold_what_was_recorded():
    engine = Engine()
    recording = engine.recording(engine.parse("y = x * x\ny * y"), {"x": Leaf(np.ones(1000))})
    recording.compile(no_deadline)
    recording.run(no_deadline)
    ask(recording, Query("gradient", sources="x"))
    recorded = weakref.ref(recording.recorded)
    assert any(entry.paths for entry in engine._context.cache._entries.values())
    for entry in engine._context.cache._entries.values():  # as if there was no room for it any more
        entry.paths = tuple(path for path in entry.paths if path.recorded is None)
    del recording
    gc.collect()
    assert recorded() is None


@pytest.mark.thorough
def test_what_a_question_compiled_holds_no_values():
    engine = Engine()
    recording = engine.recording(engine.parse("y = x * x\ny * y"), {"x": Leaf(np.ones(1000))})
    recording.compile(no_deadline)
    recording.run(no_deadline)
    values = [
        weakref.ref(value) for value in recording.values.values() if isinstance(value, np.ndarray)
    ]
    assert values
    call = recording.call(Query("gradient", sources="x"))
    call.compile(no_deadline)
    call.replay(no_deadline)
    del recording, call
    gc.collect()
    assert [value() for value in values] == [None] * len(values)
