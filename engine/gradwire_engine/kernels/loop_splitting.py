"""Index-set splitting: the part of a nest where conditions on indices are known goes by itself.

What is read from padded, shifted, joined or scattered arrays is selected by conditions on indices,
of which almost all elements have the same outcome. Source: Griebl, Feautrier, Lengauer, "Index set
splitting", Int. J. Parallel Programming 28, 2000.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from gradwire_engine.kernels.form import (
    EVERYWHERE,
    Affine,
    Apply,
    Count,
    Kernel,
    Literal,
    Load,
    Nest,
    Node,
    Reduce,
    Store,
    Value,
    Within,
)
from gradwire_engine.kernels.loop_coalescing import coalesced
from gradwire_engine.kernels.nodes import Nodes

#: Elements of a nest that is split, and most of its nodes: each part is compiled by itself.
_FEWEST, _MOST_NODES = 4096, 200
#: A range of each loop.
_Box = Sequence[range]


def split(kernel: Kernel) -> Kernel:
    """The same, each nest in parts."""
    nests = [
        part for step in kernel.nests for part in (_parts(step) if type(step) is Nest else (step,))
    ]
    return kernel._replace(nests=tuple(nests))


def _parts(nest: Nest) -> Iterator[Nest]:
    """The parts before and behind the longest range of each loop, and the one within them all."""
    plain = all(
        type(o) is Store or (type(o) is Reduce and o.kind in EVERYWHERE) for o in nest.outputs
    )
    small = math.prod(nest.lengths) < _FEWEST or len(nest.nodes) > _MOST_NODES
    inner = [*_longest(nest)] if plain and not (small or nest.carries or nest.is_in_place) else []
    box = [range(n) for n in nest.lengths]
    if inner == box or not inner:
        yield nest
        return
    for loop, within in enumerate(inner):
        for outside in (range(within.start), range(within.stop, box[loop].stop)):
            if outside:
                yield _restricted(nest, [*box[:loop], outside, *box[loop + 1 :]])
        box[loop] = within
    yield _restricted(nest, box)


def _longest(nest: Nest) -> Iterator[range]:
    """Of each loop the longest range in which its conditions have one outcome, if that is most."""
    cuts: list[set[int]] = [{0, n} for n in nest.lengths]
    for node in nest.nodes:
        if type(node) is Within and (one := _loop_of(node.at, nest.outer)) is not None:
            holds = _holding(node, one, nest)
            cuts[one].update(i for i in (holds.start, holds.stop) if 0 < i < nest.lengths[one])
    for n, of_one in zip(nest.lengths, cuts, strict=True):
        ends = sorted(of_one)
        longest = max(map(range, ends, ends[1:]), key=len)
        yield longest if 2 * len(longest) > n else range(n)


def _loop_of(at: Affine, outer: int) -> int | None:
    """The only loop of a nest that an index depends on, one by one."""
    own = [loop for loop, c in enumerate(at.coefficients) if c]
    alone = len(own) == 1 and not at.terms and abs(at.coefficients[own[0]]) == 1
    return own[0] - outer if alone and own[0] >= outer else None


def _holding(node: Within, loop: int, nest: Nest) -> range:
    """Where a condition on one loop holds."""
    at = node.at
    if at.coefficients[nest.outer + loop] > 0:
        return range(node.low - at.offset, node.high - at.offset)
    return range(at.offset - node.high + 1, at.offset - node.low + 1)


def _restricted(nest: Nest, box: _Box) -> Nest:
    """A nest of a part of the elements, without the conditions that are known there."""
    made, known = Nodes(), list[bool | None]()
    moved = list[Value]()

    def at(index: Affine) -> Affine:
        own = zip(index.coefficients[nest.outer :], box, strict=True)
        offset = index.offset + sum([c * part.start for c, part in own])
        terms = tuple([(moved[value], factor) for value, factor in index.terms])
        return Affine(index.coefficients, offset, terms)

    for node in nest.nodes:
        outcome: bool | None = None
        value = -1
        match node:
            case Within():
                outcome = _outcome(node, nest, box)
                value = made.node(node._replace(at=at(node.at)))
            case Count():
                value = made.node(node._replace(at=at(node.at)))
            case Load(guard=guard) if guard is not None and known[guard] is False:
                value = made.node(Literal(0.0, node.char))
            case Load(guard=guard):
                kept = None if guard is None or known[guard] else moved[guard]
                value = made.node(node._replace(at=at(node.at), guard=kept))
            case Apply("where", (condition, x, y)) if known[condition] is not None:
                chosen = x if known[condition] else y
                value, outcome = moved[chosen], known[chosen]
            case Apply("and" | "or" as function, (x, y)) if not (known[x] is known[y] is None):
                given, other = (x, y) if known[x] is not None else (y, x)
                decides = known[given] is (function == "or")
                value, outcome = (
                    moved[given if decides else other],
                    known[given if decides else other],
                )
            case Apply():
                value = made.node(node._replace(args=tuple([moved[a] for a in node.args])))
            case _:
                value = made.node(node)
        moved.append(value)
        known.append(outcome)
    outputs = [o._replace(at=at(o.at), value=moved[o.value]) for o in nest.outputs]
    lengths = tuple(map(len, box))
    return coalesced(
        _alive(nest._replace(lengths=lengths, nodes=tuple(made.nodes), outputs=tuple(outputs)))
    )


def _outcome(node: Within, nest: Nest, box: _Box) -> bool | None:
    """True if a condition holds in all of a box, False if nowhere there, None otherwise."""
    loop = _loop_of(node.at, nest.outer)
    if loop is None:
        return None
    part, holds = box[loop], _holding(node, loop, nest)
    if holds.start <= part.start and part.stop <= holds.stop:
        return True
    return False if part.stop <= holds.start or holds.stop <= part.start else None


def _alive(nest: Nest) -> Nest:
    """Without the nodes that nothing is computed from any more."""
    needed = {output.value for output in nest.outputs}
    needed |= {value for output in nest.outputs for value, _ in output.at.terms}
    for value in reversed(range(len(nest.nodes))):
        if value in needed:
            needed |= {*_arguments(nest.nodes[value])}
    moved = {value: number for number, value in enumerate(sorted(needed))}
    nodes = tuple([_renumbered(nest.nodes[value], moved) for value in moved])
    outputs = [o._replace(at=_at(o.at, moved), value=moved[o.value]) for o in nest.outputs]
    return nest._replace(nodes=nodes, outputs=tuple(outputs))


def _arguments(node: Node) -> Iterator[Value]:
    """The values that a node is computed from."""
    if isinstance(node, Apply):
        yield from node.args
    if isinstance(node, Load | Within | Count):
        yield from [value for value, _ in node.at.terms]
    if isinstance(node, Load) and node.guard is not None:
        yield node.guard


def _renumbered(node: Node, moved: Mapping[Value, Value]) -> Node:
    """A node of values that have other numbers."""
    match node:
        case Apply():
            return node._replace(args=tuple([moved[a] for a in node.args]))
        case Load():
            guard = None if node.guard is None else moved[node.guard]
            return node._replace(at=_at(node.at, moved), guard=guard)
        case Within() | Count():
            return node._replace(at=_at(node.at, moved))
    return node


def _at(index: Affine, moved: Mapping[Value, Value]) -> Affine:
    return index._replace(terms=tuple([(moved[value], factor) for value, factor in index.terms]))
