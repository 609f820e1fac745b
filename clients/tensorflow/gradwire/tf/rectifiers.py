"""Zeros where the service finds no derivative but TensorFlow does: behind a rectifier's gradient.

There the gradient of ``relu`` counts as a function of the rectifier's argument, with zero for its
derivative, so that second derivatives of networks of rectifiers are zeros rather than ``None``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gradwire.tf.nodes import TensorNode
from gradwire.tracing.terms import Term, dependencies

RECTIFIERS: frozenset[str] = frozenset(
    {"tf.nn.relu", "tf.nn.relu6", "tf.nn.crelu", "tf.nn.leaky_relu"}
)


def are_between(targets: Sequence[TensorNode], source: TensorNode) -> bool:
    """Whether targets are computed by gradients across rectifiers of what a source leads to."""
    order = dependencies(targets, lambda term: False)
    gradients = [term for term in order if term.op == "vjp"]
    rectifiers = {term for term in order if term.op in RECTIFIERS}
    if not gradients or not rectifiers:
        return False
    rectified = rectifiers & _led_to(order, [source])
    for gradient in gradients if rectified else ():
        ends, starts, _ = gradient.args
        within = set(dependencies(ends, lambda term: False))
        if rectified & within & _led_to(order, starts):
            return True
    return False


def _led_to(order: Iterable[Term], starts: Iterable[Term]) -> set[Term]:
    """What some terms lead to, themselves included."""
    found = set(starts)
    for term in order:
        if any(operand in found for operand in term.operands):
            found.add(term)
    return found
