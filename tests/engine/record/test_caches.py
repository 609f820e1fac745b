"""Recordings and derivatives found in caches are as they would be anew."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
import pytest
from gradwire_engine import Engine
from gradwire_engine.autodiff import rule_cache
from gradwire_engine.autodiff.rule_cache import RuleCache
from gradwire_engine.errors import EngineError
from gradwire_engine.ops.base import FUNCTIONS, SINGLETONS
from gradwire_engine.ops.builder import Var
from gradwire_engine.ops.pointwise.arithmetic import Multiply
from gradwire_engine.record.calls import CallCache
from gradwire_engine.tape import Tape
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples
from tests.engine.conftest import called, named

VALUES = {
    "a": np.array(0.7),
    "b": np.array(-1.3),
    "x": np.array([0.3, -0.2, 0.9]),
    "f": np.array([0.5, 2.0, -1.0], np.float32),
    "i": np.array(3),
    "z": np.array(0.4 + 0.2j),
    "m": np.array([[0.3, 1.0, -2.0], [0.0, 0.5, 1.5], [2.0, -1.0, 0.25]]),
}
ONE = ("sin({})", "-{}", "abs({})", "tanh({})", "square({})")
TWO = ("{} * {}", "{} + {}", "{} - {}", "{} / {}", "maximum({}, {})", "{} ** {}", "{} > {}")
LITERALS = ("2.0", "2", "True", "-0.0", "0.5")


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Calls of few operations on values of several types, so that many are of the same."""
    names, lines = [*VALUES, *LITERALS, "w"], ["w = 2.0"]
    ones, twos = (
        draw(st.sets(st.sampled_from(ONE))),
        draw(st.sets(st.sampled_from(TWO), min_size=1)),
    )
    for number in range(draw(st.integers(3, 20))):
        form = draw(st.sampled_from(sorted(ones | twos)))
        operands = [draw(st.sampled_from(names)) for _ in range(form.count("{}"))]
        lines.append(f"v{number} = {form.format(*operands)}")
        names += [f"v{number}"] * 2
    total = " + ".join(f"sum(real({name} * 1.0))" for name in names if name[0] == "v")
    return "\n".join([*lines, total])


def tapes(text: str) -> dict[str, Tape] | str:
    """Every tape on the way to the gradient, by what made it, or what is refused."""
    engine, made = Engine(), dict[str, Tape]()
    call = called(engine, text, VALUES, "gradient")
    call.on_tape = made.__setitem__
    try:
        call.compile(lambda: None)
    except EngineError as error:
        return str(error)
    return made


def elementwise(name: str) -> Iterator[str]:
    """Programs that call an operation more often with a literal cotangent than with others."""
    for operands in ("{0}", "{0} * 1.0", "{0}, {0}", "{0}, 1.0"):
        first, *others = (f"{name}({operands})".format(x) for x in ("a * 0.9", "u", "u * 2", "v"))
        yield f"u = {first} * 0.5\nv = u ** 3\n{' + '.join(others)} + v"


@pytest.mark.thorough
def test_literals_of_rules_are_not_taken_for_operands_or_cotangents():
    compiled = 0
    for name, op in SINGLETONS.items():
        for text in elementwise(name) if op.elementwise and name in FUNCTIONS else ():
            with named(text):
                with patch.object(rule_cache, "_OFTEN", 2):
                    found = tapes(text)
                with patch.object(RuleCache, "learn"):
                    anew = tapes(text)
                if isinstance(found, str) or isinstance(anew, str):
                    assert found == anew  # refused: it takes other operands
                    continue
                compiled += 1
                assert str(found["compacted"]) == str(anew["compacted"])
    assert compiled > 250


@pytest.mark.thorough
@examples(150)
@given(programs())
def test_repeats_come_to_the_same_tapes(text):
    found = tapes(text)
    with patch.object(CallCache, "learn"), patch.object(RuleCache, "learn"):
        anew = tapes(text)
    if isinstance(found, str) or isinstance(anew, str):
        assert found == anew
        return
    assert found["recorded"] == anew["recorded"]
    assert str(found["compacted"]) == str(anew["compacted"])


@examples(50)
@given(st.lists(st.tuples(*[st.sampled_from(["m", "x", "f", "m * 2.0", "x * z"])] * 2), min_size=4))
def test_repeated_products_come_to_the_same_tapes(pairs):
    text = " + ".join(f"sum(real({x} @ {y}))" for x, y in pairs)
    found = tapes(text)
    with patch.object(CallCache, "learn"):
        anew = tapes(text)
    assert not isinstance(found, str)
    assert not isinstance(anew, str)
    assert found["recorded"] == anew["recorded"]
    assert str(found["compacted"]) == str(anew["compacted"])


def test_what_has_been_met_is_not_asked_for_again(monkeypatch):
    asked = []

    def cotangent(self: Multiply, number: int, z_bar: Var, z: Var, *operands: Var) -> Var:
        if not number:
            asked.append(z)
        return z_bar * operands[1 - number]

    monkeypatch.setattr(Multiply, "cotangent", cotangent)
    made = tapes("\n".join(["y = a", *50 * ["y = y * b"], "y"]))
    assert not isinstance(made, str)
    assert len(asked) == 11  # of the first the cotangent is a literal
    assert len(made["recorded"].instructions) == 50 + len(VALUES)
