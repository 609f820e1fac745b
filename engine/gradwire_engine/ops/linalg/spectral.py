"""Spectra of square matrices: eigenvalues and eigenvectors, Hermitian and general."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from gradwire_engine.errors import BadArgument, InternalError
from gradwire_engine.ops.arrays.diagonals import MatrixDiagonal, Tril, embedded
from gradwire_engine.ops.arrays.shape import unsqueeze
from gradwire_engine.ops.base import Cotangents, Op, Static, macro, register
from gradwire_engine.ops.batching import over_stacks
from gradwire_engine.ops.builder import describe
from gradwire_engine.ops.constants import Item
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.elementwise import conj
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.linalg.solving import OfSquare, Solve, adjoint
from gradwire_engine.ops.pointwise.complex import Real, complex_of
from gradwire_engine.ops.promotion import real_of
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.tape import ArrayType, TupleType, Type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradwire_engine.ops.builder import Builder, Var


@register("pair_reciprocals", public=False)
class PairReciprocals(Op):
    """Reciprocals of the differences or sums of all pairs: ``z[i, j] = 1 / (w_j ± w_i)``.

    Convention: 0, and so all its derivatives, where the two agree up to rounding: within
    ``n eps max |w|``.
    """

    sign: int
    batch = over_stacks

    def infer(self, *types: ArrayType) -> ArrayType:
        """One axis becomes two."""
        (w,) = types
        return ArrayType(w.dtype, (*w.shape, w.shape[-1]), w.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Divide where that means something."""
        (w,) = operands
        pairs = w[..., None, :] + self.sign * w[..., :, None]
        largest = xp.max(xp.abs(w), axis=-1, initial=0.0)[..., None, None]
        apart = xp.abs(pairs) > w.shape[-1] * xp.finfo(w.dtype).eps * largest
        return xp.where(apart, 1 / xp.where(apart, pairs, 1), 0)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``w_bar`` sums ``p = -(z*)² z_bar`` over first indices, and ``±p`` over second ones."""
        factor = conj(z)
        pairs = -(factor * factor * z_bar)
        first, second = Sum((z.ndim - 2,))(pairs), Sum((z.ndim - 1,))(pairs)
        return (first + second if self.sign > 0 else first - second,)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """A sum and a division for each pair."""
        return 2 * types[0].size * types[0].shape[-1]


def gaps(w: Var, sign: int) -> Var:
    """``w_j ± w_i`` for all pairs; ``w_j`` in one row for the sign 0."""
    row = unsqueeze(w, (w.ndim - 1,))
    return row + unsqueeze(w, (w.ndim,)) * sign if sign else row


#: Quotients of ``h`` and ``gaps(w, sign)``; ``h`` is as precise as the largest of other arrays.
Quotient: TypeAlias = "Callable[[Var, Var, int, Sequence[Var]], Var]"


def pair_quotient(h: Var, w: Var, sign: int, like: Sequence[Var] = ()) -> Var:
    """``h_ij / (w_j ± w_i)``, or ``h_ij / w_j`` for the sign 0; 0 where ``PairReciprocals`` is."""
    reciprocals = PairReciprocals(sign or 1)(w)
    if not sign:
        reciprocals = unsqueeze(MatrixDiagonal(0)(reciprocals) * 2, (w.ndim - 1,))
    return h * h.builder.cast(reciprocals, h.dtype)


class OfVectors(Op):
    """A factorisation whose vectors' derivatives divide by differences or sums of its values."""

    def vjp(self, z_bar: Any, z: Var, *operands: Var) -> Cotangents:
        """As ``by_quotients``, with 0 for the quotients by what is 0 up to rounding."""
        return self.by_quotients(z_bar, z, operands[0], pair_quotient)

    def by_quotients(self, z_bar: Any, z: Var, a: Var, quotient: Quotient) -> Cotangents:
        """The operand's cotangent, ``quotient`` dividing all pairs as ``pair_quotient`` does."""
        raise InternalError(f"{self.name} has no derivative")


def where_it_converges(
    xp: Any,
    function: Callable[[Any], Any],
    a: Any,
    read: Callable[[Any], Any] = lambda a: a,
) -> tuple[Any, ...]:
    """The parts that ``function`` gives; NaN for each matrix of a stack where it fails.

    So where what it ``read`` is not finite: LAPACK may give numbers there.
    """
    try:
        if xp.isfinite(read(a)).all():
            return tuple(function(a))
    except xp.linalg.LinAlgError:
        pass
    if a.ndim > 2:
        each = [where_it_converges(xp, function, matrix, read) for matrix in a]
        return tuple([xp.stack(part) for part in zip(*each, strict=True)])
    return tuple([xp.full_like(part, xp.nan) for part in function(xp.zeros_like(a))])


def from_lower_triangle(bar: Var) -> Var:
    """The cotangent of a matrix whose lower triangle alone is read, from that of the Hermitian."""
    both = bar + adjoint(bar)
    return (Tril()(both) + Tril(-1)(both)) * 0.5


class OfHermitian(OfSquare):
    """An operation on Hermitian matrices, of which the lower triangle is read."""

    @classmethod
    def operand(cls, b: Builder, a: Any, uplo: Any) -> Var:
        """The matrices with the triangle ``uplo`` below."""
        if uplo not in ("L", "U"):
            raise BadArgument(f"{cls.name} reads the triangle 'L' or 'U', got {describe(uplo)}")
        x = floating(b, a)
        cls.square(x.type)
        return x if uplo == "L" else adjoint(x)

    @classmethod
    def square(cls, kind: ArrayType) -> None:
        """Refuse what is no square matrix that LAPACK takes."""
        OfSquare.infer(cls(), kind)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """Tridiagonal form, its spectrum, and back."""
        return 9 * types[0].size * types[0].shape[-1]


@register("eigh", "linalg.eigh")
class Eigh(OfVectors, OfHermitian):
    """Ascending eigenvalues and eigenvectors, a pair, of Hermitian matrices: ``a = v w v^H``.

    The triangle ``UPLO`` is read, and takes the whole derivative.  Convention: what is a function
    of the matrix has its derivative also where eigenvalues are equal; else eigenvectors of equal
    ones have derivative 0 within their space, with a warning.  Their phases (signs) are arbitrary,
    so only what does not depend on them has a meaningful derivative.  Source: Giles, Collected
    Matrix Derivative Results (2008), 2.3 and 3.1.
    """

    #: True if LAPACK reads the upper triangle, which decides the signs of its eigenvectors.
    upper: bool = False

    @classmethod
    def record(cls, b: Builder, a: Any, UPLO: Static = "L") -> Any:
        """Record the pair and its two items."""
        pair = cls(UPLO == "U")(cls.operand(b, a, UPLO))
        return [Item(0)(pair), Item(1)(pair)]

    def infer(self, *types: ArrayType) -> Type:
        """Real eigenvalues, and eigenvectors as columns."""
        super().infer(*types)
        (a,) = types
        return TupleType((ArrayType(real_of(a.dtype), a.shape[:-1], a.weak), a))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Divide and conquer."""
        if not self.upper:
            return where_it_converges(xp, xp.linalg.eigh, operands[0], xp.tril)
        above = xp.conj(xp.swapaxes(operands[0], -1, -2))
        return where_it_converges(xp, lambda a: xp.linalg.eigh(a, UPLO="U"), above, xp.triu)

    def by_quotients(self, z_bar: Any, z: Var, a: Var, quotient: Quotient) -> Cotangents:
        """From ``v (diag(w_bar) + (g - g^H) / (2 (w_j - w_i))) v^H`` with ``g = v^H v_bar``."""
        w_bar, v_bar = z_bar
        w, v = Item(0)(z), Item(1)(z)
        b = v.builder
        inner = None if w_bar is None else embedded(b.cast(w_bar, v.dtype))
        if v_bar is not None:
            product = MatMul()(adjoint(v), v_bar)
            turned = quotient(product - adjoint(product), w, -1, [product]) * 0.5
            inner = turned if inner is None else inner + turned
        assert inner is not None
        return (from_lower_triangle(MatMul()(MatMul()(v, inner), adjoint(v))),)


@register("eigvalsh", "linalg.eigvalsh")
class EigValsH(OfHermitian):
    """Ascending eigenvalues of Hermitian matrices, of which the triangle ``UPLO`` is read.

    Convention: the derivative lies in that triangle; equal eigenvalues each have the derivative of
    the eigenvector that the factorisation chose.  Source: Giles (2008), 2.3.
    """

    @classmethod
    def record(cls, b: Builder, a: Any, UPLO: Static = "L") -> Any:
        """Record on Hermitian matrices."""
        return cls()(cls.operand(b, a, UPLO))

    def infer(self, *types: ArrayType) -> Type:
        """Real eigenvalues."""
        super().infer(*types)
        (a,) = types
        return ArrayType(real_of(a.dtype), a.shape[:-1], a.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Tridiagonal form, and its eigenvalues."""
        values = where_it_converges(xp, lambda a: (xp.linalg.eigvalsh(a),), operands[0], xp.tril)
        return values[0]

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``a_bar`` from ``v diag(z_bar) v^H``."""
        v = Item(1)(Eigh()(operands[0]))
        scaled = v * unsqueeze(v.builder.cast(z_bar, v.dtype), (v.ndim - 2,))
        return (from_lower_triangle(MatMul()(scaled, adjoint(v))),)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """A tridiagonal form; its eigenvalues cost little more."""
        return 4 * types[0].size * types[0].shape[-1] // 3


@register("eig", "linalg.eig")
class Eig(OfVectors, OfSquare):
    """Eigenvalues and eigenvectors, a pair, complex also of real matrices: ``a v = v w``.

    Eigenvectors are columns of length 1 and arbitrary phase.  Convention: at equal eigenvalues as
    ``eigh``; of defective matrices the derivative raises.
    Source: Boeddeker et al., On the Computation of Complex-valued Gradients (2017), 4.6.
    """

    workspace = 1.0

    def infer(self, *types: ArrayType) -> Type:
        """Complex eigenvalues, and eigenvectors as columns."""
        super().infer(*types)
        (a,) = types
        vectors = a._replace(dtype=complex_of(a.dtype))
        return TupleType((vectors._replace(shape=a.shape[:-1]), vectors))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Hessenberg form, and its Schur form."""
        (a,) = operands
        dtype = complex_of(a.dtype)
        parts = where_it_converges(xp, xp.linalg.eig, a)
        return tuple([xp.asarray(part, dtype=dtype) for part in parts])

    def by_quotients(self, z_bar: Any, z: Var, a: Var, quotient: Quotient) -> Cotangents:
        """``a_bar = v^-H (diag(w_bar) + f* (g - v^H v diag(Re g))) v^H`` with ``g = v^H v_bar``."""
        w_bar, v_bar = z_bar
        w, v = Item(0)(z), Item(1)(z)
        v_h, b = adjoint(v), v.builder
        inner = None if w_bar is None else embedded(w_bar)
        if v_bar is not None:
            product = MatMul()(v_h, v_bar)
            lengths = b.cast(Real()(MatrixDiagonal(0)(product)), v.dtype)
            g = product - MatMul()(v_h, v) * unsqueeze(lengths, (v.ndim - 2,))
            turned = quotient(g, conj(w), -1, [product])
            inner = turned if inner is None else inner + turned
        assert inner is not None
        return (b.cast(Solve()(v_h, MatMul()(inner, v_h)), a.dtype),)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """Some 25 n³ for each matrix."""
        return 25 * types[0].size * types[0].shape[-1]


@macro("eigvals", "linalg.eigvals")
def eigvals(b: Builder, a: Any) -> Any:
    """Eigenvalues of square matrices, complex also of real ones."""
    return Eig.record(b, a)[0]
