"""A graph as a JSON document: nodes, edges and groups."""

from __future__ import annotations

from typing import Any

from gradwire_engine.dataflow import Graph, Group, Vertex
from gradwire_engine.errors import Place

from gradwire_service.problems import clip

#: Characters of the longest text.
_LONGEST = 200


def document(graph: Graph, program: str) -> dict[str, Any]:
    """The document of a graph; ``program`` is the program's id."""
    edges = [
        {
            "from": f"n{tail}",
            "to": f"n{head}",
            "name" if isinstance(role, str) else "position": role,
        }
        for tail, head, role in graph.edges
    ]
    return {
        "program": program,
        "nodes": [_node(vertex) for vertex in graph.vertices],
        "edges": edges,
        "groups": [_group(group) for group in graph.groups[1:]],
    }


def _node(vertex: Vertex) -> dict[str, Any]:
    node: dict[str, Any] = {
        "id": f"n{vertex.number}",
        "kind": vertex.kind,
        "label": clip(vertex.label, _LONGEST),
    }
    if vertex.name is not None:
        node["name"] = clip(vertex.name, _LONGEST)
    if vertex.parameters:
        parameters = vertex.parameters.items()
        node["parameters"] = {clip(k, _LONGEST): clip(v, _LONGEST) for k, v in parameters}
    if vertex.type is not None:
        node["dtype"], node["shape"] = vertex.type.dtype.name, list(vertex.type.shape)
    if vertex.marks:
        node["marks"] = vertex.marks
    if vertex.group.number:
        node["group"] = f"g{vertex.group.number}"
    return node | _place(vertex.place)


def _group(group: Group) -> dict[str, Any]:
    made = {"id": f"g{group.number}", "label": clip(group.label, _LONGEST)}
    if group.parent is not None and group.parent.number:
        made["parent"] = f"g{group.parent.number}"
    return made | _place(group.place)


def _place(place: Place | None) -> dict[str, Any]:
    if place is None:
        return {}
    if place.line is not None:
        return {"line": place.line, "column": place.column}
    return {"pointer": clip(place.pointer or "", _LONGEST)}
