"""Riccati's equations, of which solutions are optimal feedback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import ShapeMismatch
from gradwire_engine.ops.base import PRIMITIVES, Cotangents, Op, register
from gradwire_engine.ops.batching import over_stacks
from gradwire_engine.ops.elementwise import broadcast_shapes
from gradwire_engine.ops.linalg.matrix_functions import for_each
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.linalg.solving import OfSquare, Solve, adjoint
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


class SolveRiccati(Op):
    """The stabilising solution; operands ``a``, ``b``, ``r`` and ``q`` of one dtype."""

    batch = over_stacks
    sylvester: str
    solver: str

    def infer(self, *types: ArrayType) -> Type:
        """The type of ``q``; stacks are broadcast."""
        a, b, r, q = types
        SolveStein().infer(a, q)
        n, m = a.shape[-1], b.shape[-1] if len(b.shape) > 1 else 0
        if (b.shape[-2:], r.shape[-2:], q.shape[-2:]) != ((n, m), (m, m), (n, n)):
            raise ShapeMismatch(
                f"{self.solver} needs a (n, n), b (n, m), q (n, n) and r (m, m), "
                f"got {a}, {b}, {q} and {r}"
            )
        batch = broadcast_shapes(*[x.shape[:-2] for x in types])
        return ArrayType(q.dtype, (*batch, n, n), all(x.weak for x in types))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """SciPy's own; NaN where there is no stabilising solution."""

        def solved(a: Any, b: Any, r: Any, q: Any) -> Any:
            try:
                return getattr(xp.scipy_linalg, self.solver)(a, b, q, r)
            except xp.linalg.LinAlgError:
                return xp.nan

        return for_each(xp, solved, *operands)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """By the equation of ``z`` with the feedback ``k`` held, in which it is stationary.

        ``q_bar`` solves the adjoint of its linearisation, ``r_bar = k q_bar k^H``,
        ``a_bar = p (q_bar + q_bar^H)`` and ``b_bar = -a_bar k^H``.
        """
        of, (a, b, r, _) = MatMul(), operands
        k, p, q_bar = self.adjoint(z_bar, z, a, b, r)
        a_bar = of(p, q_bar + adjoint(q_bar))
        k_h = adjoint(k)
        return a_bar, -of(a_bar, k_h), of(of(k, q_bar), k_h), q_bar

    def adjoint(self, z_bar: Var, z: Var, a: Var, b: Var, r: Var) -> tuple[Var, Var, Var]:
        """The feedback ``k``, the matrix ``p`` that perturbations of ``a`` meet, and ``q_bar``."""
        raise NotImplementedError

    def flops(self, result: Type, *types: ArrayType) -> int:
        """Some 200 n³ for each matrix."""
        return 200 * types[0].size * types[0].shape[-1]


@register("continuous_riccati_solution", public=False)
class SolveContinuousRiccati(SolveRiccati):
    """Stabilising ``z`` of ``a^H z + z a - z b r^-1 b^H z + q = 0``.

    Source: Lancaster and Rodman, Algebraic Riccati Equations (1995), chapter 7.
    """

    sylvester = "sylvester_solution"
    solver = "solve_continuous_are"

    def adjoint(self, z_bar: Var, z: Var, a: Var, b: Var, r: Var) -> tuple[Var, Var, Var]:
        """``c y + y c^H = -z_bar`` with ``c = a - b k``."""
        of = MatMul()
        k = Solve()(r, of(adjoint(b), z))
        c = a - of(b, k)
        return k, z, PRIMITIVES[self.sylvester]()(c, adjoint(c), -z_bar)


@register("discrete_riccati_solution", public=False)
class SolveDiscreteRiccati(SolveRiccati):
    """Stabilising ``z`` of ``z = a^H z a - a^H z b (r + b^H z b)^-1 b^H z a + q``.

    Source: Lancaster and Rodman, Algebraic Riccati Equations (1995), chapter 12.
    """

    sylvester = "stein_solution"
    solver = "solve_discrete_are"

    def adjoint(self, z_bar: Var, z: Var, a: Var, b: Var, r: Var) -> tuple[Var, Var, Var]:
        """``y = c y c^H + z_bar`` with ``c = a - b k``."""
        of = MatMul()
        b_z = of(adjoint(b), z)
        k = Solve()(r + of(b_z, b), of(b_z, a))
        c = a - of(b, k)
        return k, of(z, c), PRIMITIVES[self.sylvester]()(c, z_bar)


@register("stein_solution", public=False)
class SolveStein(OfSquare):
    """Solution of ``z = a z a^H + q``: the discrete Lyapunov equation.

    Source: Simoncini, Computational Methods for Linear Matrix Equations (2016), section 6.
    """

    def infer(self, *types: ArrayType) -> Type:
        """The right-hand sides' shape."""
        a, q = types
        super().infer(a)
        if q.shape[-2:] != a.shape[-2:]:
            raise ShapeMismatch(f"a right-hand side like {a} is needed, got {q}")
        batch = broadcast_shapes(*[x.shape[:-2] for x in types])
        return ArrayType(q.dtype, (*batch, *q.shape[-2:]), all(x.weak for x in types))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """SciPy's own, which takes the method by size."""
        return for_each(xp, xp.scipy_linalg.solve_discrete_lyapunov, *operands)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``q_bar = a^H q_bar a + z_bar``, ``a_bar = q_bar a z^H + q_bar^H a z``."""
        of, (a, _) = MatMul(), operands
        q_bar = self(adjoint(a), z_bar)
        return of(of(q_bar, a), adjoint(z)) + of(of(adjoint(q_bar), a), z), q_bar
