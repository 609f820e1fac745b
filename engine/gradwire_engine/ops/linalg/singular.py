"""Singular values and vectors of matrices."""

from __future__ import annotations

from functools import partial, reduce
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.arrays.diagonals import embedded
from gradwire_engine.ops.arrays.joining import Concatenate
from gradwire_engine.ops.arrays.shape import unsqueeze
from gradwire_engine.ops.axes import flag
from gradwire_engine.ops.base import Cotangents, Op, Static, macro, register
from gradwire_engine.ops.batching import over_stacks
from gradwire_engine.ops.constants import Item
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.linalg.solving import adjoint
from gradwire_engine.ops.linalg.spectral import OfVectors, Quotient, where_it_converges
from gradwire_engine.ops.promotion import real_of
from gradwire_engine.ops.rules import even
from gradwire_engine.tape import ArrayType, TupleType, Type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradwire_engine.ops.builder import Builder, Var


class OfMatrices(Op):
    """An operation on matrices of any shape in the last two axes."""

    batch = over_stacks

    def infer(self, *types: ArrayType) -> Type:
        """Same type, of matrices that LAPACK takes."""
        (a,) = types
        if len(a.shape) < 2:
            raise ShapeMismatch(f"{self.name} needs at least 2 axes, got {a}")
        if a.dtype.char not in "fdFD":
            raise DtypeMismatch(
                f"{self.name} does not take {a.dtype.name}", hint="astype('float32')"
            )
        return a

    def flops(self, result: Type, *types: ArrayType) -> int:
        """Some 20 m n² for each matrix of m rows and n columns."""
        return 20 * types[0].size * min(types[0].shape[-2:])


@register("reduced_svd", public=False)
class Svd(OfVectors, OfMatrices):
    """Singular value decomposition ``a = u s v^H``, a triple.

    Convention: what is a function of the matrix has its derivative also where values are equal;
    else vectors of equal ones turn only against each other, the left against the right, with a
    warning, and those of zero ones do not turn.
    """

    def infer(self, *types: ArrayType) -> Type:
        """As many values and vectors as the shorter side has."""
        super().infer(*types)
        (a,) = types
        *batch, rows, columns = a.shape
        count = min(rows, columns)
        values = ArrayType(real_of(a.dtype), (*batch, count), a.weak)
        left, right = ((*batch, rows, count), (*batch, count, columns))
        return TupleType((a._replace(shape=left), values, a._replace(shape=right)))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Divide and conquer."""
        return where_it_converges(xp, partial(xp.linalg.svd, full_matrices=False), operands[0])

    def by_quotients(self, z_bar: Any, z: Var, a: Var, quotient: Quotient) -> Cotangents:
        """``a_bar = u m v^H``, and what turns vectors out of the space of ``u`` or ``v``.

        ``2 m = 2 diag(s_bar) + (p + q) / (s_j - s_i) + (p - q) / (s_j + s_i)`` with twice the
        antisymmetric parts ``p`` of ``u^H u_bar``, ``q`` of ``v^H v_bar``.  Source: Wan and Zhang,
        Automatic Differentiation for Complex Valued SVD (2019), eq. 13.
        """
        u_bar, s_bar, vh_bar = z_bar
        u, s, vh = (Item(i)(z) for i in range(3))
        b, k = u.builder, s.shape[-1]
        like: list[Var] = []
        sums: list[Var] = []
        differences: list[Var] = []
        outside: list[Var] = []
        if u_bar is not None:
            product = MatMul()(adjoint(u), u_bar)
            skew = product - adjoint(product)
            like, sums, differences = [product], [skew], [skew]
            if u.shape[-2] > k:
                outside.append(MatMul()(quotient(u_bar - MatMul()(u, product), s, 0, [u_bar]), vh))
        if vh_bar is not None:
            product = MatMul()(vh_bar, adjoint(vh))
            skew = adjoint(product) - product
            like, sums, differences = [*like, product], [*sums, skew], [*differences, -skew]
            if vh.shape[-1] > k:
                beside = adjoint(vh_bar - MatMul()(product, vh))
                outside.append(MatMul()(u, adjoint(quotient(beside, s, 0, [vh_bar]))))
        parts = [] if s_bar is None else [embedded(b.cast(even(s_bar, s), u.dtype))]
        if sums:
            parts.append(quotient(_total(sums), s, -1, like) * 0.5)
            parts.append(quotient(_total(differences), s, 1, like) * 0.5)
        return (_total([MatMul()(MatMul()(u, _total(parts)), vh), *outside]),)


def _total(parts: Sequence[Var]) -> Var:
    return reduce(lambda x, y: x + y, parts)


@register("orthonormal_complement", public=False)
class Complement(OfMatrices):
    """Orthonormal columns ``c`` that complete the orthonormal columns ``q`` to a basis.

    Convention: which ones is arbitrary; as ``q`` moves they turn no more than to stay orthogonal
    to it, ``dc = -q dq^H c``.
    """

    workspace = 3.5

    def infer(self, *types: ArrayType) -> Type:
        """As many columns as ``q`` lacks."""
        super().infer(*types)
        (q,) = types
        return q._replace(shape=(*q.shape[:-1], q.shape[-2] - q.shape[-1]))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Householder reflections."""
        (q,) = operands
        return xp.linalg.qr(q, mode="complete")[0][..., q.shape[-1] :]

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``q_bar = -c c_bar^H q``."""
        return (-MatMul()(z, MatMul()(adjoint(z_bar), operands[0])),)


def completed(q: Var) -> Var:
    """The unitary matrix whose first columns are the orthonormal ``q``."""
    return q if q.shape[-2] == q.shape[-1] else Concatenate(q.ndim - 1)(q, Complement()(q))


@macro("svd", "linalg.svd")
def svd(
    b: Builder,
    a: Any,
    full_matrices: Static = True,
    compute_uv: Static = True,
    hermitian: Static = False,
) -> Any:
    """Singular value decomposition ``a = u s v^H``: the list ``u``, ``s`` (descending), ``v^H``.

    Shapes: ``u`` and ``v^H`` are square, or without ``full_matrices`` have as many columns and rows
    as there are singular values, the minimum of rows and columns.  Convention: what
    is a function of the matrix has its derivative also where singular values are equal; else, with
    a warning, vectors of equal ones turn only against each other, the left against the right, and
    those beyond the singular values not at all.  Signs (phases) are arbitrary, so only what does
    not depend on them has a meaningful derivative.
    """
    full = flag(full_matrices, "full_matrices")
    flag(hermitian, "hermitian")
    if not flag(compute_uv, "compute_uv"):
        return SvdVals.record(b, a)
    triple = Svd()(floating(b, a))
    u, s, vh = (Item(i)(triple) for i in range(3))
    return [completed(u), s, adjoint(completed(adjoint(vh)))] if full else [u, s, vh]


@register("svdvals", "linalg.svdvals")
class SvdVals(OfMatrices):
    """Singular values of each matrix, descending.

    Convention: the derivative is ``u diag(z_bar) v^H`` with the vectors that the factorisation
    chose, also for equal and for zero singular values.
    """

    @classmethod
    def record(cls, b: Builder, x: Any) -> Any:
        """Record on floating or complex matrices."""
        return cls()(floating(b, x))

    def infer(self, *types: ArrayType) -> Type:
        """As many as the shorter side has."""
        super().infer(*types)
        (a,) = types
        return ArrayType(real_of(a.dtype), (*a.shape[:-2], min(a.shape[-2:])), a.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Bidiagonal form, and its singular values."""
        values = partial(xp.linalg.svd, compute_uv=False)
        return where_it_converges(xp, lambda a: (values(a),), operands[0])[0]

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``a_bar = u diag(z_bar) v^H``."""
        triple = Svd()(operands[0])
        u, vh = Item(0)(triple), Item(2)(triple)
        s_bar = u.builder.cast(even(z_bar, z), u.dtype)
        scaled = u * unsqueeze(s_bar, (u.ndim - 2,))
        return (MatMul()(scaled, vh),)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """A bidiagonal form; its singular values cost little more."""
        return 4 * types[0].size * min(types[0].shape[-2:])
