"""Layouts: edges lead down, and neither boxes nor edges overlap."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from gradwire_service.graphs.layers import Box, Link, arrange
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples


@st.composite
def graphs(draw: Any) -> tuple[list[Box], list[Link]]:
    sizes = st.tuples(st.floats(10, 200), st.floats(5, 90))
    boxes = [Box(*draw(sizes)) for _ in range(draw(st.integers(0, 30)))]
    links = []
    for _ in range(draw(st.integers(0, 60)) if len(boxes) > 1 else 0):
        tail = draw(st.integers(0, len(boxes) - 2))
        head = draw(st.integers(tail + 1, len(boxes) - 1))
        one, two = boxes[tail], boxes[head]
        out, into = draw(st.floats(0, 1)) * one.width, draw(st.floats(0, 1)) * two.width
        links.append(Link(one, two, out, into, (40.0, 20.0)))
    if boxes and draw(st.booleans()):
        entered = {link.head for link in links}
        left = {link.tail for link in links}
        for box in boxes:
            if box not in entered:
                box.rank = "first"
            elif box not in left:
                box.rank = "last"
    return boxes, links


def overlap(one: tuple[float, ...], two: tuple[float, ...], slack: float = 1e-6) -> bool:
    """True if two rectangles (left, top, right, bottom) share an inner point."""
    left, top = max(one[0], two[0]), max(one[1], two[1])
    right, bottom = min(one[2], two[2]), min(one[3], two[3])
    return right - left > slack and bottom - top > slack


def sides(box: Box) -> tuple[float, float, float, float]:
    return box.x, box.y, box.x + box.width, box.y + box.height


@pytest.mark.thorough
@examples(150)
@given(graphs())
def test_boxes_and_edges_do_not_overlap(drawn):
    boxes, links = drawn
    arranged = arrange(boxes, links)
    references = [box for box in arranged.references if box is not None]
    everything = [*boxes, *references]
    for i, one in enumerate(everything):
        assert one.x >= -1e-6
        assert one.y >= 0
        assert one.x + one.width <= arranged.width + 1e-6
        assert one.y + one.height <= arranged.height + 1e-6
        assert not any(overlap(sides(one), sides(two)) for two in everything[:i])
    for link, route, reference in zip(links, arranged.routes, arranged.references, strict=True):
        assert link.tail.layer < link.head.layer
        start = reference or link.tail
        assert route[0][1] == start.y + start.height
        assert abs(route[-1][0] - link.head.x - link.into) < 1e-6
        assert route[-1][2] == link.head.y
        others = [box for box in everything if box not in (start, link.head)]
        for (x, top, bottom), following in zip(route, [*route[1:], None], strict=True):
            assert top <= bottom
            piece = x - 1e-3, top, x + 1e-3, bottom
            assert not any(overlap(piece, sides(box)) for box in others)
            if following is not None:
                assert bottom < following[1]
                curve = min(x, following[0]), bottom, max(x, following[0]), following[1]
                assert not any(overlap(curve, sides(box)) for box in everything)


@given(graphs())
def test_nodes_stay_in_their_rank(drawn):
    boxes, links = drawn
    arrange(boxes, links)
    last = max((box.layer for box in boxes), default=0)
    for box in boxes:
        assert box.rank != "first" or box.layer == 0
        assert box.rank != "last" or box.layer == last


def test_a_chain_is_drawn_as_a_straight_line():
    boxes = [Box(30.0, 10.0) for _ in range(9)]
    links = [Link(a, b, 15.0, 15.0, (9.0, 9.0)) for a, b in pairwise(boxes)]
    arranged = arrange(boxes, links)
    assert arranged.width == 30.0
    assert {x for route in arranged.routes for x, _, _ in route} == {15.0}


def test_long_edges_start_at_references():
    boxes = [Box(30.0, 10.0) for _ in range(40)]
    links = [Link(a, b, 15.0, 15.0, (9.0, 9.0)) for a, b in pairwise(boxes)]
    links.append(Link(boxes[0], boxes[-1], 15.0, 15.0, (9.0, 9.0)))
    arranged = arrange(boxes, links)
    assert [reference is not None for reference in arranged.references] == [False] * 39 + [True]
