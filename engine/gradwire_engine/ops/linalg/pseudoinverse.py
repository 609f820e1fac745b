"""Pseudoinverses of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.linalg.singular import OfMatrices
from gradwire_engine.ops.linalg.solving import adjoint
from gradwire_engine.ops.linalg.spectral import where_it_converges
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


@register("pseudoinverse", public=False)
class Pinv(OfMatrices):
    """Pseudoinverse ``z = a^+``; singular values of at most ``rcond`` times the largest count as 0.

    Source: Golub and Pereyra, The Differentiation of Pseudo-Inverses (1973), eq. 4.12, for matrices
    that lose nothing but rounding errors.
    """

    workspace = 5.2
    rcond: float

    def infer(self, *types: ArrayType) -> Type:
        """Rows and columns exchanged."""
        super().infer(*types)
        (a,) = types
        return a._replace(shape=(*a.shape[:-2], a.shape[-1], a.shape[-2]))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Singular value decomposition."""
        (a,) = operands
        (z,) = where_it_converges(xp, lambda m: (xp.linalg.pinv(m, self.rcond),), a)
        return xp.asarray(z, dtype=a.dtype)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``-z^H z_bar z^H + (1 - a z) z_bar^H z z^H + z^H z z_bar^H (1 - z a)``.

        Where singular values that are not 0 may be cut off, ``Parted`` in place of the latter two,
        of ``z_bar^H`` and what ``d = a - a z a`` mixes with it.
        """
        (a,) = operands
        z_h, bar_h, of = adjoint(z), adjoint(z_bar), MatMul()
        a_bar = -of(of(z_h, z_bar), z_h)
        rows, columns = a.shape[-2:]
        if not rows or not columns:
            return (a_bar,)
        if self.rcond > 100 * max(rows, columns) * float(np.finfo(a.dtype).eps):
            rest, part = a - of(of(a, z), a), Parted(self.rcond)
            right = part(a, z, bar_h + of(of(z_h, z_bar), rest))
            left = part(adjoint(a), z_h, z_bar + of(of(z, bar_h), adjoint(rest)))
            return (a_bar + right + adjoint(left),)
        left = of(of(bar_h, z), z_h)
        right = of(of(z_h, z), bar_h)
        return (a_bar + (left - of(a, of(z, left))) + (right - of(of(right, z), a)),)


@register("parted", public=False)
class Parted(OfMatrices):
    """``w`` from the space that the pseudoinverse ``z`` of ``a`` keeps to that which it drops.

    ``g w - w h = p r (1 - q)`` and ``w = p w (1 - q)``, with ``p = a z`` and ``q = z a``,
    ``g = p a a^H p`` and ``h = (1 - q) a^H a (1 - q)``: as vectors of singular values, ``r_ij``
    over the difference of the squares of one that is kept and one that is not.
    """

    workspace = 5.2
    rcond: float

    def infer(self, *types: ArrayType) -> Type:
        """Such a matrix as ``r``."""
        super().infer(types[0])
        return types[2]

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Singular value decomposition, beyond whose vectors singular values are 0."""
        a, _, r = operands
        u, s, vh = where_it_converges(xp, lambda m: xp.linalg.svd(m, full_matrices=False), a)
        kept = s > self.rcond * xp.max(s, axis=-1, keepdims=True)
        high, low = s[..., :, None], s[..., None, :]
        pairs = kept[..., :, None] & ~kept[..., None, :]
        gaps = xp.where(pairs, (high - low) * (high + low), xp.inf)
        squares = xp.where(kept[..., :, None], high * high, xp.inf)
        rows = xp.conj(xp.swapaxes(u, -1, -2)) @ r
        inside = rows @ xp.conj(xp.swapaxes(vh, -1, -2))
        found = u @ ((inside / gaps - inside / squares) @ vh + rows / squares)
        return xp.asarray(found, dtype=r.dtype)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """With ``r_bar``, this of ``w_bar``, from the equation's differential.

        ``g_bar = -r_bar w^H``, ``h_bar = w^H r_bar``, ``p_bar = w_bar w^H + r_bar r^H`` and
        ``q_bar = -(w^H w_bar + r^H r_bar)``.
        """
        a, inverse, r = operands
        of = MatMul()
        r_bar, w_h, r_h = self(a, inverse, z_bar), adjoint(z), adjoint(r)
        g_bar, h_bar = -of(r_bar, w_h), of(w_h, r_bar)
        p_bar = of(z_bar, w_h) + of(r_bar, r_h)
        q_bar = -(of(w_h, z_bar) + of(r_h, r_bar))
        a_bar = of(g_bar + adjoint(g_bar), a) + of(a, h_bar + adjoint(h_bar))
        a_bar = a_bar + of(p_bar, adjoint(inverse)) + of(adjoint(inverse), q_bar)
        return a_bar, of(adjoint(a), p_bar) + of(q_bar, adjoint(a)), r_bar
