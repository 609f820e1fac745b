"""The engine's door: what is kept, how threads share it, and what is refused before it runs."""

import pickle
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Limits, Query
from gradwire_engine.errors import DeadlineExceeded, EngineError, OverBudget
from gradwire_engine.frontends.programs import Programs
from gradwire_engine.shared_budget import SharedBudget

EVALUATE, GRADIENT = Query("evaluate"), Query("gradient")


def nothing():
    """Never stop."""


def leaves(**values):
    return {key: Leaf(np.asarray(value)) for key, value in values.items()}


class Counting(Engine):
    """Counts recordings."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.recordings = 0
        add = self._context.cache.add

        def counted(*what):
            self.recordings += 1
            add(*what)

        self._context.cache.add = counted  # type: ignore[method-assign]

    def ask(self, text, query=EVALUATE, seeds=None, **values):
        return self.call(self.parse(text), leaves(**values), query, seeds).replay(nothing)


def test_other_values_of_the_same_types_are_not_recorded_anew():
    engine = Counting()
    for x in (1.0, 2.0, np.nan):
        engine.ask("y = x*x", x=x)
    assert engine.recordings == 1


@pytest.mark.parametrize(
    "change",
    [
        {"text": "y = x*x*x"},
        {"x": np.float32(1)},
        {"x": np.ones(2)},
        {"z": 1.0},
        {"query": GRADIENT},
        {"query": Query("evaluate", outputs="x")},
        {"query": Query("evaluate", outputs=["x"])},
        {"query": Query("evaluate", promotion="strict")},
        {"query": Query("gradient", sources="x")},
        {"query": Query("gradient", unconnected="zero")},
        {"query": GRADIENT, "seeds": np.float64(1)},
    ],
    ids=str,
)
def test_anything_else_that_differs_is(change):
    engine = Counting()
    engine.ask("y = x*x", x=1.0)
    engine.ask(**{"text": "y = x*x", "x": 1.0} | change)
    engine.ask(**{"text": "y = x*x", "x": 1.0} | change)
    assert engine.recordings == 2


def test_text_and_graph_share_what_was_compiled():
    engine = Counting()
    graph = {"nodes": [{"id": "y", "op": "multiply", "args": ["x", "x"]}], "outputs": "y"}
    assert engine.ask("y = x*x", x=3.0).value == engine.ask(graph, x=3.0).value
    assert engine.recordings == 1


def test_nestings_with_the_same_paths_are_told_apart(ask):
    two, four = Leaf(np.array(2.0)), np.array(4.0)
    for variables, expected in (
        ({"a": {"0": two}}, {"a": {"0": four}}),
        ({"a": [two]}, {"a": [four]}),
        ({"a.0": two}, {"a.0": four}),
        ({"a": [two], "b": {}}, {"a": [four], "b": {}}),
        ({"a": [two, {}]}, {"a": [four, {}]}),
    ):
        assert ask.gradients("a[0]**2", variables) == expected


def test_the_trainable_flag_is_part_of_the_key(ask):
    for trainable in (True, False, True):
        x = Leaf(np.array(3.0), trainable)
        assert ask.gradients("x*x", {"x": x})["x"] == (6 if trainable else None)


def test_texts_are_remembered():
    engine = Engine()
    assert engine.parse("x + 1") is engine.parse("x + 1")


def test_short_texts_take_no_more_memory_than_long_ones():
    """Not much more than there is budget for."""
    nbytes = 200_000
    programs = Programs(SharedBudget(nbytes))
    programs.find("x", nothing)
    tracemalloc.start()
    for number in range(2_000):
        programs.find(f"{number}", nothing)
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(programs) > 10
    assert taken < 1.5 * nbytes


@pytest.mark.parametrize(
    "text",
    ["y = sum(a * x ** 2)", "i = 0\nwhile i < 3:\n  i += x\ni", "é = x\né + 1"],
)
def test_programs_may_be_sent_to_other_processes(text):
    program = Engine().parse(text)
    sent = pickle.loads(pickle.dumps(program))
    assert sent.id == program.id
    assert list(sent.positions) == list(program.positions)


@pytest.mark.thorough
def test_the_cache_stays_within_its_bytes():
    engine = Engine(cache_bytes=1 << 18)
    tracemalloc.start()
    for n in range(1, 120):
        engine.call(engine.parse(f"x*{n}.5 + ones(1000)*{n}"), leaves(x=1.0), EVALUATE).replay(
            nothing
        )
    for n in range(120):  # what fails is not kept for ever either
        with pytest.raises(EngineError):
            engine.call(engine.parse("x + ones(7)"), leaves(x=np.ones(n + 10)), EVALUATE).replay(
                nothing
            )
    assert engine._context.cache.taken <= 1 << 18
    assert len(engine._context.cache._entries) < 239
    tracemalloc.stop()


@pytest.mark.thorough
def test_engines_apart_share_nothing_but_their_room():
    engine = Engine(cache_bytes=1 << 20)
    one, two = engine.apart("one"), engine.apart("two")
    assert engine.apart("one") is one
    program = one.parse("x + 1")
    assert one.parse("x + 1") is program
    assert two.parse("x + 1").id == program.id
    assert two.parse("x + 1") is not program

    def asked(engine, text="x + 1"):
        return engine.call(engine.parse(text), leaves(x=1.0), EVALUATE)

    asked(one).replay(nothing)
    assert asked(one).compiled
    assert not asked(two).compiled
    assert not asked(engine).compiled
    for n in range(1, 400):
        asked(two, f"x*{n}.5 + ones(1000)*{n}").replay(nothing)
    assert asked(one).compiled
    assert engine._context.cache.budget.taken <= 1 << 20


def test_threads_get_the_same_engine_apart():
    engine = Engine()
    with ThreadPoolExecutor(8) as threads:
        for n in range(50):
            assert len(set(threads.map(engine.apart, [str(n)] * 8))) == 1


def test_constants_of_a_tape_count_as_its_bytes(ask):
    text = f"x + {list(range(1000))}"
    call = ask.engine.call(ask.engine.parse(text), leaves(x=1.0), EVALUATE)
    call.compile(ask.poll)
    assert call.entry.paths[0].executable.nbytes > 1000 * 8


def test_a_call_says_whether_it_is_compiled_and_what_it_will_take():
    engine = Engine()
    call = engine.call(engine.parse("sum(x @ x)"), leaves(x=np.ones((50, 50))), EVALUATE)
    before = call.compiled
    call.compile(nothing)
    assert (before, call.compiled) == (False, True)
    assert 50**3 * 1e-10 < call.seconds < 1
    assert engine.call(engine.parse("sum(x @ x)"), leaves(x=np.zeros((50, 50))), EVALUATE).compiled


def test_eight_threads_record_once_and_answer_right():
    engine = Counting()
    barrier = threading.Barrier(8)
    text = "y = x\nfor i in range(200):\n  y = sin(y) + x\nif x > 0:\n  y = -y\nsum(y)"

    def work(thread):
        barrier.wait()
        return [
            (x, engine.ask(text, GRADIENT, x=x).gradients["x"])
            for x in [(thread + i) % 5 - 2.0 for i in range(20)]
        ]

    with ThreadPoolExecutor(8) as pool:
        results = [pair for pairs in pool.map(work, range(8)) for pair in pairs]
    alone = Engine()
    for x, got in results:
        call = alone.call(alone.parse(text), leaves(x=x), GRADIENT)
        assert call.replay(nothing).gradients["x"] == got
    assert engine.recordings == 2


def test_threads_with_different_programs_do_not_disturb_each_other():
    engine = Engine(cache_bytes=1 << 16)

    def work(n):
        for i in range(30):
            text = f"y = x*{(n * i) % 7}.0\nz = y*y"
            answer = engine.call(engine.parse(text), leaves(x=float(n)), GRADIENT).replay(nothing)
            assert answer.gradients["x"] == 2 * ((n * i) % 7) ** 2 * n

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))


def test_who_waits_for_a_recording_looks_at_the_deadline():
    engine = Engine()
    program = engine.parse("x*2")
    call = engine.call(program, leaves(x=1.0), EVALUATE)

    def late():
        raise DeadlineExceeded("the time is up")

    with call.entry.locked(nothing), pytest.raises(DeadlineExceeded):
        engine.call(program, leaves(x=1.0), EVALUATE).compile(late)
    assert engine.call(program, leaves(x=1.0), EVALUATE).replay(nothing).value == 2


@pytest.mark.parametrize(
    ("text", "limits", "number"),
    [
        ("zeros((1000, 1000))", {"array_bytes": 1_000_000}, 8_000_000),
        ("x[:, None]*x", {"array_bytes": 1_000_000}, 8_000_000),
        ("x[:, None] @ x[None]", {"array_bytes": 1_000_000}, 8_000_000),
        ("[x*i for i in range(1000)]", {"total_bytes": 1_000_000}, 8_016_000),  # and numbers
        ("sum(stack([x*i for i in range(1000)]))", {"array_bytes": 7_999_999}, 8_000_000),
        ("\n".join(f"x = sin(x * {n}.0)" for n in range(300)), {"instructions": 500}, 500),
        ("tanh(x)", {"flops": 500}, None),
        ("toeplitz(x)", {"array_bytes": 1_000_000}, 8_000_000),
        ("sum(x[arange(0, 1000)] * circulant(x))", {"total_bytes": 1_000_000}, 8_000_000),
        ("y = x * 2\n[y for i in range(100)]", {"answer_bytes": 799_999}, 800_000),
        ("y = [x]\nfor i in range(10):\n  y = y + y\n{'a': y}", {"answer_bytes": 10}, 8_192_000),
    ],
)
def test_over_budget_is_refused_before_anything_is_allocated(text, limits, number):
    engine = Engine(Limits(**limits))
    x = np.ones(1000)
    program = engine.parse(text)
    tracemalloc.start()
    with pytest.raises(OverBudget) as caught:
        engine.call(program, leaves(x=x), EVALUATE).replay(nothing)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000
    assert number is None or f"{number:,}" in caught.value.message
    assert any(character.isdigit() for character in caught.value.message)


NAMED = [
    ("y = x * 2", Query("evaluate", outputs=["y"] * 9_999)),
    ("y = x * 2", Query("evaluate", outputs={"a": ["y", "x"], "b": {"c": "y"}})),
    ("y = sum(x * x)", Query("gradient", sources=["x"] * 3, outputs=["x", "x", "y"])),
    ("y = sum(x * x)", Query("gradient", unconnected="zero", sources=["x", "w"])),
    ("y = x * w[0, 0]", Query("jacobian", format="coo")),
    ("y = sum(x * x)", Query("hessian", sources="x")),
    ("x.assign(x * 2)\ny = x", Query("evaluate")),
    ("y = sum(x * x)", Query("gradient", batch={"w": 0})),
    ("broadcast_to(x, (50, 7))", Query("evaluate")),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("text", "query"), NAMED)
def test_the_answers_size_is_known_each_array_counted_as_often_as_it_is_named(text, query):
    given = leaves(x=np.linspace(0.1, 1, 7), w=np.ones((4, 3)))
    call = Engine().call(Engine().parse(text), given, query)
    call.compile(nothing)
    answer = call.replay(nothing)
    parts = [answer.value, answer.outputs, answer.derivatives, answer.updates]
    assert call.answer_bytes == sum(np.asarray(x).nbytes for x in arrays(parts))
    exactly = Engine(Limits(answer_bytes=call.answer_bytes))
    exactly.call(exactly.parse(text), given, query).replay(nothing)
    less = Engine(Limits(answer_bytes=call.answer_bytes - 1))
    with pytest.raises(OverBudget, match=f"the answer has {call.answer_bytes:,} bytes"):
        less.call(less.parse(text), given, query).replay(nothing)


def arrays(nested):
    """The leaves, each as often as it is there."""
    if isinstance(nested, dict):
        nested = [*nested.values()]
    if isinstance(nested, list | tuple):
        return [x for part in nested for x in arrays(part)]
    return [] if nested is None else [nested]


def test_what_a_recording_keeps_is_no_answer():
    engine = Engine(Limits(answer_bytes=100))
    recording = engine.recording(engine.parse("y = x * 2\nsum(y)"), leaves(x=np.ones(1000)))
    recording.run(nothing)
    assert recording.call(Query("gradient", target="y", sources="y")) is not None


def test_constants_count_against_the_budget():
    text = "y = toeplitz(x)\nsum(y)"
    for total, fits in ((400_000, True), (160_500, False)):  # a map and a matrix of 80 kB
        engine = Engine(Limits(total_bytes=total))
        call = engine.call(engine.parse(text), leaves(x=np.ones(100)), EVALUATE)
        if fits:
            assert call.replay(nothing).value == 10_000
        else:
            with pytest.raises(OverBudget, match="bytes at once"):
                call.replay(nothing)


def test_a_gradient_may_be_over_budget_where_the_value_is_not():
    text = "y = x\nfor i in range(100):\n  y = sin(y)\nsum(y)"
    engine = Engine(Limits(total_bytes=200_000))
    variables = leaves(x=np.ones(1000))
    assert engine.call(engine.parse(text), variables, EVALUATE).replay(nothing).nonfinite == {}
    with pytest.raises(OverBudget, match="bytes"):
        engine.call(engine.parse(text), variables, GRADIENT).replay(nothing)


def test_what_decisions_need_is_within_the_budget_too():
    text = "y = x\n" + "y = sin(y)\n" * 100 + "if y[0] > 0:\n  y = 2*y\nsum(y)"
    engine = Engine(Limits(total_bytes=50_000_000))
    call = engine.call(engine.parse(text), leaves(x=np.ones(100_000)), EVALUATE)
    tracemalloc.start()
    with pytest.raises(OverBudget, match="deciding"):
        call.replay(nothing)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60_000_000


def test_answers_do_not_alias_what_is_kept():
    engine = Engine()
    for _ in range(3):
        answer = engine.call(engine.parse("y = ones(3)*2\ny"), {}, EVALUATE).replay(nothing)
        assert answer.value.tolist() == [2, 2, 2]
        if answer.value.flags.writeable:
            answer.value[0] = 7


def test_what_is_not_finite_is_answered_where_what_was_recorded_exceeds_the_limits():
    engine, given = Engine(Limits(total_bytes=200_000)), leaves(x=np.linspace(0, 1, 100))
    program = engine.parse("sum(x * log(x))")
    with pytest.raises(OverBudget):
        engine.call(program, given, Query("hessian", sources="x", exact=True)).replay(nothing)
    answer = engine.call(program, given, Query("hessian", sources="x")).replay(nothing)
    assert np.isnan(answer.value)
    assert answer.nonfinite
