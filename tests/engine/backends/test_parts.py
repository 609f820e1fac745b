"""Long tapes as several functions that follow each other: what they give is what one gives."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.backends.finite import all_finite
from gradwire_engine.backends.numpy import loops
from gradwire_engine.backends.numpy.lower import lower, written
from gradwire_engine.backends.numpy.text import PART, Text, failing
from gradwire_engine.backends.plan import plan
from gradwire_engine.backends.quiet import quiet
from gradwire_engine.errors import DomainError
from gradwire_engine.ops.base import SINGLETONS
from gradwire_engine.ops.constants import Constant, Input
from gradwire_engine.tape import ArrayType, Instruction, Tape
from hypothesis import given
from hypothesis import strategies as st

NUMBER = ArrayType(np.dtype("float64"), ())
VECTOR = ArrayType(np.dtype("float64"), (3,))
#: Operations whose Python code gives the bits of NumPy's.
UNARY = [SINGLETONS[name] for name in ("negative", "square", "absolute", "sign")]
BINARY = [SINGLETONS[name] for name in ("add", "subtract", "multiply", "maximum", "minimum")]


def nothing():
    """Never stop."""


@st.composite
def tapes(draw):
    """Arithmetic on numbers, constants and vectors, which reads what is near and what is far."""
    made = [Instruction(Input(i), (), kind, 0) for i, kind in enumerate((NUMBER, VECTOR))]
    for _ in range(draw(st.integers(1, 40))):
        if draw(st.integers(0, 6)) == 0:
            value = np.asarray(draw(st.floats(-9, 9) | st.sampled_from([-0.0, np.inf, np.nan])))
            made.append(Instruction(Constant.of(value), (), NUMBER, 0))
            continue
        op = draw(st.sampled_from(UNARY + BINARY + BINARY))
        near = st.integers(max(0, len(made) - 4), len(made) - 1) | st.integers(0, len(made) - 1)
        args = tuple([draw(near) for _ in range(1 if op in UNARY else 2)])
        vector = any(made[a].type.shape for a in args)
        made.append(Instruction(op, args, VECTOR if vector else NUMBER, 0))
    outputs = [*draw(st.lists(st.integers(0, len(made) - 1), max_size=9)), len(made) - 1]
    return Tape(tuple(made), (0, 1), tuple(outputs))


@given(
    tapes(),
    st.integers(1, 30),
    st.booleans(),
    st.lists(st.floats(allow_subnormal=False), min_size=4, max_size=4),
)
def test_parts_give_the_bits_of_the_whole_careful_one(tape, part, quick, values):
    inputs = [np.float64(values[0]), np.array(values[1:])]
    planned = plan(tape)
    (found, unsure), (expected, _) = (
        quiet.run(lower(tape, planned, quick=by, part=size), inputs, nothing)
        for by, size in ((quick, part), (False, 1000))
    )
    assert unsure or all_finite(expected)
    for x, y in zip(found, expected, strict=True):
        assert type(x) is type(y)
        np.testing.assert_array_equal(x, y)
        plain = ~np.isnan(y)
        np.testing.assert_array_equal(np.signbit(x)[plain], np.signbit(y)[plain])


def chain(length, *last):
    """A long sum of sines, each of two that are near and far, then ``last``."""
    lines = [f"y{i + 1} = sin(y{i}) + cos(y{i // 2})*x" for i in range(length)]
    return "\n".join(["y0 = x", *lines, *last])


def ask(engine, text, query, poll=nothing, **values):
    leaves = {name: Leaf(np.asarray(value)) for name, value in values.items()}
    return engine.call(engine.parse(text), leaves, query).replay(poll)


@pytest.mark.parametrize(("x", "exact"), [(0.4, False), (0.4, True), ([0.4, 0.5, 0.7], False)])
def test_long_tapes_replay_as_they_are_walked(x, exact):
    engine, text = Engine(), chain(PART, f"y = sum(y{PART})")
    query = Query("gradient", exact=exact)
    walked, *lowered = [ask(engine, text, query, x=x) for _ in range(3)]
    for answer in lowered:
        np.testing.assert_allclose(answer.value, walked.value, rtol=0 if exact else 1e-12)
        got, right = answer.gradients["x"], walked.gradients["x"]
        np.testing.assert_allclose(got, right, rtol=0 if exact else 1e-9)


def test_no_function_has_more_than_a_part():
    add = SINGLETONS["add"]
    made = [Instruction(Input(0), (), NUMBER, 0)]
    level = [0] * (2 * PART)
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=True)
        level = []
        for pair in pairs:
            level.append(len(made))
            made.append(Instruction(add, pair, NUMBER, 0))
    tape = Tape(tuple(made), (0,), (len(made) - 1,))
    text = written(tape, plan(tape))
    names = text.functions("replay")
    assert len(names) == -(-len(made) // PART) + 1  # and one that returns
    for function in names:
        assert sum(code == ord("+") for code in function.__code__.co_code) <= 2 * PART
    ((total,), _) = lower(tape, plan(tape), quick=True)([np.float64(1)], nothing)
    assert total == 2 * PART


def test_what_fails_in_a_later_part_is_found():
    length = PART // 2
    text = chain(length, f"z = inv(ones((2, 2)) * y{length})", "y = sum(z)")
    engine = Engine()
    for _ in range(3):
        with pytest.raises(DomainError) as failed:
            ask(engine, text, Query("evaluate"), x=0.5)
        assert failed.value.at is not None
        assert (failed.value.at.op, failed.value.at.line) == ("inv", length + 2)


def test_equal_code_of_two_tapes_tells_each_its_own_lines():
    found = []
    one, other = (Instruction(Input(i), (), NUMBER, i) for i in range(2))
    functions = []
    for instruction in (one, other):
        text = Text("def f(x):")
        text.write("return x / 0", instruction)
        functions.append(text.function("f"))
    for function in functions:
        with pytest.raises(ZeroDivisionError) as failed:
            function(1)
        found.append(failing(failed.value))
    assert found == [one, other]


def test_threads_replay_one_long_tape_at_once():
    engine, text = Engine(), chain(PART, f"y = y{PART}")
    points = np.linspace(0, 1, 16)
    expected = [ask(Engine(), text, Query("evaluate"), x=x).value for x in points[:2]]
    for x in points[:2]:
        ask(engine, text, Query("evaluate"), x=x)
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(ask, engine, text, Query("evaluate"), x=x) for x in points]
        found = [future.result().value for future in asked]
    np.testing.assert_allclose(found[:2], expected, rtol=1e-12)
    again = [ask(engine, text, Query("evaluate"), x=x).value for x in points]
    np.testing.assert_array_equal(found, again)


def test_a_long_replay_looks_at_its_deadline():
    engine, text, looks = Engine(), chain(4 * PART, f"y = y{4 * PART}"), 0

    def poll():
        nonlocal looks
        looks += 1

    for _ in range(3):
        looks = 0
        ask(engine, text, Query("evaluate"), poll, x=0.5)
    assert looks >= 4


#: Instructions of a part, where loops have smaller ones.
FEW = 128


def body_of(parts: int) -> list[str]:
    """Lines of a loop, of some times so many instructions."""
    return [f"    y = sin(y)*0.5 + cos(y*0.1 + {n}) + {n}*x*0.001" for n in range(parts // 3)]


BODY = body_of(FEW)
LOOPS = {
    "for": ["y = x", "for i in range(5):", *BODY],
    "paths": ["y = x", "for i in range(5):", *BODY, "    y = y*0.9 if y > 0.3 else y + x"],
    "while": ["y = x", "k = 0.0", "while k < 2 + x:", *BODY, "    k = k + 1"],
    "two": ["y = x", "z = x", "for i in range(4):", *BODY, "    z = z*0.9 + y*i", "y = y + z"],
    "nested": [
        *["y = x", "for j in range(3):", "    for i in range(3):"],
        *[f"    {line}" for line in BODY],
        "    y = y + j*x",
    ],
}


@pytest.mark.thorough
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("loop", LOOPS)
def test_long_bodies_compute_what_python_does(loop, exact, monkeypatch):
    monkeypatch.setattr(loops, "PART", FEW)
    text, engine = "\n".join([*LOOPS[loop], "y"]), Engine()

    def value(x):
        names = {"x": x, "sin": np.sin, "cos": np.cos}
        exec(text, names)
        return names["y"]

    for x in (0.4, 1.3):
        slope = (value(x + 1e-6) - value(x - 1e-6)) / 2e-6
        for _ in range(3):
            answer = ask(engine, text, Query("gradient", exact=exact), x=x)
            np.testing.assert_allclose(answer.value, value(x), rtol=1e-12)
            np.testing.assert_allclose(answer.gradients["x"], slope, rtol=1e-5, atol=1e-7)


def test_what_fails_in_a_long_body_is_found():
    body = ["y = x", "for i in range(5):", *body_of(PART), "    z = inv(ones((2, 2)) * y)"]
    text = "\n".join([*body, "    y = y + sum(z)", "y"])
    for _ in range(2):
        with pytest.raises(DomainError) as failed:
            ask(Engine(), text, Query("evaluate"), x=0.5)
        assert failed.value.at is not None
        assert (failed.value.at.op, failed.value.at.line) == ("inv", len(body))
