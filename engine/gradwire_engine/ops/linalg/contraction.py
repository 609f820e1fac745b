"""Sums of products of two arrays over labelled axes: what all products of matrices come to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from string import ascii_letters
from typing import TYPE_CHECKING, Any, NamedTuple

from gradwire_engine.errors import ShapeMismatch
from gradwire_engine.ops.arrays.shape import reshape, transpose
from gradwire_engine.ops.base import Op, register
from gradwire_engine.ops.elementwise import conj
from gradwire_engine.tape import ArrayType, Shape, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


class Labels(NamedTuple):
    """The labels of the axes of two operands and of the result, each once in each."""

    left: str
    right: str
    result: str


@register("contract", public=False)
class Contract(Op):
    """Contraction: ``z[result] = sum x[left] y[right]`` over the labels that ``result`` lacks.

    ``subscripts`` are einsum's, as ``"ab,bc->ac"``. Each label is at most once in an operand, and
    those that are summed are in both operands.
    """

    subscripts: str

    @property
    def labels(self) -> Labels:
        """The labels of the operands and of the result."""
        return _labels(self.subscripts)

    @property
    def swapped(self) -> Contract:
        """The same of the operands in the other order."""
        left, right, result = self.labels
        return contract(right, left, result)

    def infer(self, *types: ArrayType) -> ArrayType:
        """The lengths of the result's labels."""
        x, y = types
        lengths = self.lengths(x.shape, y.shape)
        shape = tuple([lengths[label] for label in self.labels.result])
        return ArrayType(x.dtype, shape, x.weak and y.weak)

    def lengths(self, *shapes: Shape) -> Mapping[str, int]:
        """The length of each label."""
        return _lengths(self.subscripts, shapes)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Sum as it is defined; backends know quicker ways."""
        return xp.einsum(self.subscripts, *operands)

    def cotangent(self, number: int, z_bar: Var, z: Var, *operands: Var) -> Var:
        """``x_bar = sum z_bar y*`` and ``y_bar = sum z_bar x*``: the labels change places."""
        *labels, result = self.labels
        other = 1 - number
        return product(z_bar, result, conj(operands[other]), labels[other], labels[number])

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """One label more, the first of the result and of what differs between examples."""
        (x, y), labels = operands, self.labels
        new = next(letter for letter in ascii_letters if letter not in self.subscripts)
        left, right = (
            new * own + letters for letters, own in zip(labels[:2], batched, strict=True)
        )
        return product(x, left, y, right, new + labels.result)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """A product and a sum for each choice of all labels."""
        return 2 * math.prod(self.lengths(*[kind.shape for kind in types]).values())


@lru_cache(maxsize=4096)
def contract(left: Sequence[Any], right: Sequence[Any], result: Sequence[Any]) -> Contract:
    """The contraction of axes with any labels, which get letters as they first occur."""
    letters = dict(zip(dict.fromkeys([*left, *right]), ascii_letters, strict=False))
    return Contract(
        f"{''.join([letters[i] for i in left])},{''.join([letters[i] for i in right])}"
        f"->{''.join([letters[i] for i in result])}"
    )


def product(x: Var, left: str, y: Var, right: str, result: str) -> Var:
    """Record a contraction, as a plain product where there is nothing to add."""
    if {*left, *right} != {*result}:
        return contract(left, right, result)(x, y)
    return _aligned(x, left, result) * _aligned(y, right, result)


def _aligned(x: Var, labels: str, result: str) -> Var:
    """``x`` with its axes in the order of the result's, and of length 1 along the others."""
    turned = transpose(x, tuple([labels.index(label) for label in result if label in labels]))
    lengths = dict(zip(labels, x.shape, strict=True))
    return reshape(turned, tuple([lengths.get(label, 1) for label in result]))


@lru_cache(maxsize=4096)
def _labels(subscripts: str) -> Labels:
    operands, _, result = subscripts.partition("->")
    left, _, right = operands.partition(",")
    return Labels(left, right, result)


@lru_cache(maxsize=4096)
def _lengths(subscripts: str, shapes: Sequence[Shape]) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for labels, shape in zip(_labels(subscripts), shapes, strict=False):
        if len(labels) != len(shape):
            raise ShapeMismatch(f"{subscripts} does not fit the shape {shape}")
        for label, length in zip(labels, shape, strict=True):
            if found.setdefault(label, length) != length:
                raise ShapeMismatch(f"{subscripts} got two lengths for {label}: {shapes}")
    return found
