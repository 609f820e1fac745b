"""Values given by equations, which a service solves: differential equations and roots.

Their derivatives are those of the solution. Where nothing is recorded they are one request.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, TypeAlias

from gradwire.tracing.bodies import Nest, step_of
from gradwire.tracing.functions import Function, Runs
from gradwire.tracing.integrators import solution
from gradwire.tracing.tracer import term_of
from gradwire.usage import check_function

#: The first three choose their steps, the others take equal ones.
Method: TypeAlias = Literal["dopri5", "rodas5p", "auto", "rk4", "rk38", "heun", "midpoint", "euler"]


def odeint(
    f: Callable[..., Any],
    y0: Any,
    t: Any,
    *args: Any,
    method: Method | None = None,
    steps: int | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    max_steps: int | None = None,
    adjoint: bool = False,
    client: Runs | None = None,
) -> Any:
    """``y`` at the times ``t``, stacked, where ``dy/dt = f(y, t, *args)`` and ``y(t[0]) = y0``.

    ``y`` may be nested. From each time to the next go as many steps, up to ``max_steps`` (10,000),
    as keep errors below ``atol + rtol |y|`` (1.49012e-8 both): of "dopri5", the default, explicit
    and of order 5; of "rodas5p", of order 5 and for stiff equations; or with "auto" of the first,
    and of the second from where the equation proves stiff. With ``steps`` (1) go as many equal
    steps of "rk4", its default, "rk38", "heun", "midpoint" or "euler". Options of the other kind
    of method are refused, and so are solutions that ``max_steps`` do not reach.

    Derivatives are those of the steps. With ``adjoint`` they are those of the equation, integrated
    backward, so that no step is kept; with "rodas5p" and "auto" of the steps, of which few are kept
    and the others made again.

    >>> gradwire.odeint(lambda y, t, k: -k * y, 2.0, np.linspace(0.0, 2.0, 21), 0.5)[-1]
    """
    check_function(f)
    options = {
        "method": method,
        "steps": steps,
        "rtol": rtol,
        "atol": atol,
        "max_steps": max_steps,
    }
    given = {name: value for name, value in options.items() if value is not None}
    return Function(partial(solution, f, given | {"adjoint": adjoint}), client)(y0, t, *args)


def custom_root(
    f: Callable[[Any], Any],
    x0: Any,
    solve: Callable[[Callable[[Any], Any], Any], Any] | None = None,
    *,
    tolerance: float = 1e-8,
    client: Runs | None = None,
) -> Any:
    """The ``x`` near ``x0``, a number or an array, with ``f(x) = 0``.

    It is found by Newton's method until a step is at most ``tolerance``, or by ``solve(f, x0)``.
    It is differentiated in all that ``f`` reads by the implicit function theorem, to any order, so
    that the way to the root costs a derivative nothing.

    >>> gradwire.grad(lambda a: gradwire.custom_root(lambda x: x**2 - a, 1.0))(4.0)
    np.float64(0.25)
    """
    check_function(f, *() if solve is None else (solve,))

    def found(x0: Any) -> Any:
        guess = Nest(x0)
        equation = step_of(f, [guess], guess)
        if solve is None:
            root = term_of("custom_root", equation, guess.term, tolerance=tolerance)
        else:
            nothing = Nest(())  # in place of the equation, which solve calls by itself
            solver = step_of(lambda _, x: solve(f, x), [nothing, guess], guess)
            root = term_of("custom_root", equation, guess.term, solver)
        return guess.read(root)

    return Function(found, client)(x0)
