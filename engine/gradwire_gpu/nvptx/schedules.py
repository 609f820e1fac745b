"""The division of a nest among the threads of a GPU.

The *points* of a nest are the passes of its outermost loops that are made side by side. Each is
computed by a *group* of threads, which share the passes of the further loops. Where few points have
many passes, these are *split* among blocks, whose results another nest puts together.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from gradwire_engine.kernels.form import EVERYWHERE, Add, Load, Nest, Reduce, Store

#: Threads of a block: of many, of one that computes alone, and of blocks that share problems.
THREADS, THREADS_ALONE, THREADS_OF_PROBLEMS = 256, 512, 64
#: Threads that run together, and exchange values without memory.
WARP = 32
#: Blocks from which on a GPU is busy, and passes of a thread from which on it pays to split more.
_BUSY_BLOCKS, _FEW_PASSES = 1024, 8
#: Passes that one thread makes as soon as several, and points that are enough threads.
_SHORT, _MANY_POINTS = 8, 1 << 17
#: Points from which on groups that are no larger than a warp are enough.
_SOME_POINTS = 2048
#: Passes that a thread begins together, of nests with few nodes and so many passes that memory
#: bounds them.
_AT_ONCE, _FEW_NODES, _MEMORY_BOUND = 4, 64, 1 << 21


class Schedule(NamedTuple):
    """The first ``parallel`` loops are side by side, groups of ``group`` threads share the others.

    Threads of a group are neighbours; or if they are ``strided``, neighbours have one place in
    groups of neighbouring points. ``splits`` blocks share a point's passes.
    """

    parallel: int
    group: int = 1
    strided: bool = False
    splits: int = 1

    def points(self, nest: Nest) -> int:
        """The number of points."""
        return math.prod(nest.lengths[: self.parallel])

    def passes(self, nest: Nest) -> int:
        """The passes of each point."""
        return math.prod(nest.lengths[self.parallel :])

    def blocks(self, nest: Nest, threads: int = THREADS) -> int:
        """Blocks for all points, each split."""
        return -(-self.points(nest) * self.group // threads) * self.splits


def scheduled(nest: Nest, threads: int = THREADS, *, alone: bool = False) -> Schedule:
    """The schedule of a nest in blocks of ``threads``; in one block ``alone``, if need be."""
    if is_ordered(nest):
        return Schedule(0)
    if nest.carries:
        return Schedule(nest.kept)
    if not any(isinstance(r, Reduce) and r.kind not in EVERYWHERE for r in nest.outputs):
        return Schedule(len(nest.lengths))
    plain = Schedule(nest.kept)
    points, passes = plain.points(nest), plain.passes(nest)
    if passes <= _SHORT or points >= _MANY_POINTS:
        return plain
    if _is_strided(nest):
        across = min(_power(nest.lengths[nest.kept - 1]), WARP)
        made = Schedule(nest.kept, threads // across, strided=True)
    else:
        most = WARP if points >= _SOME_POINTS else threads
        made = Schedule(nest.kept, min(_power(passes), most))
    if alone:
        return made
    wanted = _BUSY_BLOCKS // made.blocks(nest, threads)
    return made._replace(splits=max(min(wanted, passes // made.group // _FEW_PASSES), 1))


def at_once(nest: Nest, passes: int) -> int:
    """The number of passes begun before a thread finishes the first: memory is far away."""
    short = len(nest.nodes) <= _FEW_NODES
    return _AT_ONCE if short and passes >= _MEMORY_BOUND else 1


def is_ordered(nest: Nest) -> bool:
    """True if passes must come one after the other.

    Several may store at one place, or one reads at another place what is stored.
    """
    read = [node for node in nest.nodes if isinstance(node, Load)]
    for output in nest.outputs:
        if isinstance(output, Store) and (output.at.terms or not _is_injective(nest, output)):
            return True
        if any(load.buffer == output.buffer and load.at != output.at for load in read):
            return True
    return False


def adds_alone(nest: Nest, output: Add) -> bool:
    """True if no two passes add at one place."""
    return not output.at.terms and _is_injective(nest, output)


def _is_injective(nest: Nest, output: Store | Add) -> bool:
    """True if each pass has a place of its own."""
    steps = output.at.coefficients[nest.outer :]
    reached = 0
    for step, length in sorted([(abs(c), n) for c, n in zip(steps, nest.lengths, strict=True)]):
        if length == 1:
            continue
        if step <= reached:
            return False
        reached += step * (length - 1)
    return True


def _is_strided(nest: Nest) -> bool:
    """True if neighbours in memory are neighbouring points rather than neighbouring passes."""
    if not nest.kept:
        return False
    steps = [n.at.coefficients[nest.outer :] for n in nest.nodes if isinstance(n, Load)]
    points = sum([by[nest.kept - 1] == 1 for by in steps])
    passes = sum([by[-1] == 1 for by in steps])
    return points > passes


def _power(n: int) -> int:
    """The least power of 2 that is not less."""
    return 1 << (n - 1).bit_length()
