"""Random numbers by explicit key: keys and what is made of them, uniform numbers.

A draw is a function: equal keys and shapes give equal numbers, and a key is a value like any other,
so that a new one needs no new recording. The bits are those of Philox 4x64-10, a function of a key
of 128 bits and a counter of 256, whose stream NumPy keeps in all versions; numbers are made of them
by elementwise functions, so between machines and versions they differ by rounding at most.
Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.errors import BadArgument, DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.arrays.shape import reshape
from gradwire_engine.ops.arrays.slicing import Pad
from gradwire_engine.ops.axes import lengths
from gradwire_engine.ops.base import Op, register
from gradwire_engine.ops.batching import over_stacks
from gradwire_engine.ops.elementwise import broadcast_shapes
from gradwire_engine.ops.promotion import DTYPES, dtype_of, finfo, inexact_promoted
from gradwire_engine.tape import FLOATING, ArrayType, DType, Shape, Type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwire_engine.ops.builder import Builder, Var

_INT64, _UINT64 = DTYPES["int64"], DTYPES["uint64"]


class Stream(Op):
    """Random words of ``shape`` from a place: two words of key, then the counter's upper two.

    Axes before the last one of the operand are many places, each with words of its own.
    """

    workspace = 1.0
    shape: Shape
    differentiable = False

    def infer(self, *types: ArrayType) -> ArrayType:
        """``shape`` for each place."""
        (place,) = types
        return ArrayType(_UINT64, (*place.shape[:-1], *self.shape))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Draw at each place, from the counter's lower words 0 on."""
        rows = operands[0].astype(_UINT64).reshape(-1, 4)
        words = xp.random_words(rows, math.prod(self.shape))
        return words.reshape((*operands[0].shape[:-1], *self.shape))

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """As many places more."""
        return self(*operands)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """Ten rounds for four words, and the start at each place."""
        assert isinstance(result, ArrayType)
        return 10 * result.size + 1000 * (types[0].size // 4)


@register("random_words", public=False)
class Words(Stream):
    """Words of 64 random bits; they carry no derivative."""

    shape: Shape


@register("random_uniform", public=False)
class Uniform(Stream):
    """Numbers evenly between 0 and 1, neither of which comes: ``z = (w + 1/2) / 2ᵐ``.

    With ``w`` the ``m`` highest bits of a word, as many as ``dtype`` resolves below 1: the centres
    of equal parts, so that ``1 - z`` is as exact as ``z``, and coarser dtypes get the same numbers
    rounded.
    """

    shape: Shape
    dtype: DType
    #: How many bits, if not as many as the dtype resolves.
    bits: int | None = None

    def infer(self, *types: ArrayType) -> ArrayType:
        """Floating numbers."""
        if self.dtype.kind not in FLOATING:
            raise DtypeMismatch(f"a draw gives floating numbers, not {self.dtype.name}")
        return super().infer(*types)._replace(dtype=self.dtype)

    def in_single(self, half: DType) -> Uniform:
        """As coarse as the dtype, so that nothing is rounded to 1."""
        return Uniform(self.shape, DTYPES["float32"], finfo(half).nmant)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Shift, centre and scale."""
        bits = np.finfo(self.dtype).nmant if self.bits is None else self.bits
        z = (super().kernel(xp, *operands) >> (64 - bits)) + 0.5
        z *= 0.5**bits
        return z.astype(self.dtype, copy=False)


@register("random_key", public=False)
class Key(Op):
    """Floating numbers as the integers that they are: JSON's 7 is 7.0."""

    differentiable = False
    batch = over_stacks

    def infer(self, *types: ArrayType) -> ArrayType:
        """Integers."""
        return ArrayType(_INT64, types[0].shape)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Convert, or fail where that changes a number."""
        z = operands[0].astype(_INT64)
        hint = "a draw takes first a key, as 7, then a shape"
        error = BadArgument("a random key must be of whole numbers", hint=hint)
        xp.require((z == operands[0]).all(), error)
        return z

    def flops(self, result: Type, *types: ArrayType) -> int:
        """A conversion and a comparison."""
        return 2 * types[0].size


def place_of(b: Builder, key: Any) -> Var:
    """The place at which ``key`` begins to draw."""
    x = b.array(key)
    if x.dtype.kind in FLOATING:
        x = Key()(x)
    if x.dtype.kind not in "iu":
        raise DtypeMismatch(f"a random key must be of integers, got {x.type}")
    if x.shape not in ((), (2,)):
        hint = "split gives several keys, one a row"
        raise ShapeMismatch(f"a random key is an integer or a pair, got {x.type}", hint=hint)
    x = reshape(b.cast(x, _INT64), (x.type.size,))
    return Pad((0,), (4 - x.type.size,))(x)


def uniforms(b: Builder, key: Any, shape: Shape, dtype: DType) -> Var:
    """Numbers between 0 and 1 for a key."""
    return Uniform(shape, dtype)(place_of(b, key))


def shape_for(shape: Any, parameters: Sequence[Shape], op: str) -> Shape:
    """The shape asked for, or that common to the parameters, which must broadcast to it."""
    common = broadcast_shapes((), *parameters)
    if shape is None:
        return common
    wanted = lengths(shape)
    if broadcast_shapes(common, wanted) != wanted:
        raise ShapeMismatch(f"{op}: parameters of shape {common} do not broadcast to {wanted}")
    return wanted


def real_parameters(b: Builder, op: str, *parameters: Any) -> list[Var]:
    """A distribution's parameters as floating numbers of one dtype."""
    operands = b.promote(*parameters, rule=inexact_promoted)
    for x in operands:
        if x.dtype.kind not in FLOATING:
            raise DtypeMismatch(f"{op} takes real parameters, got {x.type}")
    return operands


def drawn_dtype(dtype: Any, natural: DType) -> DType:
    """The floating dtype asked for, or the ``natural`` one."""
    target = natural if dtype is None else dtype_of(dtype)
    if target.kind not in FLOATING:
        raise DtypeMismatch(f"a draw gives floating numbers, not {target.name}")
    return target
