"""The rewrites of tapes for a GPU: those for kernels, and products of halves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradwire_engine.backends.llvm.rules import RULES as FOR_KERNELS
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.optimize.expressions import Expression, Rule, Settled, ValueTable

from gradwire_gpu.cupy.half_products import of_halves


def _contracted(op: Op, args: Sequence[int], values: ValueTable) -> Expression | Settled | None:
    """As for kernels; else, of halves, as such."""
    found = FOR_KERNELS[Contract](op, args, values)
    return of_halves(op, args, values) if found is None else found


RULES: Mapping[type[Op], Rule] = {**FOR_KERNELS, Contract: _contracted}
