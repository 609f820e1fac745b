"""Determinants of matrices in the last two axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.arrays.shape import swap_last, unsqueeze
from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.constants import Item
from gradwire_engine.ops.elementwise import broadcast_shapes, conj
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.linalg.solving import Inv, OfSquare, adjoint
from gradwire_engine.ops.pointwise.complex import Imag
from gradwire_engine.ops.promotion import real_of
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.tape import ArrayType, TupleType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


def _for_matrices(x: Var) -> Var:
    """``x`` with two new axes, to scale a matrix each."""
    return unsqueeze(x, (x.ndim, x.ndim + 1))


@register("det", "linalg.det")
class Det(OfSquare):
    """Determinant of each matrix.

    Convention: the derivative is the matrix of cofactors, right also where the matrix is singular,
    and so are second and third derivatives; the fourth raises there.  Source: Giles, Collected
    Matrix Derivative Results (2008), 2.2.4.
    """

    def infer(self, *types: ArrayType) -> Type:
        """One number for each matrix."""
        super().infer(*types)
        (a,) = types
        return ArrayType(a.dtype, a.shape[:-2], a.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """LU factorisation."""
        return xp.linalg.det(operands[0])

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``a_bar = z_bar c*`` with the cofactors ``c``."""
        return (_for_matrices(z_bar) * conj(Cofactors()(operands[0])),)


@register("cofactors", public=False)
class Cofactors(OfSquare):
    """Cofactors of each matrix: ``c = det(a) a^-T``, and by continuity where that fails."""

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """LU factorisation; where a matrix is singular, ``c(a) = c(u) c(s) c(v)`` of its SVD.

        Inverse and determinant come from one factorisation, so the errors they make near a
        singular matrix cancel.
        """
        (a,) = operands
        try:
            inverse = xp.linalg.inv(a)
        except xp.linalg.LinAlgError:
            u, s, v = xp.linalg.svd(a)
            signs = xp.linalg.det(u) * xp.linalg.det(v)
            others = xp.ones_like(s)
            others[..., 1:] = xp.cumprod(s[..., :-1], axis=-1)
            others[..., :-1] *= xp.cumprod(s[..., :0:-1], axis=-1)[..., ::-1]
            return signs[..., None, None] * xp.conj((u * others[..., None, :]) @ v)
        determinant = xp.asarray(xp.linalg.det(a))[..., None, None]
        return determinant * xp.swapaxes(inverse, -1, -2)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``a_bar = (d c [c_bar*])*``: second derivatives of a function are symmetric."""
        return (conj(CofactorsAlong()(*operands, conj(z_bar))),)


@register("cofactors_along", public=False)
class CofactorsAlong(OfSquare):
    """Derivative of the cofactors of ``a`` along one matrix or two, also where ``a`` is singular.

    It is computed of the singular values: all products of these but for two or three.  Its own
    derivative in ``a`` along two matrices raises where ``a`` is singular.
    """

    workspace = 12.0

    def infer(self, *types: ArrayType) -> Type:
        """As the cofactors; stacks are broadcast."""
        a, *along = types
        super().infer(a)
        return a._replace(shape=broadcast_shapes(a.shape, *[y.shape for y in along]))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Of ``u s v``: the determinants of ``u v`` times ``u* z(s, u^H y v^H) v*``."""
        a, *along = operands
        u, s, v = xp.linalg.svd(a)
        signs = xp.linalg.det(u) * xp.linalg.det(v)
        u_h, v_h = (xp.conj(xp.swapaxes(q, -1, -2)) for q in (u, v))
        rule = _along_one if len(along) == 1 else _along_two
        inner = rule(xp, s, *[u_h @ y @ v_h for y in along])
        return signs[..., None, None] * (xp.conj(u) @ inner @ xp.conj(v))

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``a_bar`` along ``z_bar``, too; ``y_bar`` along it instead of ``y``."""
        a, *along = operands
        bar = conj(z_bar)
        if len(along) == 1:
            a_bar = CofactorsAlong()(a, *along, bar)
        else:
            a_bar = _for_matrices(Det()(a)) * _gradient(swap_last(OfRegular()(a)), [*along, bar])
        instead = [CofactorsAlong()(a, *along[:i], bar, *along[i + 1 :]) for i in range(len(along))]
        return [conj(x) for x in (a_bar, *instead)]

    def flops(self, result: Type, *types: ArrayType) -> int:
        """A singular value decomposition, and n³ products."""
        return 30 * result.size * types[0].shape[-1]  # type: ignore[union-attr]


@register("fourth_derivative_of_det", public=False)
class OfRegular(Inv):
    """Inverse from which fourth derivatives of determinants are made: it names what it refuses."""


def _products(xp: Any, s: Any) -> Any:
    """Of all values of each row but numbers ``i`` and ``j``, 0 for ``i = j``."""
    n, one = s.shape[-1], xp.ones_like(s[..., :1])
    ahead, behind = (
        xp.cumprod(xp.concatenate([one, x[..., :-1]], axis=-1), axis=-1) for x in (s, s[..., ::-1])
    )
    later = xp.triu(xp.ones((n, n), bool), 1)
    between = xp.cumprod(xp.where(later, s[..., None, :], 1), axis=-1)[..., :-1]
    between = xp.concatenate([xp.ones_like(s)[..., None], between], axis=-1)
    others = later * ahead[..., :, None] * between * behind[..., None, ::-1]
    return others + xp.swapaxes(others, -1, -2)


def _along_one(xp: Any, s: Any, y: Any) -> Any:
    """Of diagonal matrices: minors of two rows, of ``y`` and of the cofactor's place."""
    others, n = _products(xp, s), s.shape[-1]
    diagonal = others @ xp.diagonal(y, axis1=-2, axis2=-1)[..., None]
    return diagonal * xp.eye(n, dtype=s.dtype) - others * xp.swapaxes(y, -1, -2)


def _along_two(xp: Any, s: Any, x: Any, y: Any) -> Any:
    """Of diagonal matrices: minors of three rows, one of them ``k``."""
    n = s.shape[-1]
    of_x, of_y = (xp.diagonal(m, axis1=-2, axis2=-1) for m in (x, y))
    x_t, y_t = (xp.swapaxes(m, -1, -2) for m in (x, y))
    pairs = of_x[..., :, None] * of_y[..., None, :] - x * y_t
    total = xp.zeros(pairs.shape, pairs.dtype)
    for k in range(n):
        rest = xp.arange(n) != k
        others = _products(xp, xp.where(rest, s, 1)) * rest * rest[:, None]
        single = of_y[..., k, None, None] * x_t + of_x[..., k, None, None] * y_t
        cycles = y[..., k, :, None] * x[..., None, :, k] + x[..., k, :, None] * y[..., None, :, k]
        own = xp.sum(others * pairs, axis=(-2, -1))[..., None, None] * ~(rest | rest[:, None])
        total = total + others * (cycles - single) + own
    return total


def _gradient(w: Var, along: Sequence[Var]) -> Var:
    """Derivative of the cofactors along matrices, over the determinant, with ``w = a^-T``."""
    if not along:
        return w
    *fewer, last = along
    total = w * _for_matrices(Sum((w.ndim - 2, w.ndim - 1))(_gradient(w, fewer) * last))
    for i, y in enumerate(along):
        rest = _gradient(w, [*along[:i], *along[i + 1 :]])
        total = total - MatMul()(MatMul()(w, swap_last(y)), rest)
    return total


@register("slogdet", "linalg.slogdet")
class SLogDet(OfSquare):
    """Sign and logarithm of the absolute value of each determinant, a pair: ``det = s exp l``.

    The logarithm is -inf where a matrix is singular; its derivative raises there.  The sign of a
    real determinant has derivative 0, that of a complex one is a direction.
    """

    def infer(self, *types: ArrayType) -> Type:
        """A pair of numbers for each matrix, the second real."""
        super().infer(*types)
        (a,) = types
        kinds = (a.dtype, real_of(a.dtype))
        return TupleType(tuple([ArrayType(kind, a.shape[:-2], a.weak) for kind in kinds]))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """LU factorisation."""
        return tuple(xp.linalg.slogdet(operands[0]))

    def vjp(self, z_bar: Any, z: Var, *operands: Var) -> Cotangents:
        """``a_bar = (l_bar + i Im(s* s_bar)) a^-H``."""
        (a,) = operands
        b = a.builder
        s_bar, l_bar = z_bar
        scale = None if l_bar is None else b.cast(l_bar, a.dtype)
        if s_bar is not None and a.dtype.kind == "c":
            turn = b.cast(Imag()(conj(Item(0)(z)) * s_bar), a.dtype) * 1j
            scale = turn if scale is None else scale + turn
        if scale is None:
            return (None,)
        return (adjoint(Inv()(a)) * _for_matrices(scale),)


@register("log_absolute_determinant", public=False)
class LogAbsDet(OfSquare):
    """Logarithm of the absolute value of each determinant: ``slogdet`` without the sign."""

    def infer(self, *types: ArrayType) -> Type:
        """One number for each matrix."""
        super().infer(*types)
        (a,) = types
        return ArrayType(real_of(a.dtype), a.shape[:-2], a.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """LU factorisation."""
        return xp.linalg.slogdet(operands[0])[1]

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``a_bar = z_bar a^-H``."""
        (a,) = operands
        return (adjoint(Inv()(a)) * _for_matrices(a.builder.cast(z_bar, a.dtype)),)
