"""Functions given by equations: roots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gradwire_engine.autodiff import matrices
from gradwire_engine.autodiff.retrace import Retrace, reads
from gradwire_engine.autodiff.reverse import pullback
from gradwire_engine.errors import BadArgument, DomainError, DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.base import Cotangents
from gradwire_engine.ops.batching import reshaped
from gradwire_engine.ops.builder import Var
from gradwire_engine.ops.constants import Copy, StopGradient
from gradwire_engine.ops.promotion import finfo
from gradwire_engine.record.functions.loops import repeat
from gradwire_engine.record.transformations import ruled
from gradwire_engine.tape import FLOATING

if TYPE_CHECKING:
    from gradwire_engine.record.recorder import Recorder

_MOST_STEPS = 50


def custom_root(r: Recorder, f: Any, x0: Any, solve: Any = None, tolerance: Any = 1e-8) -> Var:
    """The ``x`` with ``f(x) = 0`` that ``solve(f, x0)`` finds, by default Newton's method.

    Its derivative is ``∂x/∂θ = -(∂f/∂x)⁻¹ ∂f/∂θ`` in all that ``f`` reads, whatever the solver did.
    Newton's method ends after a step of at most ``tolerance (1 + |x|)``.
    Source: Krantz and Parks, The Implicit Function Theorem (2002).
    """
    guess = _real(r, x0)
    found = _newton(r, f, guess, tolerance) if solve is None else r.apply(solve, [f, guess], {})
    x = Copy()(StopGradient()(_real(r, found)))
    start = len(r.b.vars)

    def adjoint(y: Var, x: Var, bar: Var) -> Var:
        bars: Var = r.operation("solve", r.operation("transpose", _jacobian(r, y, x)), _flat(bar))
        return reshaped(bars, y.shape)

    return implicit(r, x, _residual(r, f, x), start, adjoint)


def implicit(
    r: Recorder, x: Var, y: Var, start: int, adjoint: Callable[[Var, Var, Var], Var]
) -> Var:
    """``x`` as the root of ``y``, a function of all that it reads from slot ``start`` on.

    ``adjoint(y, x, x_bar)`` is the ``y_bar`` with ``(∂y/∂x)ᵀ y_bar = x_bar``.
    """
    operands = [read for read in reads([y], start) if read.slot != x.slot]

    def rule(bars: Sequence[Var]) -> Cotangents:
        at, again = Copy()(root), [Copy()(read) for read in operands]
        z = Retrace({x: at, **dict(zip(operands, again, strict=True))})(y)
        return pullback(r.b, [z], [adjoint(z, at, -bars[0])], again)

    (root,) = ruled([x], operands, rule) if operands else [x]
    return root


def _newton(r: Recorder, f: Any, x: Var, tolerance: Any) -> Var:
    """Newton's method, in a loop: all examples of mapped functions go on until the last is done."""
    do, least = r.operation, 4 * float(finfo(x.dtype).eps)
    limit = do("maximum", tolerance, least)

    def step(number: Any, at: Any, row: Any) -> tuple[Any, Any]:
        x, tries = Copy()(at["x"]), at["tries"] + 1
        y = _residual(r, f, x)
        moved = reshaped(do("solve", _jacobian(r, y, x), _flat(y)), x.shape)
        x = x - moved
        small = do("less_equal", do("abs", moved), do("multiply", limit, 1 + do("abs", x)))
        found = do("all", small)
        more = do("logical_and", do("logical_not", found), do("less", tries, _MOST_STEPS))
        return {"x": x, "found": found, "more": more, "tries": tries}, None

    # The first is always made: so no value is needed while this is recorded.
    no, yes, none = map(r.b.constant, (False, True, 0))
    begun = {"x": x, "found": no, "more": yes, "tries": none}
    ended, _ = repeat(r, begun, step, holds=lambda at: at["more"])
    if not r.truth(do("all", r.concrete.everywhere(ended["found"]))):
        raise DomainError(
            f"Newton's method found no root in {_MOST_STEPS} steps",
            hint="begin nearer to the root, or give solve",
        )
    root: Var = ended["x"]
    return root


def _real(r: Recorder, x: Any) -> Var:
    var = r.b.inexact(x)
    if var.dtype.kind not in FLOATING:
        raise DtypeMismatch(f"a root is real, got {var.type}")
    return var


def _residual(r: Recorder, f: Any, x: Var) -> Var:
    y = r.b.array(r.apply(f, [x], {}))
    if y.shape != x.shape:
        raise ShapeMismatch(
            f"as many equations as unknowns are needed, got {y.shape} for {x.shape}"
        )
    return y


def _jacobian(r: Recorder, y: Var, x: Var) -> Var:
    (rows,) = matrices.jacobian(r.b, y, [x])
    if rows is None:
        raise BadArgument("the function whose root is sought does not depend on its argument")
    return reshaped(rows, (x.type.size, x.type.size))


def _flat(x: Var) -> Var:
    return reshaped(x, (x.type.size,))


#: Called as ``function(recorder, *args, **named)``.
SOLVERS: dict[str, Callable[..., Any]] = {"custom_root": custom_root}
