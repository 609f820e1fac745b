"""Graphs become the programs that the same source text gives, or say where they are wrong."""

import json
from typing import Any

import pytest
from gradwire_engine.errors import EngineError, InvalidProgram, UnknownName
from gradwire_engine.frontends.graph import parse_graph
from gradwire_engine.frontends.text import parse_text
from hypothesis import given
from hypothesis import strategies as st


def node(name, op, *args, **attrs):
    return {"id": name, "op": op, "args": list(args), "attrs": attrs}


def inline(op, *args, **attrs):
    return {"op": op, "args": list(args), "attrs": attrs}


def graph(*nodes, outputs=None):
    return {"format": "gradwire/1", "nodes": list(nodes), "outputs": outputs or nodes[-1]["id"]}


LOSS = graph(
    node("h", "tanh", inline("add", inline("matmul", "x", "w"), "b")),
    node("loss", "mean", inline("power", inline("subtract", "h", "y"), 2)),
)


@pytest.mark.parametrize(
    ("text", "document"),
    [
        ("h = tanh(x @ w + b)\nloss = mean((h - y)**2)", LOSS),
        ("x", {"nodes": [], "outputs": "x"}),
        ("layers[0].w", {"nodes": [], "outputs": "layers.0.w"}),
        ("[a, layers[0].w]", {"nodes": [], "outputs": ["a", "layers.0.w"]}),
        ("{'a': a, 'b': [p.w]}", {"nodes": [], "outputs": {"a": "a", "b": ["p.w"]}}),
        ("y = a + 1\n[y, (y, y)]", graph(node("y", "add", "a", 1), outputs=["y", ["y", "y"]])),
        (
            "y = sum(x, axis=(0, 1), keepdims=True)",
            graph(node("y", "sum", "x", axis=[0, 1], keepdims=True)),
        ),
        ("y = a.b[2] < -1", graph(node("y", "less", "a.b.2", -1))),
        ("y = stack([a, [1, b]])", graph(node("y", "stack", ["a", [1, "b"]]))),
        (
            "y = x[0:2, None, ..., 1]",
            graph(node("y", "getitem", "x", index=[{"slice": [0, 2]}, None, "...", 1])),
        ),
        (
            "s = x.assign_add(x * y)\nz = x * s",
            graph(
                node("s", "assign_add", "x", inline("multiply", "x", "y")),
                node("z", "multiply", "x", "s"),
            ),
        ),
        (
            "y = cond(p, lambda: a, lambda: b)",
            graph(node("y", "cond", "p", then={"outputs": "a"}, **{"else": {"outputs": "b"}})),
        ),
    ],
)
def test_equal_programs_have_equal_ids(text, document):
    program = parse_graph(document)
    assert program.id == parse_text(text).id
    assert parse_graph(json.loads(json.dumps(document))).id == program.id


def test_loops(ask):
    body = {"nodes": [node("t", "multiply", "c", "x"), node("n", "add", "k", 1)]}
    less = {"nodes": [node("go", "less", "k", 3)], "outputs": "go"}
    loop = {"carry": ["k", "c"], "cond": less, "body": body | {"outputs": ["n", "t"]}}
    assert ask.value(graph(node("y", "while", 0, 1.0, **loop)), {"x": 2}) == [3, 8]
    body = {"nodes": [node("t", "add", "total", "i")], "outputs": ["t"]}
    count = {"index": "i", "carry": ["total"], "body": body}
    assert ask.value(graph(node("total", "for", 4, "x", **count)), {"x": 2}) == [8]


def test_attributes_of_functions_are_sub_programs(ask):
    branches = {
        "then": {"nodes": [node("s", "sin", "x")], "outputs": "s"},
        "else": {"outputs": "x"},
    }
    document = graph(node("p", "greater", "x", 0), node("y", "cond", "p", **branches))
    assert ask.gradients(document, {"x": 0.0})["x"] == 1
    assert ask.value(document, {"x": -1}) == -1


@pytest.mark.parametrize(
    ("op", "parameter"),
    [("einsum", "subscripts"), ("tf.einsum", "equation"), ("torch.einsum", "equation")],
)
def test_a_string_before_any_number_of_operands_is_an_attribute(ask, op, parameter):
    given = {"w": [[1.0, 2.0], [3.0, 4.0]], "x": [1.0, 10.0]}
    document = graph(node("y", op, "w", "x", **{parameter: "ij,j->i"}))
    assert ask.value(document, given).tolist() == [21, 43]
    with pytest.raises(UnknownName) as caught:
        ask.value(graph(node("y", op, "ij,j->i", "w", "x")), given)
    assert "strings are attrs" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({}, "/program"),
        ({"format": "other", "nodes": [], "outputs": "x"}, "/program/format"),
        ({"nodes": [], "outputs": "x", "more": 1}, "/program"),
        ({"nodes": {}, "outputs": "x"}, "/program/nodes"),
        ({"nodes": [5], "outputs": "x"}, "/program/nodes/0"),
        (graph(node("a", "sin", {"op": "sin", "id": 5})), "/program/nodes/0/args/0/id"),
        ({"nodes": [], "outputs": None}, "/program/outputs"),
        ({"nodes": [], "outputs": {"a": ["x", 1]}}, "/program/outputs/a/1"),
        (graph(node("a", "sin", "b"), node("b", "sin", "a")), "/program/nodes/0/args/0"),
        (graph(node("a", "sin", "a")), "/program/nodes/0/args/0"),
        (graph(node("a", "sin", "x"), node("a", "cos", "x")), "/program/nodes/1/id"),
        (graph(node("a.b", "sin", "x")), "/program/nodes/0/id"),
        (graph(node("a", "sin", "")), "/program/nodes/0/args/0"),
        (graph(node("a", "sin", {})), "/program/nodes/0/args/0"),
        (graph(node("a", 5, "x")), "/program/nodes/0/op"),
        (graph({"id": "a", "op": "sin", "args": "x"}), "/program/nodes/0/args"),
        (graph({"id": "a", "op": "sin", "attrs": []}), "/program/nodes/0/attrs"),
        (graph({"id": "a", "op": "sin", "inputs": []}), "/program/nodes/0"),
        (graph(node("a", "cond", "x", then={"outputs": "x"})), "/program/nodes/0/attrs"),
        (graph(node("a", "getitem", "x", index={"slice": [1]})), "/program/nodes/0/attrs/index/0"),
    ],
)
def test_malformed_graphs_say_where(document, pointer):
    with pytest.raises(InvalidProgram) as caught:
        parse_graph(document)
    at: Any = caught.value.at
    assert at.pointer == pointer


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (graph(node("a", "zzz", "x")), "no operation 'zzz'"),
        (graph(node("a", "add", "x")), "missing a required argument"),
        (graph(node("a", "sum", "x", foo=1)), "foo"),
        (graph(node("a", "sin", None)), "expected an array"),
    ],
)
def test_unknown_operations_and_attributes_say_where(ask, document, message):
    with pytest.raises(EngineError, match=message) as caught:
        ask.value(document, {"x": 1})
    at: Any = caught.value.at
    assert (at.pointer, at.id) == ("/program/nodes/0", "a")


def nested(depth, wrap, leaf):
    for _ in range(depth):
        leaf = wrap(leaf)
    return leaf


def branching(program):
    branches = {"then": program, "else": {"outputs": "x"}}
    return {"nodes": [node("a", "cond", "x", **branches)], "outputs": "a"}


@pytest.mark.thorough
@pytest.mark.parametrize("depth", [50, 99, 101, 1_000, 100_000])
@pytest.mark.parametrize(
    "document",
    [
        lambda n: graph(node("a", "sum", nested(n, lambda x: inline("sin", x), "x"))),
        lambda n: graph(node("a", "sum", nested(n, lambda x: [x], "x"))),
        lambda n: graph(node("a", "sum", "x", axis=nested(n, lambda x: [x], 0))),
        lambda n: graph(node("a", "sin", "x"), outputs=nested(n, lambda x: [x], "a")),
        lambda n: nested(n, branching, {"outputs": "x"}),
    ],
    ids=["operands", "lists", "attributes", "outputs", "programs"],
)
def test_depth_is_an_answer_or_a_typed_error(ask, document, depth):
    try:
        ask.value(document(depth), {"x": 1})
    except EngineError:
        return


def test_sub_programs_nest(ask):
    assert ask.value(nested(50, branching, {"outputs": "x"}), {"x": 2}) == 2


@pytest.mark.thorough
def test_a_chain_of_100_000_nodes_is_fine(ask):
    nodes = [node(f"n{i}", "negative", f"n{i - 1}" if i else "x") for i in range(100_000)]
    answer = ask.answer(graph(*nodes), {"x": 2.0})
    assert (answer.value, answer.gradients["x"]) == (2, 1)


PARTS = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.sampled_from(["x", "a", "", "x.0"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["op", "args", "id", "attrs", "nodes", "outputs", "then", "index"]),
            inner,
        )
        | st.builds(
            lambda op, args: inline(op, *args),
            st.sampled_from(["sin", "add", "cond", "for"]),
            st.lists(inner, max_size=3),
        )
    ),
    max_leaves=10,
)


@given(st.lists(PARTS, max_size=3), PARTS, PARTS)
def test_no_document_makes_reading_fail_otherwise(args, attrs, outputs):
    for op in ("add", "cond", "while", "for", "getitem", "sum"):
        document = {
            "nodes": [{"id": "a", "op": op, "args": args, "attrs": attrs}],
            "outputs": outputs,
        }
        try:
            parse_graph(document)
        except InvalidProgram as error:
            at: Any = error.at
        else:
            continue
        assert at.pointer.startswith("/program")
