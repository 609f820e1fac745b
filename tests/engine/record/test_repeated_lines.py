"""Lines that are repeated come to what they come to one by one, in the time of a loop."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from gradwire_engine import Answer, Engine, Leaf, Query
from gradwire_engine.frontends.text import parse_text
from gradwire_engine.ops.loops import Loop
from gradwire_engine.record import loops, repeated_lines
from gradwire_engine.tape import Tape
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples

NAMES = ("a", "b", "c", "d")
FORMS = (
    *("{} = 0.5 * sin({}) + 0.1 * {}", "{} = {} * tanh({})", "{} = maximum({}, {})"),
    *("{} = {} / {}", "{} = 0.9 * sqrt({}) - {}", "{} = {} - {}", "{} = {}", "{} = {} * 0.5 + 1.0"),
    *("{} = 0.5 * {} + w[#]", "{} = {} * w[#2]", "{} = f({}, {})", "{} = g({}, {}) - w[#-1]"),
)
FUNCTIONS = """
def f(x, y):
  z = 0.5 * sin(x) + w[3]
  return z * y

def g(x, y):
  return f(x, 0.3)
"""


def lines(draw: st.DrawFn) -> list[str]:
    found = []
    for form in draw(st.lists(st.sampled_from(FORMS), min_size=1, max_size=5)):
        names = [draw(st.sampled_from(NAMES)) for _ in range(form.count("{}"))]
        found.append(form.format(*names))
    return found


@st.composite
def texts(draw: st.DrawFn) -> str:
    last = draw(st.sampled_from([*NAMES, "a * b", "c + sin(d)", "a, c"]))
    repeated, times = lines(draw), draw(st.integers(16, 24))
    passes = [numbered(line, number) for number in range(times) for line in repeated]
    single = [numbered(line, 5) for line in (*lines(draw), *lines(draw))]
    text = "\n".join([*single[::2], *passes, *single[1::2], last])
    return FUNCTIONS + text if "f(" in text or "g(" in text else text


def numbered(line: str, number: int) -> str:
    """A line that reads the element of a pass, every second one, or from the end on."""
    for sign, element in (("#2", 2 * number), ("#-1", 50 - number), ("#", number)):
        line = line.replace(sign, str(element))
    return line


def answer(text: str, values: dict[str, float], *, rolled: bool = True, **query: object) -> Answer:
    engine, program = Engine(), parse_text(text)
    if not rolled:
        program = replace(program, repetition=None)
    leaves = {name: Leaf(np.asarray(value)) for name, value in values.items()}
    leaves["w"] = Leaf(np.cos(np.arange(60.0)))
    asked = Query("gradient", unconnected="zero", **query)  # type: ignore[arg-type]
    return engine.call(program, leaves, asked).replay(lambda: None)


def flat(found: Answer) -> list[float]:
    value = found.value if isinstance(found.value, list) else [found.value]
    gradients = [np.ravel(bar) for bar in found.gradients.values()]
    return [float(x) for x in np.concatenate([*gradients, np.ravel(value)])]


@pytest.fixture(scope="module", autouse=True)
def _short():
    """Short lines are repeated enough."""
    few = patch.object(repeated_lines, "_FEWEST_NODES", 0)
    with few, patch.object(loops, "_SHORT_INSTRUCTIONS", 0):
        yield


@pytest.mark.thorough
@examples(300)
@given(texts(), st.lists(st.sampled_from([-1.5, -0.3, 0.0, 0.4, 1.0]), min_size=4, max_size=4))
def test_repeated_lines_give_what_they_give_one_by_one(text, numbers):
    values = dict(zip(NAMES, numbers, strict=True))
    expected = flat(answer(text, values, rolled=False))
    # Some of these programs amplify rounding: as much as they amplify a small change.
    nearby = {name: value + 1e-12 for name, value in values.items()}
    moved = flat(answer(text, nearby, rolled=False))
    for found, by_itself, by_change in zip(
        flat(answer(text, values)), expected, moved, strict=True
    ):
        amplified = 10 * abs(by_change - by_itself)
        if np.isfinite(by_itself) and abs(by_itself) < 1e6 and np.isfinite(amplified):
            assert found == pytest.approx(by_itself, rel=1e-6, abs=1e-8 + amplified)


def tape(text: str, **query: object) -> set[type]:
    """The kinds of what is replayed."""
    program, engine = parse_text(text), Engine()
    made = dict[str, Tape]()
    leaves = {name: Leaf(np.asarray(0.3)) for name in NAMES}
    leaves["w"] = Leaf(np.cos(np.arange(60.0)))
    call = engine.call(program, leaves, Query("gradient", **query))  # type: ignore[arg-type]
    call.on_tape = made.__setitem__
    call.compile(lambda: None)
    return {type(instruction.op) for instruction in made["compacted"].instructions}


STEP = ["b = a * 0.5", "a = a + 0.1 * sin(b) * c"]


NUMBERED = [f"a = a * w[{n}]" for n in range(30)]
OF_FUNCTION = "def f(x, y):\n  return sin(x) * y\n"


@pytest.mark.parametrize(
    "text",
    [
        "\n".join([*30 * STEP, "a * d"]),
        "\n".join([*NUMBERED, "a"]),
        "\n".join([*[f"a = a * w[{59 - 2 * n}]" for n in range(30)], "a"]),
        "\n".join([*[f"b = w[{n}] * a\na = b + w[3]" for n in range(30)], "a"]),
        OF_FUNCTION + "\n".join([*[f"a = f(a, w[{n}])" for n in range(30)], "a"]),
        OF_FUNCTION + "\n".join([*30 * ["b = f(a, 2.0)", "a = f(b, c)"], "a"]),
        OF_FUNCTION + "\n".join([*30 * ["w = f(w, c)"], "sum(w)"]),
    ],
)
def test_repeated_lines_are_one_instruction(text):
    assert Loop in tape(text)
    assert parse_text(text).id == replace(parse_text(text), repetition=None).id


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("\n".join([*7 * STEP, "a"]), {}),
        ("\n".join([*30 * STEP, "a"]), {"exact": True}),
        ("\n".join([*30 * STEP, "a"]), {"target": "b"}),
        ("\n".join([*30 * STEP, "a"]), {"sources": "a"}),
        ("\n".join([*30 * [*STEP, "c = floor(c)"], "a"]), {}),
        ("\n".join(["c = [c, d]", *30 * ["a = a + sum(c)", "b = a"], "a"]), {}),
        ("\n".join([*30 * ["a, b = b, a * c"], "a"]), {}),
        ("\n".join([*30 * ["e = a", "a = b", "b = e * c"], "a"]), {}),
        ("\n".join([*30 * STEP, "e = b", "a"]), {"target": "e"}),
        ("\n".join([*[f"a = a * w[{n * n}]" for n in range(8)], "a"]), {}),
        ("\n".join([*[f"a = a * w[{n % 3}]" for n in range(30)], "a"]), {}),
        ("\n".join([*[f"a = a * sum([{n}])" for n in range(30)], "a"]), {}),
        ("def f(x, y):\n  return x\n" + "\n".join([*30 * ["b = a", "a = f(b, c)"], "a"]), {}),
        ("def f(x):\n  return x * b\n" + "\n".join([*30 * ["b = a * c", "a = f(c)"], "a"]), {}),
        ("def f(x):\n  return floor(x)\n" + "\n".join([*30 * ["a = f(a)"], "a"]), {}),
    ],
)
def test_what_a_loop_could_tell_otherwise_is_recorded_line_by_line(text, query):
    assert Loop not in tape(text, **query)


def test_what_only_the_last_pass_does_not_read_is_no_infinity_times_zero():
    step = ["b = b + 0.1 * a * c", "c = sqrt(d)", "d = d - 1.0"]
    text = "\n".join([*30 * step, "b"])
    values = {"a": 1.0, "b": 0.0, "c": 0.0, "d": 29.0}
    assert Loop in tape(text)
    assert flat(answer(text, values)) == pytest.approx(flat(answer(text, values, rolled=False)))
