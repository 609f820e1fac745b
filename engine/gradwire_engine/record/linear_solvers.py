"""Linear systems by products alone: Krylov methods, of matrices or functions ``v -> A v``."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gradwire_engine.autodiff.reverse import pullback
from gradwire_engine.errors import BadArgument, DomainError, ShapeMismatch
from gradwire_engine.ops.builder import Var
from gradwire_engine.ops.composites import Composite
from gradwire_engine.ops.constants import Copy, StopGradient
from gradwire_engine.record.functions.loops import repeat
from gradwire_engine.record.krylov import (
    Conjugate,
    Least,
    Method,
    Product,
    Stabilised,
    State,
    norm,
    zeros,
)
from gradwire_engine.record.scope import Closure, Operation, Transformed
from gradwire_engine.record.solvers import implicit

if TYPE_CHECKING:
    from gradwire_engine.record.recorder import Recorder

#: Passes for each unknown that are made at most, and products before a restart, by default.
_MOST_FOR_EACH, _RESTART = 10, 20


def cg(
    r: Recorder,
    A: Any,
    b: Any,
    x0: Any = None,
    tol: Any = 1e-5,
    atol: Any = 0.0,
    maxiter: Any = None,
) -> Any:
    """``x`` with ``A x = b``, ``A`` positive definite, by conjugate gradients.

    ``A`` is a matrix, a sparse tensor or a function ``v -> A v``.  Ends with a residual of at most
    ``max(tol |b|, atol)``; an error after ``maxiter`` passes, by default 10 for each unknown.  The
    derivative is that of the solution, by the same method.
    Source: Golub and Van Loan, Matrix Computations (2013), 11.3.
    """
    return _solution(_Solver(r, Conjugate(r), tol, atol, maxiter), A, b, x0)


def bicgstab(
    r: Recorder,
    A: Any,
    b: Any,
    x0: Any = None,
    tol: Any = 1e-5,
    atol: Any = 0.0,
    maxiter: Any = None,
) -> Any:
    """``x`` with ``A x = b`` by stabilised biconjugate gradients; as ``cg``, of any ``A``.

    Source: van der Vorst, Bi-CGSTAB (1992).
    """
    return _solution(_Solver(r, Stabilised(r), tol, atol, maxiter), A, b, x0)


def gmres(
    r: Recorder,
    A: Any,
    b: Any,
    x0: Any = None,
    tol: Any = 1e-5,
    atol: Any = 0.0,
    restart: Any = _RESTART,
    maxiter: Any = None,
) -> Any:
    """``x`` with ``A x = b`` by least residuals; as ``cg``, of any ``A``.

    A pass takes the best of the space that ``restart`` products span.
    Source: Saad and Schultz, GMRES (1986).
    """
    method = _least(r, restart)
    return _solution(_Solver(r, method, tol, atol, maxiter), A, b, x0)


def _of_scipy(name: str, method: Callable[[Recorder], Method]) -> Callable[..., Any]:
    def solve(
        r: Recorder,
        A: Any,
        b: Any,
        x0: Any = None,
        *,
        rtol: Any = 1e-5,
        atol: Any = 0.0,
        maxiter: Any = None,
    ) -> list[Any]:
        return _with_passes(_Solver(r, method(r), rtol, atol, maxiter, strict=False), A, b, x0)

    solve.__doc__ = f"``{name}``, and 0, or the number of passes where they were too few."
    return solve


def _of_jax(name: str, method: Callable[[Recorder], Method]) -> Callable[..., Any]:
    def solve(
        r: Recorder,
        A: Any,
        b: Any,
        x0: Any = None,
        *,
        tol: Any = 1e-5,
        atol: Any = 0.0,
        maxiter: Any = None,
    ) -> list[Any]:
        solver = _Solver(r, method(r), tol, atol, maxiter, strict=False)
        return [_with_passes(solver, A, b, x0)[0], None]

    solve.__doc__ = f"``{name}``, also where passes were too few, and None."
    return solve


def _gmres_of_scipy(
    r: Recorder,
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: Any = 1e-5,
    atol: Any = 0.0,
    restart: Any = _RESTART,
    maxiter: Any = None,
) -> list[Any]:
    """``gmres``, and 0, or the number of passes where they were too few."""
    method = _least(r, restart)
    return _with_passes(_Solver(r, method, rtol, atol, maxiter, strict=False), A, b, x0)


def _gmres_of_jax(
    r: Recorder,
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: Any = 1e-5,
    atol: Any = 0.0,
    restart: Any = _RESTART,
    maxiter: Any = None,
) -> list[Any]:
    """``gmres``, also where passes were too few, and None."""
    method = _least(r, restart)
    solver = _Solver(r, method, tol, atol, maxiter, strict=False)
    return [_with_passes(solver, A, b, x0)[0], None]


@dataclass(frozen=True, slots=True)
class _Solver:
    """A method, and when it ends."""

    r: Recorder
    method: Method
    tol: Any
    atol: Any
    maxiter: Any
    #: Whether a residual that is too large makes the solution none.
    strict: bool = True

    def root(self, product: Product, b: Var, x0: Var) -> tuple[Var, State]:
        """The solution as a function of all that product and ``b`` are; the last state."""
        ended = self._ended(product, b, x0)
        x = Copy()(StopGradient()(ended["x"]))
        start = len(self.r.b.vars)
        return implicit(self.r, x, product(x) - b, start, self._adjoint), ended

    def _adjoint(self, y: Var, x: Var, bar: Var) -> Var:
        """The solution for the transposed product, which pulls vectors back."""

        def product(v: Var) -> Var:
            (found,) = pullback(self.r.b, [y], [v], [x])
            return zeros(x) if found is None else found

        if self.r.b.regions:  # a body records all rules at once, so this has none of its own
            ended = self._ended(product, bar, zeros(bar))
            found = ended["x"]
        else:
            found, ended = self.root(product, bar, zeros(bar))
        if self.strict:
            found = self.r.operation("where", ended["small"], found, math.nan)
        return found

    def _ended(self, product: Product, b: Var, x0: Var) -> State:
        """The last state, with whether its residual is ``small``, and the number of passes."""
        r, do, method = self.r, self.r.operation, self.method
        most = _MOST_FOR_EACH * b.type.size if self.maxiter is None else self.maxiter
        limit = do("maximum", do("multiply", self.tol, norm(r, b)), self.atol)

        def step(number: Any, at: State, row: Any) -> tuple[State, None]:
            made = method.step(product, at)
            small = do("less_equal", norm(r, made["residual"]), limit)
            passes = at["passes"] + 1
            more = do("logical_and", do("logical_not", small), do("less", passes, most))
            return {**made, "small": small, "more": more, "passes": passes}, None

        residual = b - product(x0)
        # The first pass is always made: so no value is needed while this is recorded.
        small, more, passes = map(r.b.constant, (False, True, 0))
        begun = {"x": x0, "residual": residual, **method.begin(residual)}
        begun |= {"small": small, "more": more, "passes": passes}
        ended: State = repeat(r, begun, step, holds=lambda at: at["more"])[0]
        return ended


def _solution(solver: _Solver, A: Any, b: Any, x0: Any) -> Var:
    """The solution, or an error."""
    r = solver.r
    root, ended = solver.root(*_system(r, A, b, x0))
    if not r.truth(r.operation("all", r.concrete.everywhere(ended["small"]))):
        raise DomainError(
            "the residual is still too large after as many passes as maxiter allows",
            hint="raise maxiter or tol; cg needs a positive definite matrix, bicgstab does not",
        )
    return root


def _least(r: Recorder, restart: Any) -> Least:
    count = r.integer(restart)
    if count < 1:
        raise BadArgument(f"gmres restarts after a product at least, got {count}")
    return Least(r, count)


def _with_passes(solver: _Solver, A: Any, b: Any, x0: Any) -> list[Any]:
    """The solution however good it is, and the passes where they were too few, else 0."""
    root, ended = solver.root(*_system(solver.r, A, b, x0))
    return [root, solver.r.operation("where", ended["small"], 0, ended["passes"])]


def _system(r: Recorder, A: Any, b: Any, x0: Any) -> tuple[Product, Var, Var]:
    """Product, right side and first guess, of one shape and dtype."""
    function = isinstance(A, Closure | Operation | Transformed)
    matrix = A if function or isinstance(A, Composite) else r.b.inexact(A)

    def product(v: Var) -> Var:
        image = r.apply(A, [v], {}) if function else r.operation("matmul", matrix, v)
        found = r.b.inexact(image)
        if found.shape != v.shape:
            raise ShapeMismatch(f"A gives shape {found.shape} for one of shape {v.shape}")
        return found

    right = r.b.inexact(b)
    right = r.b.promote(right, product(right))[0]
    if x0 is None:
        return product, right, zeros(right)
    guess = r.b.inexact(x0)
    if guess.shape != right.shape:
        raise ShapeMismatch(f"x0 has shape {guess.shape}, b {right.shape}")
    return product, right, r.b.cast(guess, right.dtype)


#: Called as ``function(recorder, *args, **named)``.
LINEAR_SOLVERS: dict[str, Callable[..., Any]] = {
    "cg": cg,
    "bicgstab": bicgstab,
    "gmres": gmres,
    "scipy.sparse.linalg.cg": _of_scipy("cg", Conjugate),
    "scipy.sparse.linalg.bicgstab": _of_scipy("bicgstab", Stabilised),
    "scipy.sparse.linalg.gmres": _gmres_of_scipy,
    "jax.scipy.sparse.linalg.cg": _of_jax("cg", Conjugate),
    "jax.scipy.sparse.linalg.bicgstab": _of_jax("bicgstab", Stabilised),
    "jax.scipy.sparse.linalg.gmres": _gmres_of_jax,
}
