"""Chooses the loop of a nest that is vectorised: the one along which lanes cost least."""

from __future__ import annotations

from gradwire_engine.backends.llvm.functions.library import NAMES
from gradwire_engine.backends.llvm.writer import LANES
from gradwire_engine.kernels.form import (
    EVERYWHERE,
    Add,
    Affine,
    Apply,
    Count,
    Load,
    Nest,
    Node,
    Reduce,
    Store,
    Value,
    Within,
)

#: Costs of a vector, in arithmetic on vectors: one whose elements are not neighbours in memory,
#: a function, and putting the lanes of one together.
_FAR, _FUNCTION, _ACROSS = LANES, 20, 24
#: And one whose elements are so far apart.
_STEPS = {0: 0, 1: 0, -1: 1, 2: 2}


def vectorized(nest: Nest) -> int | None:
    """The loop to vectorise, if there is one long enough.

    Where elements go to places from data, their order is that of the loops: no other of these is
    within that which is vectorised. Passes that carry values on come one after the other.
    """
    loads = [node.at for node in nest.nodes if isinstance(node, Load)]
    stores = [output.at for output in nest.outputs if isinstance(output, Store | Add)]
    depends = _loops_of(nest)

    def from_data(at: Affine) -> set[int]:
        return set().union(*[depends[value] for value in terms_of(at)])

    def cost(loop: int) -> tuple[float, int]:
        n = nest.lengths[loop]
        vectors = -(-n // LANES)
        total = 0.0
        for at in (*loads, *stores):
            step = at.coefficients[nest.outer + loop]
            total += _FAR if loop in from_data(at) else _STEPS.get(step, _FAR)
        inside = [node for node, loops in zip(nest.nodes, depends, strict=True) if loop in loops]
        total += sum(map(_work, inside)) * (vectors * LANES - n) / n  # the last vector is not full
        if loop >= nest.kept:
            total += _ACROSS * sum(map(_is_put_together, nest.outputs)) / vectors
        return total, -loop

    ordered = max([max(from_data(at), default=0) for at in stores], default=0)
    last = nest.kept if nest.carries else len(nest.lengths)
    long = [loop for loop in range(ordered, last) if nest.lengths[loop] >= LANES]
    return min(long, key=cost) if long else None


def _work(node: Node) -> int:
    return _FUNCTION if isinstance(node, Apply) and node.function in NAMES else 1


def _is_put_together(output: object) -> bool:
    return isinstance(output, Reduce) and output.kind not in EVERYWHERE


def _loops_of(nest: Nest) -> list[frozenset[int]]:
    """The loops that each node depends on."""
    found: list[frozenset[int]] = []
    for node in nest.nodes:
        own: set[int] = set()
        args: tuple[Value, ...] = ()
        if isinstance(node, Load | Within | Count):
            steps = node.at.coefficients[nest.outer :]
            own.update([loop for loop, c in enumerate(steps) if c])
            args = terms_of(node.at)
        if isinstance(node, Apply):
            args = node.args
        if isinstance(node, Load) and node.guard is not None:
            args = (*args, node.guard)
        found.append(frozenset(own.union(*[found[a] for a in args])))
    return found


def terms_of(index: Affine) -> tuple[Value, ...]:
    """The values that an index is computed from."""
    return tuple([value for value, _ in index.terms])
