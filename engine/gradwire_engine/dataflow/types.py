"""Types of a graph's vertices, as recording the program for variables of given types finds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradwire_engine.answer import Leaf, Limits, Poll
from gradwire_engine.backends.reference.backend import REFERENCE
from gradwire_engine.dataflow.graph import Graph
from gradwire_engine.dataflow.reader import dotted
from gradwire_engine.errors import InputError, OverBudget
from gradwire_engine.nesting import flatten
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.program import Block, Program
from gradwire_engine.record.concrete import Concrete
from gradwire_engine.record.recording import Recording
from gradwire_engine.record.scope import State, lay_out
from gradwire_engine.tape import INEXACT, ArrayType

#: Kinds of vertices that only pass on what they read.
_PASSING = frozenset({"input", "result", "merge", "output"})


def annotate(
    graph: Graph, program: Program, types: Mapping[str, ArrayType], limits: Limits, poll: Poll
) -> None:
    """Set the types of vertices, for variables of ``types``, which are by dotted path.

    Decisions are those that ones take (zeros, of integers, as they are indices): what is on
    another way has no type.

    Raises: what recording does, where operands do not fit.
    """
    variables = _nested({path: _ones(kind, limits) for path, kind in types.items()})
    inputs = [leaf.value for _, leaf in flatten(variables)]
    b = Builder(limits, poll=poll)
    state = State()
    concrete = Concrete(b, REFERENCE, inputs)  # type: ignore[arg-type]
    recorder = _Watcher(program, b, lay_out(b, variables, state), state, concrete, poll)
    try:
        recorder.record(default=False)
    finally:
        b.forget()
    for vertex in graph.vertices:
        if vertex.kind == "variable":
            vertex.type = types.get(dotted(vertex.label))
        else:
            vertex.type = recorder.types.get(vertex.at)
    for tail, head, _ in graph.edges:
        vertex = graph.vertices[head]
        if vertex.type is None and vertex.kind in _PASSING:
            vertex.type = graph.vertices[tail].type


class _Watcher(Recording):
    """Keeps the type of what each node gave last."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.types: dict[int, ArrayType] = {}

    def step(self, block: Block, results: list[Any], end: int | None = None) -> None:
        """Run the nodes of a block, and note what they give."""
        first = len(results)
        super().step(block, results, end)
        for node, result in zip(block.nodes[first:], results[first:], strict=False):
            if type(result) is Var:
                self.types[node.at] = result.type


def _ones(kind: ArrayType, limits: Limits) -> Leaf:
    if kind.nbytes > limits.array_bytes:
        raise OverBudget(f"an array of {kind.nbytes} bytes is more than is allowed")
    one = np.array(kind.dtype.kind in INEXACT, kind.dtype)
    try:
        return Leaf(np.broadcast_to(one, kind.shape))
    except ValueError:
        raise OverBudget("no array can have so many elements along its axes") from None


def _nested(leaves: Mapping[str, Leaf]) -> dict[str, Any]:
    """Leaves by dotted paths, as nested dicts and lists."""
    tree: dict[str, Any] = {}
    for path, leaf in leaves.items():
        level: Any = tree
        *outer, last = path.split(".")
        for part in outer:
            level = level.setdefault(part, {})
            if isinstance(level, Leaf):
                break
        if isinstance(level, Leaf) or last in level:
            raise InputError(f"'{path[:40]}' has a type of its own, and so has what it is part of")
        level[last] = leaf
    return {name: _listed(level) for name, level in tree.items()}


def _listed(level: Any) -> Any:
    """A level whose keys count from 0 as a list."""
    if isinstance(level, Leaf):
        return level
    inner = {key: _listed(value) for key, value in level.items()}
    numbers = [str(i) for i in range(len(inner))]
    return [inner[n] for n in numbers] if inner.keys() == set(numbers) else inner
