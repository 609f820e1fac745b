"""Reductions: elements along axes become one, their sum, product, extremum, or an answer to all."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.shape import Reshape, reshape, transpose
from gradwire_engine.ops.axes import axes_of, axis_of, flag, with_ones, without
from gradwire_engine.ops.base import FUNCTIONS, Cotangents, Op, Static, macro, register
from gradwire_engine.ops.batching import along_axes
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.elementwise import BOOL, conj
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.tape import ArrayType, DType, Shape, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


class Reduction(Op):
    """Elements along ``axes`` become one; the axes go, and ``keepdims`` puts them back as 1."""

    axes: tuple[int, ...]
    #: Whether there is a result for no elements.
    has_identity: ClassVar[bool] = True
    #: The value of an element that does not count; without one, ``initial`` is.
    neutral: ClassVar[bool | int | None] = None
    #: The operation that brings in ``initial``, and is repeated, if it is a ufunc.
    pairwise: ClassVar[str] = ""
    batch = along_axes

    @classmethod
    def along(cls, x: Var, axis: Any, keepdims: Any) -> Var:
        """Record over ``axis`` as a program names it."""
        return cls.over(x, axes_of(axis, x.ndim, cls.name), keepdims=flag(keepdims, "keepdims"))

    @classmethod
    def among(cls, x: Var, axis: Any, keepdims: Any, initial: Any, where: Any) -> Var:
        """Record over ``axis`` for ``initial`` and the elements that ``where`` marks."""
        b = x.builder
        if where is not None:
            filler = initial if cls.neutral is None else cls.neutral
            if filler is None:
                raise BadArgument(f"{cls.name} where some elements count needs initial")
            x = FUNCTIONS["where"].record(b, where, x, filler)
        z = cls.along(x, axis, keepdims)
        return z if initial is None else FUNCTIONS[cls.pairwise].record(b, z, initial)

    @classmethod
    def over(cls, x: Var, axes: tuple[int, ...], *, keepdims: bool = False) -> Var:
        """Record over ``axes`` (counted from the first, each once)."""
        op = cls(tuple(sorted(axes)))
        if not axes and op.result_dtype(x.dtype) == x.dtype:
            return x
        z = op(x)
        return reshape(z, with_ones(x.shape, axes)) if keepdims else z

    def infer(self, *types: ArrayType) -> ArrayType:
        """The shape less ``axes``."""
        (x,) = types
        if not self.has_identity and any(x.shape[axis] == 0 for axis in self.axes):
            raise ShapeMismatch(f"{self.name} of no elements does not exist, got shape {x.shape}")
        return ArrayType(self.result_dtype(x.dtype), without(x.shape, self.axes), x.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Reduce."""
        return getattr(xp, self.ufunc)(operands[0], axis=self.axes)

    def result_dtype(self, dtype: DType) -> DType:
        """The operand's dtype."""
        return dtype

    def flops(self, result: Type, *types: ArrayType) -> int:
        """One operation per element."""
        return types[0].size


class Accumulation(Reduction):
    """A reduction that NumPy computes in 64 bits for booleans and integers."""

    @classmethod
    def record(
        cls,
        b: Builder,
        a: Any,
        axis: Static = None,
        dtype: Static = None,
        keepdims: Static = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        """Record on one array; a dtype that is named is that of elements and result."""
        if dtype is None:
            return cls.among(b.array(a), axis, keepdims, initial, where)
        x = AsType.record(b, a, dtype)
        return b.cast(cls.among(x, axis, keepdims, initial, where), x.dtype)

    def result_dtype(self, dtype: DType) -> DType:
        """At least 64 bits for integers."""
        return widened(dtype)


def widened(dtype: DType) -> DType:
    """The dtype in which NumPy adds and multiplies many: booleans and small integers in 64 bits."""
    if dtype.kind in "bi":
        return DTYPES["int64"]
    return DTYPES["uint64"] if dtype.kind == "u" else dtype


def spread(z: Var, axes: tuple[int, ...], shape: Shape) -> Var:
    """The result of a reduction over ``axes``, reshaped to broadcast to the operand's ``shape``."""
    if axes == tuple(range(len(axes))):
        return z
    return reshape(z, with_ones(shape, axes))


@register("sum", "reduce_sum")
class Sum(Accumulation):
    """Sum over ``axis`` (all axes by default): ``z = sum x``; integers add up in 64 bits.

    Only elements that ``where`` marks count, and ``initial``, as in all such reductions.
    """

    axes: tuple[int, ...]
    ufunc = "sum"
    neutral = 0
    pairwise = "add"
    linear = True

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar``, broadcast."""
        shape = operands[0].shape
        return (z_bar.builder.broadcast(spread(z_bar, self.axes, shape), shape),)


@register("prod", "product", "reduce_prod")
class Prod(Accumulation):
    """Product over ``axis``: ``z = prod x``; integers multiply in 64 bits.

    Convention: the derivative is the product of the other elements, right to all orders where some
    are zero.
    """

    axes: tuple[int, ...]
    ufunc = "prod"
    neutral = 1
    pairwise = "multiply"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar_i = z_bar (prod_{j<i} x_j  prod_{j>i} x_j)*``, without a division."""
        from gradwire_engine.ops.arrays.rearranging import Flip
        from gradwire_engine.ops.sequences.cumulative import CumProd, shifted

        (x,) = operands
        shape = x.shape
        kept = tuple([axis for axis in range(x.ndim) if axis not in self.axes])
        order = kept + self.axes
        count = math.prod([shape[axis] for axis in self.axes])
        rows = reshape(transpose(x, order), (*z.shape, count))
        last, flip = (rows.ndim - 1,), Flip((rows.ndim - 1,))
        before = shifted(CumProd(last[0])(rows), last[0], 1)
        after = flip(shifted(CumProd(last[0])(flip(rows)), last[0], 1))
        others = reshape(conj(before * after), tuple([shape[axis] for axis in order]))
        others = transpose(others, tuple([order.index(axis) for axis in range(x.ndim)]))
        return (others * spread(z_bar, self.axes, shape),)


class Extreme(Reduction):
    """The element that compares as the outermost; NaN if there is one."""

    rounds = False
    workspace = 1.0
    has_identity = False

    @classmethod
    def record(
        cls,
        b: Builder,
        a: Any,
        axis: Static = None,
        keepdims: Static = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        """Record on one array."""
        return cls.among(b.array(a), axis, keepdims, initial, where)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Reduce."""
        return xp.extreme(getattr(xp, self.pairwise), operands[0], self.axes)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar / n`` at the ``n`` elements equal to ``z``, else 0."""
        (x,) = operands
        return (shared_evenly(z_bar, spread(z, self.axes, x.shape), x, self.axes),)


def shared_evenly(z_bar: Var, z: Var, x: Var, axes: tuple[int, ...]) -> Var:
    """``z_bar`` divided along ``axes`` among the elements of ``x`` that are equal to ``z``."""
    from gradwire_engine.ops.pointwise.comparison import Equal

    equal = x.builder.cast(Equal()(x, z), x.dtype)
    share = z_bar / Sum(axes)(equal)
    return equal * spread(share, axes, x.shape)


@register("max", "amax", "reduce_max")
class Max(Extreme):
    """Largest element over ``axis``; NaN if there is one.

    Convention: elements that are equal to the largest share the derivative evenly.
    """

    axes: tuple[int, ...]
    ufunc = "max"
    pairwise = "maximum"


@register("min", "amin", "reduce_min")
class Min(Extreme):
    """Smallest element over ``axis``; NaN if there is one.

    Convention: elements that are equal to the smallest share the derivative evenly.
    """

    axes: tuple[int, ...]
    ufunc = "min"
    pairwise = "minimum"


class Quantifier(Reduction):
    """A question about all elements; its answers carry no derivative."""

    differentiable = False

    @classmethod
    def record(
        cls, b: Builder, a: Any, axis: Static = None, keepdims: Static = False, where: Any = None
    ) -> Any:
        """Record on one array."""
        return cls.among(b.array(a), axis, keepdims, None, where)

    def result_dtype(self, dtype: DType) -> DType:
        """Booleans."""
        return BOOL


@register("any", "reduce_any")
class AnyOf(Quantifier):
    """True if some element over ``axis`` is nonzero."""

    axes: tuple[int, ...]
    ufunc = "any"
    neutral = False
    pairwise = "logical_or"


@register("all", "reduce_all")
class AllOf(Quantifier):
    """True if every element over ``axis`` is nonzero."""

    axes: tuple[int, ...]
    ufunc = "all"
    neutral = True
    pairwise = "logical_and"


@macro("count_nonzero", differentiable=False)
def count_nonzero(b: Builder, a: Any, axis: Static = None, keepdims: Static = False) -> Any:
    """The number of nonzero elements over ``axis``."""
    from gradwire_engine.ops.pointwise.comparison import NotEqual

    x = b.array(a)
    return Sum.record(b, NotEqual()(x, x.constant(0)), axis, keepdims=keepdims)


class Place(Op):
    """Index of an extreme element along ``axis``, the first of equals; no derivative."""

    workspace = 1.0
    axis: int
    differentiable = False
    batch = along_axes

    @classmethod
    def record(cls, b: Builder, a: Any, axis: Static = None, keepdims: Static = False) -> Any:
        """Record along one axis, or over all elements in row-major order."""
        x = b.array(a)
        rows = Reshape.record(b, x, x.type.size) if axis is None else x
        place = 0 if axis is None else axis_of(axis, x.ndim, cls.name)
        z = cls(place)(rows)
        axes = axes_of(axis, x.ndim, cls.name)
        return reshape(z, with_ones(x.shape, axes)) if flag(keepdims, "keepdims") else z

    def infer(self, *types: ArrayType) -> ArrayType:
        """An integer for each row."""
        (x,) = types
        if x.shape[self.axis] == 0:
            raise ShapeMismatch(f"{self.name} of no elements does not exist, got shape {x.shape}")
        return ArrayType(DTYPES["int64"], without(x.shape, (self.axis,)))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Search."""
        return getattr(xp, self.ufunc)(operands[0], axis=self.axis)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """One comparison per element."""
        return types[0].size


@register("argmax")
class ArgMax(Place):
    """Index of the largest element along ``axis`` (of all by default), the first of equals."""

    axis: int
    ufunc = "argmax"


@register("argmin")
class ArgMin(Place):
    """Index of the smallest element along ``axis`` (of all by default), the first of equals."""

    axis: int
    ufunc = "argmin"
