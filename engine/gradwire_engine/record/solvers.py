"""Functions given by equations: roots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.autodiff import matrices
from gradwire_engine.autodiff.rerecording import Rerecording, reads
from gradwire_engine.autodiff.reverse import pullback
from gradwire_engine.errors import BadArgument, DomainError, DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.base import Cotangents
from gradwire_engine.ops.batching import reshaped
from gradwire_engine.ops.builder import Var
from gradwire_engine.ops.constants import Copy, StopGradient
from gradwire_engine.record.transformations import ruled

if TYPE_CHECKING:
    from gradwire_engine.record.recorder import Recorder

_MOST_STEPS = 50


def custom_root(r: Recorder, f: Any, x0: Any, solve: Any = None, tolerance: Any = 1e-8) -> Var:
    """The ``x`` with ``f(x) = 0`` that ``solve(f, x0)`` finds, by default Newton's method.

    Its derivative is ``∂x/∂θ = -(∂f/∂x)⁻¹ ∂f/∂θ`` in all that ``f`` reads, whatever the solver did.
    Newton's method ends after a step of at most ``tolerance (1 + |x|)``.
    Source: Krantz and Parks, The Implicit Function Theorem (2002).
    """
    b = r.b
    guess = _real(r, x0)
    found = _newton(r, f, guess, tolerance) if solve is None else r.apply(solve, [f, guess], {})
    x = Copy()(StopGradient()(_real(r, found)))
    start = len(b.vars)
    y = _residual(r, f, x)
    operands = [read for read in reads([y], start) if read.slot != x.slot]

    def rule(bars: Sequence[Var]) -> Cotangents:
        at, again = Copy()(root), [Copy()(read) for read in operands]
        z = Rerecording({x: at, **dict(zip(operands, again, strict=True))})(y)
        bar = r.operation("solve", r.operation("transpose", _jacobian(r, z, at)), -_flat(bars[0]))
        return pullback(b, [z], [reshaped(bar, z.shape)], again)

    (root,) = ruled([x], operands, rule) if operands else [x]
    return root


def _newton(r: Recorder, f: Any, x: Var, tolerance: Any) -> Var:
    """Newton's method, the same number of steps for all examples of mapped functions."""
    least = 4 * float(np.finfo(x.dtype).eps)
    limit = r.operation("maximum", tolerance, least)
    for _ in range(_MOST_STEPS):
        r.poll()
        x = Copy()(x)
        y = _residual(r, f, x)
        step = reshaped(r.operation("solve", _jacobian(r, y, x), _flat(y)), x.shape)
        x = x - step
        moved, size = r.operation("abs", step), r.operation("abs", x)
        small = r.operation("less_equal", moved, r.operation("multiply", limit, 1 + size))
        if r.truth(r.operation("all", r.concrete.everywhere(small))):
            return x
    raise DomainError(
        f"Newton's method found no root in {_MOST_STEPS} steps",
        hint="begin nearer to the root, or give solve",
    )


def _real(r: Recorder, x: Any) -> Var:
    var = r.b.inexact(x)
    if var.dtype.kind != "f":
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
