"""Gradients by slices: of what is read by gathers alone, as TensorFlow has them.

Each gather gives its rows' gradient. Identities, signs, casts and sums of one tensor with itself
pass slices on to what they were computed from; every other operation makes them dense.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradwire.tf.calls import call
from gradwire.tf.connections import CONSTANT, function_of, reached
from gradwire.tf.conversion import tensor_of
from gradwire.tf.nodes import Spec, TensorNode
from gradwire.tf.recordings import Subgraph
from gradwire.tf.slices import IndexedSlices
from gradwire.tf.steps import again
from gradwire.tf.tensors import Tensor


@dataclass(slots=True)
class Source:
    """A source: a tensor, or a variable with all nodes that it was read as."""

    nodes: list[TensorNode]
    spec: Spec
    #: The gathers from it, if it is used by gathers alone, and the signs that they have in it.
    rows: list[TensorNode] = field(default_factory=list)
    signs: list[int] = field(default_factory=list)
    #: The variable.
    variable: Any = None

    @property
    def asked(self) -> list[TensorNode]:
        """The nodes at which the derivative is computed."""
        return self.rows or self.nodes


def find_gathers(
    subgraph: Subgraph, sources: Sequence[Source], targets: Sequence[TensorNode]
) -> None:
    """Note for each source the gathers from it, if it is used by gathers alone."""
    if not any(isinstance(term, TensorNode) and term.rows is not None for term in subgraph.order):
        return
    flowing = reached(subgraph.recording, targets)
    for source in sources:
        computed = any(node in subgraph.recording.recorded for node in source.nodes)
        if computed and len(sources) > 1:
            continue  # a copy of what was gathered would hide what leads to it from the others
        found = _gathers(subgraph, source.nodes, targets, flowing)
        if len(found) > 1:
            order = {node: at for at, node in enumerate(subgraph.backward(targets))}
            found.sort(key=lambda pair: order.get(pair[0], len(order)))
        source.rows = [node for node, _ in found]
        source.signs = [sign for _, sign in found]


def _gathers(
    subgraph: Subgraph,
    nodes: Sequence[TensorNode],
    targets: Sequence[TensorNode],
    flowing: set[Any],
) -> list[tuple[TensorNode, int]]:
    found: list[tuple[TensorNode, int]] = []
    pending = [(node, 1) for node in nodes]
    while pending:
        node, sign = pending.pop()
        if node in targets:
            return []
        for each in subgraph.consumers(node):
            if each not in flowing or function_of(each) in CONSTANT:
                continue
            if each.operands[0] is node and each.rows is not None:
                found.append((each, sign))
                continue
            passed = _passes(each, node)
            if passed is None:
                return []
            pending += [(each, sign * factor) for factor in passed]
    return found


def _passes(each: TensorNode, node: TensorNode) -> list[int] | None:
    """The signs with which an operation passes slices on to an operand, if it does."""
    if each.shape != node.shape:
        return None
    if function_of(each) == "add_n":
        return [1 for operand in each.operands if operand is node]
    if each.operands != (node,):
        return None
    if each.op == "-" and len(each.args) == 1:
        return [-1]
    beside = each.op in ("+", "-") and each.args[0] is node
    return [1] if beside or function_of(each) in ("copy", "cast") else None


def slices(parts: Sequence[Tensor | None], source: Source) -> IndexedSlices | None:
    """The gradient by slices, from those of the gathers."""
    found = [
        (part if sign > 0 else -part, node.rows)
        for part, node, sign in zip(parts, source.rows, source.signs, strict=True)
        if part is not None
    ]
    if not found:
        return None
    lengths = source.spec.shape or ()
    values = [_rows(part, lengths[1:], source.spec) for part, _ in found]
    indices = _in_row([_tensor_of(rows) for _, rows in found])
    of_elements = function_of(source.rows[0]) == "gather_nd"
    kind = indices.dtype.storage if of_elements else np.int32  # as TensorFlow has it
    return IndexedSlices(
        values[0] if len(values) == 1 else call("np.concatenate", values),
        indices,
        np.asarray(lengths, kind),
    )


def _rows(part: Tensor, shape: tuple[int, ...], spec: Spec) -> Tensor:
    lengths = part._lengths()
    if spec.dtype is not None and part.dtype != spec.dtype:
        part = call("tf.cast", part, spec.dtype.storage.name, spec=Spec(spec.dtype, lengths))
    if lengths[1:] == shape and len(lengths) == len(shape) + 1:
        return part
    count = int(np.prod(lengths, dtype=np.int64)) // max(int(np.prod(shape, dtype=np.int64)), 1)
    return call("np.reshape", part, (count, *shape), spec=Spec(part.dtype, (count, *shape)))


@again(effect=False)
def _in_row(indices: list[Tensor]) -> Tensor:
    return tensor_of(np.concatenate([each._value().reshape(-1) for each in indices]))


def _tensor_of(term: Any) -> Tensor:
    return Tensor(term) if isinstance(term, TensorNode) else tensor_of(term.value)
