"""Zeros where the service finds no derivative but TensorFlow does: behind a rectifier's gradient.

There the gradient of ``relu`` counts as a function of the rectifier's argument, with zero for its
derivative, so that second derivatives of networks of rectifiers are zeros rather than ``None``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gradwire.tf.nodes import TensorNode
from gradwire.tracing.terms import Term, dependencies

#: How the text of a rectifier begins.
RECTIFIERS: tuple[str, ...] = (
    "tf.nn.relu(",
    "tf.nn.relu6(",
    "tf.nn.crelu(",
    "tf.nn.leaky_relu(",
)


def are_between(targets: Sequence[TensorNode], source: TensorNode) -> bool:
    """Whether targets are computed by gradients across rectifiers of what a source leads to."""
    order = dependencies(targets, lambda term: False)
    gradients = [term for term in order if term.parts and term.parts[0].startswith("vjp(")]
    rectifiers = {term for term in order if term.parts and term.parts[0].startswith(RECTIFIERS)}
    if not gradients or not rectifiers:
        return False
    rectified = rectifiers & _led_to(order, [source])
    for gradient in gradients if rectified else ():
        ends, starts = _operands(gradient)
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


def _operands(gradient: Term) -> tuple[list[Term], list[Term]]:
    """The targets and the sources of ``vjp([…], […], […])``."""
    groups: list[list[Term]] = [[]]
    for operand, after in zip(gradient.operands, gradient.parts[1:], strict=True):
        groups[-1].append(operand)
        if "]" in after:
            groups.append([])
    return groups[0], groups[1]
