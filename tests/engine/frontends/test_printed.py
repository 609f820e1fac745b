"""Printed text reads as the same program, and is printed alike again."""

from __future__ import annotations

import json
from itertools import product

import pytest
from gradwire_engine.errors import EngineError
from gradwire_engine.frontends.graph import parse_graph
from gradwire_engine.frontends.printed import printed
from gradwire_engine.frontends.text import parse_text
from gradwire_engine.program import Block, Program, Writer
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples


def check(program: Program) -> str:
    text = printed(program)
    assert text is not None
    again = parse_text(text)
    assert again.id == program.id
    assert printed(again) == text
    return text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("z = ((x)+(y*2))", "z = x + y * 2"),
        ("loss = mean(power(subtract(h, y), 2))", "loss = mean((h - y)**2)"),
        ("(a - b) - (c - d)", "a - b - (c - d)"),
        ("(-x)**2 - -x**-2", "(-x)**2 - -x**-2"),
        ("negative(2) + (-2)**2 - --1", "negative(2) + (-2)**2 - --1"),
        ("(a < b) < c, a < b <= c", "(a < b) < c, a < b <= c"),
        ("not (a and b) or c and not d", "not (a and b) or c and not d"),
        ("a and (b and c)", "a and (b and c)"),
        ("(2).T + 2.5 .T + ''.T + x.T", "(2).T + (2.5).T + ''.T + x.T"),
        ("(x if a else y) if b else (z if c else u)", "(x if a else y) if b else z if c else u"),
        ("(lambda x, y=2: (x, y))(1, y=z)", "(lambda x, y=2: (x, y))(1, y=z)"),
        ("x[()], x[a,], x[(a, b)], x[(a, b),]", "x[()], x[a], x[a, b], x[(a, b),]"),
        ("x[a:, ::b, ..., None, (lambda: 1):]", "x[a:, ::b, ..., None, (lambda: 1):]"),
        ("{k: v for k, (v,) in z}", "dict([(k, v) for k, (v,) in z])"),
        ("sum(i for i in x if a if b)", "sum([i for i in x if a if b])"),
        ("x = y[0] = a, b = z", "x = y[0] = a, b = z"),
        ("x += 1; y[i] -= x", "x = x + 1\ny[i] = y[i] - x"),
        ("f = lambda t: t\nf(x)", "def f(t):\n    return t\nf(x)"),
        ("f = g = lambda: x", "f = g = lambda: x"),
        ("if a: pass\nelif b: y = 1\nelse: return", None),
        ("if a:\n  y = 1\nelse:\n  if b: y = 2\n  y = 3", None),
        ("x.assign(y)\nx * 2", "x.assign(y)\nx * 2"),
        ("x\npass", "x\npass"),
        ("y = x\n(y)", "y = x"),
        ("y = x + 1\nz = y\n[y, {'a': z}]", "y = x + 1\nz = y\n[y, {'a': z}]"),
        ("1e999 - 1e999j - -0.0 - True", "1e999 - 1e999j - -0.0 - True"),
        ("'\\ud800\"\\n' in x", "'\\ud800\"\\n' in x"),
        ("", ""),
    ],
)
def test_what_is_shown(text, shown):
    found = check(parse_text(text))
    assert shown is None or found == shown


OPERATORS = "+ - * / // % @ ** & | ^ << >> < == in and or".split()


@pytest.mark.parametrize("one", OPERATORS)
def test_brackets_are_those_that_are_needed(one):
    for two in OPERATORS:
        has_needed_brackets(one, two)


def has_needed_brackets(one: str, two: str) -> None:
    for left, right, sign in product(("{} {} y", "({} {} y)"), ("{} z", "({} z)"), ("", "-")):
        first = left.format(f"{sign}x", one)
        text = f"{first} {two} {right.format(f'u {one}')}"
        shown = check(parse_text(text))
        brackets = [i for i, character in enumerate(shown) if character == "("]
        for at in brackets:
            close = shown.index(")", at)
            without = shown[:at] + shown[at + 1 : close] + shown[close + 1 :]
            assert parse_text(without).id != parse_text(shown).id


def test_the_longest_integers():
    assert check(parse_text(f"x * {'9' * 308}")).strip() == f"x * {'9' * 308}"


def node(name, op, *args, **attrs):
    return {"id": name, "op": op, "args": list(args), "attrs": attrs}


SUB = {"nodes": [node("p", "multiply", "c", "c")], "outputs": "p"}


@pytest.mark.parametrize(
    ("document", "shown"),
    [
        ({"nodes": [], "outputs": {"a": "x", "b": ["y.0.w"]}}, "{'a': x, 'b': [y[0].w]}"),
        (
            {"nodes": [node("y", "sum", "x", axis=[0, 1])], "outputs": "y"},
            "y = sum(x, axis=(0, 1))",
        ),
        (
            {"nodes": [node("y", "negative", 2), node("z", "exp", "y")], "outputs": ["y"]},
            "y = negative(2)\nz = exp(y)\n[y]",
        ),
        ({"nodes": [node("s", "assign", "x", 2.0)], "outputs": "s"}, "s = x.assign(2.0)"),
        (
            {
                "nodes": [
                    node("y", "for", 3, "x", index="i", carry=["c"], body={"outputs": ["c"]})
                ],
                "outputs": "y",
            },
            "y = fori_loop(0, 3, lambda i, c: (c,), (x,))",
        ),
        ({"nodes": [node("sin", "cos", "x"), node("y", "sin", "sin")], "outputs": "y"}, None),
        ({"nodes": [node("two words", "cos", "x")], "outputs": "two words"}, None),
        ({"nodes": [node("lambda", "cos", "x")], "outputs": "lambda"}, None),
        ({"nodes": [node("y", "cos", "np.x")], "outputs": "y"}, None),
        ({"nodes": [node("y = 1; z", "cos", "x")], "outputs": "y = 1; z"}, None),
        ({"nodes": [node("y", "scan", "x", f=SUB)], "outputs": "y"}, None),
    ],
)
def test_graphs_are_printed_as_far_as_text_goes(document, shown):
    program = parse_graph(document)
    assert printed(program) == shown
    if shown is not None:
        assert check(program) == shown


NAMES = st.sampled_from(["x", "y", "sin", "np", "if", "", "a b", "x.1"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=6,
)


@given(
    NAMES | st.just("getitem"), st.lists(JSON, max_size=3), st.dictionaries(NAMES, JSON, max_size=2)
)
def test_any_graph_is_printed_as_itself_or_not_at_all(op, args, attrs):
    document = {"nodes": [{"id": "z", "op": op, "args": args, "attrs": attrs}], "outputs": "z"}
    try:
        program = parse_graph(document)
    except EngineError:
        return
    text = printed(program)
    assert text is None or parse_text(text).id == program.id


@examples(300)
@given(st.data())
def test_any_nodes_are_printed_as_themselves_or_not_at_all(data):
    """Also those that neither text nor graph gives: operands read twice, or never."""
    writer = Writer()
    writer.open()
    kinds = "literal load call store list tuple index slice attribute return".split()
    for number in range(data.draw(st.integers(0, 8))):
        kind = data.draw(st.sampled_from(kinds))
        args = data.draw(st.lists(st.integers(0, number - 1), max_size=3)) if number else []
        value: object = data.draw(NAMES)
        match kind:
            case "literal":
                args, value = [], data.draw(st.sampled_from([1, -1, 2.5, True, None, "a", ..., 1j]))
            case "load":
                args = []
            case "call":
                value = data.draw(st.sampled_from(["add", "less", "logical_and", "f"])), ()
            case "slice":
                args = (args * 3 or [0, 0, 0])[:3]
            case "store" | "attribute" | "return":
                args = args[:1] or [0]
            case _:
                value = None
        writer.write((1, 1), kind, tuple(args), value)
    program = Program(writer.close(), data.draw(st.sampled_from(["x", "", None])), [])
    text = printed(program)
    assert text is None or parse_text(text).id == program.id


@pytest.mark.thorough
def test_a_program_of_30_000_statements_is_printed():
    lines = [f"h{i + 1} = tanh(h{i} * 0.5 + x) - {i}" for i in range(30_000)]
    text = "\n".join(lines)
    assert printed(parse_text(text)) == text


def test_a_sum_of_many_terms_is_printed():
    text = "y = " + " + ".join(["x * 2"] * 900)
    assert check(parse_text(text)) == text


def test_an_empty_body_with_an_output_it_does_not_have():
    assert printed(Program(Block(()), None, [])) == ""
    assert printed(Program(Block(()), [], [])) is None
    assert json.loads(json.dumps(printed(Program(Block(()), ["x"], [])))) == "[x]"
