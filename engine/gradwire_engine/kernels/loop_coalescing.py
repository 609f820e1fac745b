"""Nests with fewer loops."""

from __future__ import annotations

from gradwire_engine.kernels.form import Affine, Count, Load, Nest, Node, Within

#: Nodes that depend on the numbers of loops.
_INDEXED = Load, Within, Count


def coalesced(nest: Nest) -> Nest:
    """The same with fewer loops: those that all accesses go through as through one are joined."""
    lengths, kept, outer = [*nest.lengths], nest.kept, nest.outer
    affine = [
        *[node.at for node in nest.nodes if isinstance(node, Load | Count)],
        *[output.at for output in nest.outputs],
    ]
    steps = [at.coefficients[outer:] for at in affine]
    numbered = [n.at.coefficients[outer:] for n in nest.nodes if isinstance(n, Within)]
    keep = [True] * len(lengths)
    for loop in range(len(lengths)):
        if lengths[loop] == 1:
            keep[loop] = False
            kept -= loop < nest.kept
    last = -1
    for loop in range(len(lengths)):
        if not keep[loop]:
            continue
        both = last >= 0 and (last < nest.kept) == (loop < nest.kept)
        n = lengths[loop]
        if (
            both
            and all(by[last] == by[loop] * n for by in steps)
            and not any(by[last] or by[loop] for by in numbered)
        ):
            keep[last] = False
            kept -= last < nest.kept
            lengths[loop] = n * lengths[last]
        last = loop

    def fewer(index: Affine) -> Affine:
        around, own = index.coefficients[:outer], index.coefficients[outer:]
        left = [c for c, k in zip(own, keep, strict=True) if k]
        return index._replace(coefficients=(*around, *left))

    def indexed(node: Node) -> Node:
        return node._replace(at=fewer(node.at)) if isinstance(node, _INDEXED) else node

    nodes = [indexed(node) for node in nest.nodes]
    outputs = [output._replace(at=fewer(output.at)) for output in nest.outputs]
    left = tuple([n for n, k in zip(lengths, keep, strict=True) if k])
    return Nest(left, kept, tuple(nodes), tuple(outputs), outer, nest.carries)
