"""Pictures of programs: complete, valid for other programs, and without overlaps."""

from __future__ import annotations

import re
from itertools import combinations
from xml.etree import ElementTree

import orjson
import pytest
from gradwire_engine import Engine
from gradwire_engine.dataflow import Graph, Group, Vertex, dataflow
from gradwire_service.graphs.document import document
from gradwire_service.graphs.dot import dot
from gradwire_service.graphs.labels import clipped, text_width
from gradwire_service.graphs.layout import Placed, lay_out
from gradwire_service.graphs.svg import svg

SVG = "{http://www.w3.org/2000/svg}"


def overlap(one: tuple[float, ...], two: tuple[float, ...]) -> bool:
    apart = one[2] <= two[0] or two[2] <= one[0] or one[3] <= two[1] or two[3] <= one[1]
    return not apart


def sides(placed: Placed) -> tuple[float, float, float, float]:
    _, label, x, y = placed
    return x, y, x + label.width, y + label.height


def test_boxes_do_not_overlap_and_frames_contain_their_boxes(graph):
    layout = lay_out(graph)
    assert len(layout.boxes) == len(graph.vertices)
    assert len(layout.lines) == len(graph.edges)
    everything = [sides(placed) for placed in [*layout.boxes, *layout.references]]
    assert not any(overlap(one, two) for one, two in combinations(everything, 2))
    frames = {f.group: (f.x, f.y, f.x + f.width, f.y + f.height) for f in layout.frames}
    whole = 0.0, 0.0, layout.width, layout.height
    for placed, side in zip(layout.boxes, everything, strict=False):
        outer = frames.get(placed.vertex.group, whole)
        assert outer[0] < side[0] < side[2] < outer[2]
        assert outer[1] < side[1] < side[3] < outer[3]
        for group, frame in frames.items():
            assert (group in groups_around(placed.vertex)) is overlap(side, frame)


def groups_around(vertex: Vertex) -> list[Group]:
    groups = [vertex.group]
    while (outer := groups[-1].parent) is not None:
        groups.append(outer)
    return groups


def test_edges_lead_down_and_cross_no_box(graph):
    layout = lay_out(graph)
    boxes = {
        b.vertex.number: (b.x, b.y, b.x + b.label.width, b.y + b.label.height) for b in layout.boxes
    }
    for edge, route in layout.lines:
        assert route[-1][2] == boxes[edge.head][1]
        before = None
        for x, top, bottom in route:
            assert top <= bottom
            pieces = [(x, top, x, bottom)]
            if before is not None:
                assert before[1] < top
                pieces.append((min(x, before[0]), before[1], max(x, before[0]), top))
            before = x, bottom
            for number, box in boxes.items():
                inner = box[0] + 0.1, box[1] + 0.1, box[2] - 0.1, box[3] - 0.1
                if number not in (edge.tail, edge.head):
                    assert not any(overlap(piece, inner) for piece in pieces)


def test_all_text_is_inside_the_picture(graph):
    root = ElementTree.fromstring(svg(graph, "a program"))
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    assert width > 0
    sizes = {"head": 13, "mark": 11}
    for group in root.findall(f"{SVG}g"):
        dx, dy = map(float, re.findall(r"[\d.]+", group.attrib["transform"]))
        for element in group.iter(f"{SVG}text"):
            x, y = float(element.attrib["x"]) + dx, float(element.attrib["y"]) + dy
            size = sizes.get(element.attrib["class"], 11)
            across = text_width(element.text or "", size)
            left = x - across / 2 if element.attrib.get("text-anchor") == "middle" else x
            assert 0 <= left <= left + across <= width
            assert size <= y <= height


def test_a_picture_shows_everything_about_the_program():
    text = "h = tanh(x)\nloss = sum(h, axis=0)"
    graph = dataflow(Engine().parse(text), marks={"target": ["loss"], "source": ["x"]})
    root = ElementTree.fromstring(svg(graph, "of losses"))
    assert root.findtext(f"{SVG}title") == "of losses"
    texts = [element.text for element in root.iter(f"{SVG}text")]
    for word in ("source", "target", "variable", "operation", "x", "tanh", "sum", "loss", "axis=0"):
        assert word in texts
    titles = [element.text for element in root.iter(f"{SVG}title")]
    assert "loss = sum, target, operation, line 2" in titles
    assert "h = tanh → loss = sum, operand 0" in titles


def test_arrowheads_point_down(graph):
    root = ElementTree.fromstring(svg(graph, "any"))
    edges = [path.get("d", "") for path in root.iter(f"{SVG}path") if path.get("class") == "edge"]
    assert len(edges) == len(graph.edges)
    for edge in edges:
        numbers = [float(number) for number in re.findall(r"[\d.]+", edge)]
        last = re.findall(r"[MVC]", edge)[-1]
        *_, before, end = numbers if last == "V" else (*numbers[:-3], numbers[-3], numbers[-1])
        assert before < end  # a last segment without length would have no direction


def test_names_are_escaped_in_svg(hostile):
    picture = svg(hostile, "</title><script>")
    root = ElementTree.fromstring(picture.encode())
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags == {"svg", "title", "style", "defs", "marker", "path", "g", "rect", "text"}
    names = {name for element in root.iter() for name in element.attrib}
    assert not any(name.startswith("on") or "href" in name for name in names)
    assert set(re.findall(r"https?://[^\"]+", picture)) == {"http://www.w3.org/2000/svg"}
    assert "url(" not in picture.replace("url(#head)", "")


TOKENS = re.compile(
    r'\s*("(?:[^"\\]|\\.)*"|->|[{}\[\];=]|[A-Za-z_][A-Za-z_0-9]*|#[0-9a-f]{6})', re.DOTALL
)


def tokens(text: str) -> list[str]:
    found, at = [], 0
    while text[at:].strip():
        match = TOKENS.match(text, at)
        assert match is not None, text[at : at + 40]
        found.append(match[1])
        at = match.end()
    return found


def check_dot(graph: Graph) -> None:
    found = tokens(dot(graph))
    assert found[:3] == ["digraph", "program", "{"]
    assert found.count("{") == found.count("}") == 1 + found.count("subgraph")
    assert found.count("->") == len(graph.edges)
    statements = [found[i] for i in range(len(found) - 1) if found[i + 1] == "["]
    assert len([name for name in statements if re.fullmatch(r"n\d+", name)]) >= len(graph.vertices)
    for token in found:
        assert token[0] == '"' or "\n" not in token


def test_dot_output_is_valid(graph):
    check_dot(graph)


def test_names_are_escaped_in_dot(hostile):
    check_dot(hostile)
    label = next(t for t in tokens(dot(hostile)) if "N" in t and t.startswith('"source'))
    assert "\\\\N\\\\" in label
    assert "\x00" not in label


def test_documents_refer_only_to_their_own_nodes_and_groups(graph):
    told = orjson.loads(orjson.dumps(document(graph, "sha256:0")))
    nodes = {node["id"]: node for node in told["nodes"]}
    groups = {group["id"] for group in told["groups"]}
    assert len(nodes) == len(graph.vertices)
    for edge in told["edges"]:
        assert {edge["from"], edge["to"]} <= nodes.keys()
        assert ("position" in edge) is not ("name" in edge)
    assert {node["group"] for node in nodes.values() if "group" in node} <= groups
    assert {group["parent"] for group in told["groups"] if "parent" in group} <= groups


def test_documents_with_hostile_names_can_be_written(hostile):
    assert orjson.loads(orjson.dumps(document(hostile, "sha256:0")))["nodes"]


def test_2000_boxes_are_drawn_quickly():
    lines = [f"h{i + 1} = tanh(h{i} * w + h{i // 2} * x[{i}])" for i in range(300)]
    picture = svg(dataflow(Engine().parse("\n".join(lines))), "long")
    assert len(picture) < 2_000_000


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a", "a"), ("a" * 99, "a" * 29 + "…"), ("a\nb\x00\ud800", "a" + "\ufffdb" + "\ufffd" * 2)],
)
def test_long_labels_are_truncated(text, shown):
    assert clipped(text) == shown
