"""For how many passes of its loops a kernel is called at a time, so that each call is short."""

from __future__ import annotations

from gradwire_engine.backends.llvm.lanes import vectorized
from gradwire_engine.backends.llvm.writer import LANES
from gradwire_engine.kernels.form import For, Kernel, Nest

#: Nodes that are computed in about half a millisecond, after which one looks at the deadline.
STEPS_BETWEEN_POLLS = 1 << 21


def spans_of(kernel: Kernel) -> list[int]:
    """For how many passes of its outermost loops a kernel is called at a time, to be short.

    None if it cannot be called for some. All but the last are as few as can be: so what is done in
    order stays in order.
    """
    nest, *more = kernel.nests
    if isinstance(nest, For) and not more:
        return [max(STEPS_BETWEEN_POLLS // max(nest.pass_steps, 1), 1)]
    spans: list[int] = []
    if not isinstance(nest, Nest) or more:
        return spans
    along, steps = vectorized(nest), nest.steps
    # passes that carry values on are made in one call
    lengths = nest.lengths[: nest.kept] if nest.carries else nest.lengths
    if steps <= STEPS_BETWEEN_POLLS:
        return [*lengths[:1]]
    for level, length in enumerate(lengths):
        least = LANES if level == along else 1
        steps = max(steps // length, 1)
        if steps * least <= STEPS_BETWEEN_POLLS or level == len(lengths) - 1:
            return [*spans, max(STEPS_BETWEEN_POLLS // steps // least, 1) * least]
        spans.append(least)
        steps *= min(least, length)
    return spans
