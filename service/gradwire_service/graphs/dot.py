"""A graph in DOT, Graphviz's language."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from gradwire_engine.dataflow import Graph, Group, Vertex

from gradwire_service.graphs.labels import label_of

_SHAPES = {"operation": "box", "merge": "diamond", "constant": "plaintext"}
_FILLS = {"source": "#ffd98a", "target": "#9fdcb4", "variable": "#fff5da", "function": "#efe9fb"}


def dot(graph: Graph) -> str:
    """The graph in DOT; groups are clusters."""
    children: defaultdict[Group | None, list[Group]] = defaultdict(list)
    for group in graph.groups:
        children[group.parent].append(group)
    members: defaultdict[Group, list[Vertex]] = defaultdict(list)
    for vertex in graph.vertices:
        members[vertex.group].append(vertex)
    lines = ["digraph program {", "node [style=filled fillcolor=white fontname=monospace];"]
    lines += _cluster(graph.groups[0], children, members)
    for tail, head, role in graph.edges:
        label = f" [label={_quoted(role)}]" if isinstance(role, str) else ""
        lines.append(f"n{tail} -> n{head}{label};")
    return "\n".join([*lines, "}", ""])


def _cluster(
    group: Group,
    children: dict[Group | None, list[Group]],
    members: dict[Group, list[Vertex]],
) -> Iterator[str]:
    if group.number:
        yield f"subgraph cluster_{group.number} {{ label={_quoted(group.label)} style=dashed;"
    for vertex in members[group]:
        yield _node(vertex)
    for child in children[group]:
        yield from _cluster(child, children, members)
    if group.number:
        yield "}"


def _node(vertex: Vertex) -> str:
    text = "\n".join(line.text for line in label_of(vertex).lines)
    look = [f"shape={_SHAPES.get(vertex.kind, 'ellipse')}"]
    look += [f'fillcolor="{_FILLS[x]}"' for x in [*vertex.marks, vertex.kind][:1] if x in _FILLS]
    return f"n{vertex.number} [label={_quoted(text)} {' '.join(look)}];"


def _quoted(text: str) -> str:
    """A quoted string, in which a backslash begins an escape."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
