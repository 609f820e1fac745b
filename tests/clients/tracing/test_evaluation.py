"""Values of recorded arrays that Python asks for, computed where the arguments are."""

import ast
from pathlib import Path
from typing import Any

import gradwire
import numpy as np
import pytest
from gradwire.tracing.evaluation import LocalValues, NotHere
from gradwire.tracing.terms import Leaf, Term


def chain(length: int, size: int) -> tuple[Leaf, list[Term]]:
    """A leaf, and terms that each add 1 to the one before."""
    leaf = Leaf(np.arange(float(size)))
    terms: list[Term] = []
    for _ in range(length):
        terms.append(Term("+", (terms[-1] if terms else leaf, 1)))
    return leaf, terms


@pytest.fixture
def asked(service_url):
    """A client, and the programs that it sends."""
    programs: list[str] = []

    class Seeing(gradwire.Client):
        def send(self, call: Any) -> Any:
            programs.append(call.document["program"])
            return super().send(call)

    with Seeing(service_url) as client:
        yield client, programs


def test_many_decisions_are_one_request(asked):
    client, programs = asked

    def root(x):
        y = x
        while abs(y * y - x) > 1e-9 * x:
            y = (y + x / y) / 2
        return y if y > 1 else 1 / y

    recorded = gradwire.function(root, client)
    assert recorded(2.0) == root(2.0)
    assert len(programs) == 1
    assert recorded(0.3) == pytest.approx(root(0.3), rel=1e-15)


def test_what_numpy_lacks_is_asked_for_once(asked):
    client, programs = asked

    def f(x):
        slope = gradwire.grad(lambda y: y**3)(x)
        for limit in range(5):
            if slope < limit:
                return slope * limit
        return slope

    assert gradwire.function(f, client)(1.0) == 12.0
    assert len(programs) == 2  # the value, and the function


@pytest.mark.parametrize("most_bytes", [1, 100_000, 1 << 20])
def test_values_that_were_given_up_are_computed_again(most_bytes):
    leaf, terms = chain(40, 1000)
    local = LocalValues(lambda leaf: leaf.value, most_bytes)
    for i in [*range(40), 3, 39, 0, 20]:
        (found,) = local.of([terms[i]])
        np.testing.assert_array_equal(found, leaf.value + i + 1)
        assert sum(local._large.values()) == local._bytes <= most_bytes + 2 * leaf.value.nbytes


@pytest.mark.parametrize(
    "term",
    [
        Term("lax.zeros", (3,)),
        Term("np.no_such_function", (Leaf(1.0),)),
        Term("+", (Leaf(np.ones(2)), Leaf(np.ones(3)))),
        Term("+", (Leaf(np.array(["a"])), 1)),
        Leaf(np.array([None])),
    ],
    ids=["another library", "unknown", "wrong shapes", "text", "objects"],
)
def test_what_cannot_be_computed_here_names_its_term(term):
    with pytest.raises(NotHere) as told:
        LocalValues(lambda leaf: leaf.value).of([Term("-", (term,))])
    assert isinstance(term, Leaf) or told.value.term is term


def test_a_leaf_that_is_elsewhere_is_asked_for_once():
    leaf = Leaf(object())
    local = LocalValues(lambda leaf: leaf.value)
    with pytest.raises(NotHere) as told:
        local.of([leaf])
    assert told.value.term is leaf
    local.learn(leaf, np.ones(2))
    assert local.of([leaf])[0].tolist() == [1.0, 1.0]


def test_operators_and_updates_are_numpys():
    x, y = np.array([5, -3, 7]), np.array([2, 2, 3])
    of = LocalValues(lambda leaf: leaf.value).of
    for sign in "+ - * / // % ** & | ^ << == != < <= > >=".split():
        (found,) = of([Term(sign, (Leaf(x), Leaf(y)))])
        expected = eval(f"x {sign} y", {"x": x, "y": y})
        np.testing.assert_array_equal(found, expected)
    key, values = np.array([0, 0, 1]), np.array([4, 2, 3])
    for how, expected in {"set": [2, 3, 7], "add": [11, 0, 7], "multiply": [40, -9, 7]}.items():
        (found,) = of([Term(f".at[].{how}", (Leaf(x), Leaf(key), Leaf(values)))])
        assert found.tolist() == expected


#: The door between recorded and Python's values: a conversion and a shape are each a guard, what
#: types decide is free, and loops and checks of guards give nothing to Python.
DOOR = {
    "decide": {"shapes.py", "to_python.py"},
    "values": {"shapes.py"},
    "local": {"traces.py", "traced.py"},
}


@pytest.mark.parametrize("name", DOOR)
def test_values_are_read_through_one_door(name):
    found = set()
    for path in Path(gradwire.tracing.__path__[0]).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr == name:
                owner = ast.unparse(node.value)
                if owner.endswith("trace") or (owner == "self" and path.name == "traces.py"):
                    found.add(path.name)
    assert found - {"traces.py"} == DOOR[name] - {"traces.py"}
