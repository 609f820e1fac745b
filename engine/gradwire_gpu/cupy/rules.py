"""The rewrites of tapes for a GPU: those for kernels, less what only NumPy computes sooner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradwire_engine.backends.llvm.rules import RULES as FOR_KERNELS
from gradwire_engine.backends.walk import operations as of_numpy
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.optimize.expressions import Expression, Rule, Settled, ValueTable

from gradwire_gpu.cupy.half_products import of_halves


def _for_gpu(rule: Rule) -> Rule:
    """The rule where it records no operation that looks at values, or plans rows, for NumPy."""

    def rewrite(op: Op, args: Sequence[int], values: ValueTable) -> Expression | Settled | None:
        found = rule(op, args, values)
        value = found.value if isinstance(found, Settled) else found
        return None if _is_numpys(value) else found

    return rewrite


def _is_numpys(expression: Expression | None) -> bool:
    if not isinstance(expression, tuple):
        return False
    op, operands = expression
    return type(op).__module__ == of_numpy.__name__ or any(map(_is_numpys, operands))


def _contracted(op: Op, args: Sequence[int], values: ValueTable) -> Expression | Settled | None:
    """As for kernels; else, of halves, as such."""
    found = _FOR_KERNELS[Contract](op, args, values) if Contract in _FOR_KERNELS else None
    return of_halves(op, args, values) if found is None else found


_FOR_KERNELS: Mapping[type[Op], Rule] = {op: _for_gpu(rule) for op, rule in FOR_KERNELS.items()}
RULES: Mapping[type[Op], Rule] = {**_FOR_KERNELS, Contract: _contracted}
