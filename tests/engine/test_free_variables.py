"""Free variables are the names that have to be sent."""

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query, errors
from gradwire_engine.answer import Kind
from gradwire_engine.free_variables import free_variables

from tests.tables import cases


@cases("text, variables")
def test_names_that_are_read_before_they_are_assigned(text, variables):
    assert sorted(free_variables(Engine().parse(text))) == sorted(variables)


def test_they_come_in_the_order_in_which_they_are_read():
    assert free_variables(Engine().parse("c = b + a\nreturn c, d")) == ("b", "a", "d")


KIND: Kind = "evaluate"


@pytest.mark.parametrize(
    "text",
    [
        "y = x * w\nfor i in range(3):\n  y = y + b\ny",
        "def f(t):\n  return t * w\nf(x) + sum([b * i for i in range(2)])",
        "h = x\nif sum(w) > 0:\n  h = h + b\nh",
    ],
)
def test_a_program_runs_with_them_and_with_none_less(text):
    engine = Engine()
    program = engine.parse(text)
    names = free_variables(program)
    assert sorted(names) == ["b", "w", "x"]
    values = {name: Leaf(np.array([1.0, 2.0])) for name in names}

    def answer(given):
        call = engine.call(program, given, Query(KIND))
        call.compile(lambda: None)
        return call.replay(lambda: None)

    answer(values)
    for name in names:
        with pytest.raises(errors.UnknownName):
            answer({other: leaf for other, leaf in values.items() if other != name})
