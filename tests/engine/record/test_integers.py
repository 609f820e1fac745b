"""Integers of passes are Python's: as large as they are, or refused where they meet arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine
from gradwire_engine.errors import BadArgument
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples
from tests.engine.conftest import called

TERMS = ["a", "b", "k", "k", "1", "3", "-2", "2**k", "2**(k % 9)", "(-1)**k", "k**3", "a * k"]
FORMS = ["{0} + {1}", "{0} - {1}", "{0} * {1}", "({0}) // 3", "({0} + {1}) % 101", "abs({0})"]
FORMS += ["max({0}, {1})", "-({0})", "{0} if k % 3 else {1}", "{0} if a > 5 else {1}"]
HEADS = ["for k in range({0}):\n", "k = -1\nwhile k < {0} - 1:\n  k = k + 1\n"]


@st.composite
def bodies(draw: st.DrawFn) -> list[tuple[str, list[str]]]:
    """The next a and b, of those before and the number of the pass: forms and their terms."""
    return [
        (
            f"  {name} = {draw(st.sampled_from(FORMS))}\n",
            [draw(st.sampled_from(TERMS)) for _ in "xy"],
        )
        for name in ("a", "b")
    ]


def text_of(body: list[tuple[str, list[str]]], term: str) -> str:
    lines = [form.format(*[term.format(each) for each in terms]) for form, terms in body]
    return "".join(lines) + "  s = s + x * (b % 7)\n"


def value(text: str, x: float) -> Any:
    engine = Engine()
    call = called(engine, text, {"x": np.asarray(x)}, "evaluate")
    return call.replay(lambda: None).value


@examples(60)
@given(bodies(), st.sampled_from(HEADS), st.sampled_from([2, 5, 30, 64, 150]))
def test_integers_are_those_of_python(body, head, passes):
    start, seen = f"a, b, s = 1, 2, 0.0\n{head.format(passes)}", [0]

    def watched(term: int) -> int:
        seen.append(abs(term))
        if seen[-1] >= 2**64:
            raise OverflowError
        return term

    names: dict[str, Any] = {"x": 1.5, "watched": watched}
    text = f"{start}{text_of(body, '{}')}s + x * a"
    try:
        exec(start + text_of(body, "watched({})"), names)
    except OverflowError:
        with pytest.raises(BadArgument, match="64 bits"):
            value(text, 1.5)
        return
    seen += [abs(names["a"]), abs(names["b"])]
    try:
        found = value(text, 1.5)
    except BadArgument as error:
        assert "64 bits" in str(error)  # noqa: PT017 - where all are small there is none
        assert max(seen) >= 2**31  # two of them are multiplied
    else:
        assert found == pytest.approx(names["s"] + 1.5 * names["a"], rel=1e-12)


@pytest.mark.parametrize("passes", [60, 100, 5000])
def test_counters_leave_loops_as_they_are(passes):
    text = f"s, n = 0.0, 0\nfor k in range({passes}):\n  n = n + 2 * k\n  s = s + x * n % 7\ns"
    engine = Engine()
    call = called(engine, text, {"x": 1.5}, "evaluate")
    call.compile(lambda: None)
    assert len(call.entry.paths[0].executable.tape.instructions) < 20
