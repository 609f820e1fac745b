"""Names that Python folds are refused everywhere, in texts as in graphs and requests."""

from __future__ import annotations

import ast
from typing import Any
from unicodedata import normalize

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.errors import EngineError, InputError, InvalidProgram, ProgramSyntaxError
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import cases

FOLDED = {
    "\ufb01": "fi",  # a ligature
    "\U0001d465": "x",  # mathematical italic
    "\u00b5": "\u03bc",  # a prefix of units, and the letter
    "e\u0301": "\u00e9",  # a letter and its accent
    "\u212a": "K",  # kelvin
    "\uff58\uff11": "x1",  # of full width
    "\u017f": "s",  # long
}
KEPT = ["x", "\u00e9", "\u03bc", "变量", "наука", "x_1", "ß"]
EVERY_FOLDED = pytest.mark.parametrize("name", FOLDED)

#: Names, with characters of all kinds.
IDENTIFIERS = st.text(
    st.characters(blacklist_categories=["Cs"]) | st.sampled_from([*"".join(FOLDED), *"ab_1²ª"]),
    min_size=1,
    max_size=4,
).filter(str.isidentifier)


def ask(program: Any, variables: dict[str, Any], **asked: Any) -> Any:
    engine = Engine()
    query = Query(**{"kind": "gradient", **asked})
    given = {k: v if isinstance(v, dict | list) else leaf(v) for k, v in variables.items()}
    return engine.call(engine.parse(program), given, query).replay(lambda: None)


def leaf(value: Any) -> Leaf:
    return Leaf(np.asarray(value, float))


@EVERY_FOLDED
@cases("text, line, column")
def test_of_a_text(name, text, line, column):
    with pytest.raises(ProgramSyntaxError) as refusal:
        Engine().parse(text.replace("{}", name))
    at = refusal.value.at
    assert at is not None
    assert (at.line, at.column) == (line, column)
    assert f"'{FOLDED[name]}'" in refusal.value.message
    assert FOLDED[name] in (refusal.value.hint or "")


@EVERY_FOLDED
def test_strings_and_comments_may_hold_anything(name):
    answer = ask(f'# {name}\n{{\'{name}\': x, """{name}""": x}}[\'{name}\']', {"x": 2})
    assert answer.value == 2


@EVERY_FOLDED
@cases("nodes, outputs, pointer")
def test_of_a_graph(name, nodes, outputs, pointer):
    with pytest.raises(InvalidProgram) as refusal:
        Engine().parse(named({"nodes": nodes, "outputs": outputs}, name))
    assert refusal.value.at is not None
    assert refusal.value.at.pointer == pointer
    assert FOLDED[name] in (refusal.value.hint or "")


def named(value: Any, name: str) -> Any:
    """A document with the name where there are brackets."""
    if isinstance(value, dict):
        return {key: named(item, name) for key, item in value.items()}
    if isinstance(value, list):
        return [named(item, name) for item in value]
    return value.replace("{}", name) if isinstance(value, str) else value


@EVERY_FOLDED
@pytest.mark.parametrize("kind", ["evaluate", "gradient"])
def test_of_a_request(name, kind):
    for variables in (
        {"x": 1, name: 2},
        {"x": 1, f"a.{name}": 2},
        {"x": 1, "a": {name: leaf(2)}},
        {"x": 1, "a": [{"b": {name: leaf(2)}}]},
        {"x": 1, name: 2, FOLDED[name]: 3},
    ):
        with pytest.raises(InputError) as refusal:
            ask("x * 2", variables, kind=kind)
        assert refusal.value.at is not None
        assert refusal.value.at.pointer == "/variables"
        assert name in (refusal.value.at.id or "")
        assert FOLDED[name] in (refusal.value.hint or "")
    for asked in ({"target": name}, {"sources": ["x", name]}, {"outputs": {"a": f"x.{name}"}}):
        with pytest.raises(InputError) as refusal:
            ask("x * 2", {"x": 1}, **asked)
        assert refusal.value.at is not None
        assert (refusal.value.at.pointer or "").startswith(f"/{next(iter(asked))}")


@pytest.mark.parametrize("name", KEPT)
def test_names_in_that_form_mean_the_same_in_all(name):
    text = ask(f"{name} * 3", {name: 2})
    node = {"id": "y", "op": "multiply", "args": [name, 3]}
    graph = ask({"nodes": [node], "outputs": "y"}, {name: 2})
    assert text.value == graph.value == 6
    assert [*text.gradients] == [*graph.gradients] == [name]


def test_what_no_text_can_name_stays_as_it_is():
    """A member by its string, a label of an answer."""
    answer = ask("p['x²'] * 2", {"p": {"x²": leaf(3), "½": leaf(1)}}, outputs={"\ufb01": "p"})
    assert answer.value == 6
    assert [*answer.outputs] == ["\ufb01"]


@given(IDENTIFIERS)
def test_a_name_is_taken_just_where_python_leaves_it_as_it_is(name):
    try:
        tree = ast.parse(f"{name} = x")
    except SyntaxError:  # a keyword
        return
    (target,) = tree.body[0].targets  # type: ignore[attr-defined]
    assert target.id == normalize("NFKC", name)
    found = []
    for program, variables in (
        (f"y = x\n{name} = x", {"x": 1}),
        ({"nodes": [{"id": name, "op": "sin", "args": ["x"]}], "outputs": name}, {"x": 1}),
        ("x", {"x": 1, name: 1}),
    ):
        try:
            ask(program, variables, kind="evaluate")
        except EngineError:
            found.append(False)
        else:
            found.append(True)
    assert found == [target.id == name] * 3 or name in ("x", "None", "True", "False")
