"""The graph of a program has what the program computes, and edges from what it is computed of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gradwire_engine import Limits
from gradwire_engine.dataflow import Graph, Vertex, annotate, dataflow
from gradwire_engine.errors import InputError, OverBudget, ShapeMismatch, UnknownName
from gradwire_engine.frontends.graph import parse_graph
from gradwire_engine.frontends.text import parse_text
from gradwire_engine.program import Program
from gradwire_engine.tape import ArrayType

from tests.engine.written import programs_of, texts_of

HERE = Path(__file__).parents[1]


def check(graph: Graph) -> None:
    """Edges stay in a group, or enter it at an input and leave it at a result; no cycles."""
    vertices = graph.vertices
    assert [vertex.number for vertex in vertices] == [*range(len(vertices))]
    for tail, head, _ in graph.edges:
        one, two = vertices[tail], vertices[head]
        leaving = one.group.parent if one.kind in ("result", "function") else one.group
        entering = two.group.parent if two.kind == "input" else two.group
        assert leaving is entering
    left = {vertex.number: 0 for vertex in vertices}
    for _, head, _ in graph.edges:
        left[head] += 1
    ready = [number for number, count in left.items() if not count]
    while ready:
        at = ready.pop()
        del left[at]
        for tail, head, _ in graph.edges:
            if tail == at:
                left[head] -= 1
                if not left[head]:
                    ready.append(head)
    assert not left


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::SyntaxWarning")  # prose that happens to be a program
def test_graphs_are_well_formed():
    checked = 0
    for program in programs_of(texts_of(HERE.rglob("*.py"))).values():
        graph = dataflow(program)
        if len(graph.vertices) < 300:
            check(graph)
            checked += 1
        calls = [v.at for v in graph.vertices if v.kind == "operation"]
        for node in program.body.nodes:
            if node.kind == "call":
                assert calls.count(node.at) == 1
    assert checked > 1000


def operands(graph: Graph, vertex: Vertex) -> list[tuple[str, int | str]]:
    return [(graph.vertices[e.tail].label, e.role) for e in graph.edges if e.head == vertex.number]


def only(graph: Graph, label: str, kind: str = "operation") -> Vertex:
    (found,) = [v for v in graph.vertices if v.label == label and v.kind == kind]
    return found


def test_names_are_resolved_and_parameters_told():
    graph = dataflow(parse_text("h = tanh(x @ w)\nloss = mean((h - 2)**2, axis=(0, 1), where=m)"))
    loss = only(graph, "mean")
    assert loss.name == "loss"
    assert loss.parameters == {"axis": "(0, 1)"}
    assert operands(graph, loss) == [("power", 0), ("m", "where")]
    assert operands(graph, only(graph, "subtract")) == [("tanh", 0), ("2", 1)]
    assert operands(graph, only(graph, "loss", "output")) == [("mean", 0)]
    assert [v.label for v in graph.vertices if v.kind == "variable"] == ["x", "w", "m"]
    assert loss.place is not None
    assert loss.place.line == 2


def test_members_of_nested_variables_are_variables():
    graph = dataflow(parse_text("layers[0].w @ x[1] + p.q.T + p.q"))
    variables = [v.label for v in graph.vertices if v.kind == "variable"]
    assert variables == ["layers[0].w", "x", "p.q"]
    known = dataflow(parse_text("ws[0] @ x[1] + pi"), ["ws.0", "x", "pi"])
    assert [v.label for v in known.vertices if v.kind == "variable"] == ["ws[0]", "x", "pi"]


def test_control_flow_is_in_groups():
    text = "s = 0\nfor i in range(n):\n  if x[i] > 0: s = s + x[i]\n  else: s = s - i\ns * 2"
    graph = dataflow(parse_text(text))
    check(graph)
    labels = [(g.label, g.parent and g.parent.label) for g in graph.groups]
    assert labels == [("program", None), ("for", "program"), ("if", "for"), ("else", "for")]
    assert operands(graph, only(graph, "if else", "merge")) == [("s", "then"), ("s", "else")]
    (product,) = operands(graph, only(graph, "multiply"))[:1]
    assert product == ("s", 0)
    items = [v for v in graph.vertices if v.label == "i" and v.group.label == "for"]
    assert [operands(graph, v) for v in items] == [[("range", "in")]]


def test_a_function_is_a_group_and_what_it_returns():
    graph = dataflow(parse_text("def f(t, u=a):\n  if t > 0: return t\n  return u * x\nf(y)"))
    check(graph)
    function = only(graph, "function", "function")
    assert function.name == "f"
    assert operands(graph, function) == [("return", 0), ("multiply", 0)]
    assert operands(graph, only(graph, "f")) == [("y", 0), ("function", "function")]
    assert operands(graph, only(graph, "u", "input")) == [("a", "default")]


def test_a_name_given_later_is_none_of_a_variable():
    graph = dataflow(parse_text("def f(t): return g(t)\ndef g(t): return t\nf(x)"))
    assert [v.label for v in graph.vertices if v.kind == "variable"] == ["x"]


def test_marks():
    program = parse_text("h = layers[0].w * x\ny = sum(h)")
    graph = dataflow(program, marks={"target": ["y"], "source": ["h", "layers", "x"]})
    marked = {v.label: v.marks for v in graph.vertices if v.marks}
    expected = {"multiply": ["source"], "layers[0].w": ["source"], "x": ["source"]}
    assert marked == expected | {"sum": ["target"]}
    with pytest.raises(UnknownName, match="'z'"):
        dataflow(program, marks={"target": ["z"]})


def typed(**types: str) -> dict[str, ArrayType]:
    found = {}
    for name, text in types.items():
        dtype, _, lengths = text.partition(" ")
        shape = tuple(map(int, lengths.split(",") if lengths else ()))
        found[name.replace("_", ".")] = ArrayType(np.dtype(dtype), shape)
    return found


def annotated(program: Program, types: dict[str, ArrayType]) -> Graph:
    graph = dataflow(program, types)
    annotate(graph, program, types, Limits(), lambda: None)
    return graph


@pytest.mark.parametrize(
    ("text", "compute"),
    [
        ("y = sum(x @ w + b, axis=0)", lambda x, w, b: np.sum(x @ w + b, axis=0)),
        ("y = (x[:, None] * w[None, :, 0]).T", lambda x, w, b: (x[:, None] * w[None, :, 0]).T),
        ("y = x.astype('int32') // 2 + b.shape[0]", lambda x, w, b: x.astype("int32") // 2 + 4),
        ("s = b\nfor i in range(40): s = s * b\ny = s + 0", lambda x, w, b: b),
        ("f = lambda t: t @ w\nif b[0] > 0: y = f(x)\nelse: y = x", lambda x, w, b: x @ w),
        ("y = stack([x, 2 * x], axis=2) + 1j", lambda x, w, b: np.stack([x, x], axis=2) + 1j),
    ],
)
def test_types_are_those_of_numpy(text, compute):
    types = typed(x="float64 5,3", w="float64 3,4", b="float32 4")
    graph = annotated(parse_text(text), types)
    arrays = {name: np.ones(kind.shape, kind.dtype) for name, kind in types.items()}
    value = np.asarray(compute(**arrays))
    (found,) = [v for v in graph.vertices if v.kind == "output"]
    assert found.type is not None
    assert (found.type.dtype, found.type.shape) == (value.dtype, value.shape)
    assert {
        v.label: v.type for v in graph.vertices if v.kind == "variable"
    }.items() <= types.items()


def test_members_have_types():
    types = typed(layers_0_w="float64 3,4", layers_1_w="float32 4", x="float64 3")
    graph = annotated(parse_text("x @ layers[0].w @ layers[1].w"), types)
    assert str(only(graph, "layers[1].w", "variable").type) == "float32[4]"
    assert [str(v.type) for v in graph.vertices if v.label == "matmul"] == [
        "float64[4]",
        "float64[]",
    ]


def test_what_does_not_fit_says_where():
    program = parse_text("y = x + 1\nz = y @ y")
    with pytest.raises(ShapeMismatch) as raised:
        annotated(program, typed(x="float64 2,3"))
    assert raised.value.at is not None
    assert raised.value.at.line == 2
    with pytest.raises(OverBudget):
        annotated(program, typed(x="float64 100000,100000"))
    with pytest.raises(InputError):
        annotated(program, typed(x="float64 3", x_0="float64 2"))


def test_graphs_have_pointers():
    nodes = [{"id": "y", "op": "add", "args": ["x", {"op": "sin", "args": ["x"]}]}]
    graph = dataflow(parse_graph({"nodes": nodes, "outputs": "y"}))
    place = only(graph, "sin").place
    assert place is not None
    assert place.pointer == "/program/nodes/0/args/1"


@pytest.mark.thorough
def test_5_000_statements_are_read_in_order():
    text = "\n".join(f"h{i + 1} = tanh(h{i} * 0.5)" for i in range(5_000))
    assert len(dataflow(parse_text(text)).vertices) == 15_002


@pytest.mark.parametrize("item", ["1", "x"])
def test_lists_of_lists_do_not_grow_without_bound(item):
    lines = [f"a0 = ({item}, 2)"]
    lines += [f"a{i + 1} = [a{i}, (a{i}, a{i})]" for i in range(60)]
    graph = dataflow(parse_text("\n".join([*lines, "f(a60, a59, k=a60)"])))
    check(graph)
    assert len(graph.vertices) < 1000
    assert len(graph.edges) < 10_000


def test_long_lists_and_texts_are_told_in_short():
    graph = dataflow(parse_text(f"f([{', '.join('1' * 99)}], g(k='{'a' * 999}'))"))
    assert [v.label for v in graph.vertices if v.kind == "constant"] == ["[…]"]
    assert len(only(graph, "g").parameters["k"]) < 300


def test_a_graph_has_no_more_than_it_may():
    names = " + ".join(f"x{i}" for i in range(100))
    lines = [" " * i + f"if c{i}:" for i in range(90)]
    program = parse_text("\n".join([*lines, " " * 90 + f"y = {names}"]))
    assert len(dataflow(program).vertices) > 9000
    with pytest.raises(OverBudget):
        dataflow(program, most=9000)


def test_assigning_is_another_value_of_the_name():
    graph = dataflow(parse_text("x.assign(y)\nrows = []\nrows.append(x)\nsum(rows) + x"))
    assert operands(graph, only(graph, "append"))[-1] == ("assign", 1)
    assert operands(graph, only(graph, "sum")) == [("append", 0)]
    assert operands(graph, only(graph, "add")) == [("sum", 0), ("assign", 1)]
