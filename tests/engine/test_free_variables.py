"""Free variables are the names that have to be sent."""

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query, errors
from gradwire_engine.answer import Kind
from gradwire_engine.free_variables import free_variables


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("1 + 1", []),
        ("x + 1", ["x"]),
        ("return x, y", ["x", "y"]),
        ("x = x * 2\ny = x", ["x"]),
        ("a, (b, c) = x, (y, x)\na + b + c", ["x", "y"]),
        ("x[0] = pi\ny = x", ["x"]),
        ("x.assign_add(1)\nx", ["x"]),
        ("x.sum(axis=0).T", ["x"]),
        ("gamma * sqrt(beta) + np.pi + layers[0].w", ["gamma", "beta", "layers"]),
        ("sum(x, dtype=float32)", ["x"]),
        ("def f(t):\n  return t * k\nk = 2\nf(x)", ["x"]),
        ("def f(t):\n  return t * k\nf(x)", ["k", "x"]),
        ("def f(t, s=a):\n  u = t * s\n  return u\nf(x)", ["a", "x"]),
        ("f = lambda t: t * w\nmap(f, x)", ["w", "x"]),
        ("cond(p > 0, sin, cos, x)", ["p", "x"]),
        ("s = 0\nfor i in range(n):\n  s += x[i]\ns", ["n", "x"]),
        ("if c > 0:\n  y = a\nelse:\n  y = b\ny", ["c", "a", "b"]),
        ("a if c > 0 else b", ["c", "a", "b"]),
        ("p > 0 and q > 0", ["p", "q"]),
        ("while t < 3:\n  t = t + dt\nt", ["t", "dt"]),
        ("[w * i for i in range(3) if i > k]", ["k", "w"]),
        ("with stop_recording():\n  y = x\ny", ["x"]),
        ("grad(sum(x * y), x)", ["x", "y"]),
    ],
)
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
