"""Ordinary differential equations: solved from time to time, and the adjoint equation back."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import sub
from typing import TYPE_CHECKING, Any

from gradwire_engine.autodiff.matrices import stand_in
from gradwire_engine.autodiff.retrace import Retrace, reads
from gradwire_engine.autodiff.reverse import pullback
from gradwire_engine.errors import BadArgument, DtypeMismatch
from gradwire_engine.nesting import leaves, rebuild
from gradwire_engine.ops.arrays.slicing import picked, sliced
from gradwire_engine.ops.base import Cotangents
from gradwire_engine.ops.builder import Var
from gradwire_engine.ops.constants import Copy
from gradwire_engine.ops.requirements import Required
from gradwire_engine.record.adaptive import Adaptive, Method, Solver
from gradwire_engine.record.functions.loops import flipped, repeat
from gradwire_engine.record.rosenbrock import Rodas5P
from gradwire_engine.record.runge_kutta import TABLEAUS, Dopri5, Fixed, Slope
from gradwire_engine.record.scope import Transformed
from gradwire_engine.record.transformations import ruled

if TYPE_CHECKING:
    from gradwire_engine.record.recorder import Recorder


#: Methods whose steps are as long as errors allow: "auto" goes on by the second one where an
#: equation is stiff.
_ADAPTIVE: dict[str, Sequence[Method]] = {
    "dopri5": [Dopri5()],
    "rodas5p": [Rodas5P()],
    "auto": [Dopri5(), Rodas5P()],
}
_METHODS = (*_ADAPTIVE, *TABLEAUS)
#: SciPy's tolerances of ``odeint``, and the steps from one time to the next.
_TOLERANCE, _MOST_STEPS = 1.49012e-8, 10_000


_FOUND_AGAIN = Required(
    "the adjoint equation, backward, does not find the solution again",
    "differentiate the steps, without adjoint=True, or use method='rodas5p'; or give times between",
)


def odeint(
    r: Recorder,
    f: Any,
    y0: Any,
    t: Any,
    *args: Any,
    method: Any = None,
    steps: Any = None,
    rtol: Any = None,
    atol: Any = None,
    max_steps: Any = None,
    adjoint: Any = False,
) -> Any:
    """``y`` at the times ``t``, stacked, where ``dy/dt = f(y, t, *args)`` and ``y(t[0]) = y0``.

    "dopri5", explicit, of order 5, the default, and "rodas5p", of order 5 and for stiff equations,
    take from each time to the next as many steps, up to ``max_steps`` (10,000), as keep errors
    below ``atol + rtol |y|`` (1.49012e-8 both).  "auto" is "dopri5", and "rodas5p" from where the
    equation proves stiff.  With ``steps`` (1) go as many equal ones of "rk4", its default, or
    "rk38", both of order 4, "heun" and "midpoint" of order 2, or "euler".  ``y`` may be nested.
    Derivatives are those of the steps; with ``adjoint`` of the equation, integrated backward, and
    no step is kept; for "rodas5p" and "auto" of the steps, few kept and the others made again.
    Source: Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I (1993), II.1-5.
    """
    method = method or ("dopri5" if steps is None else "rk4")
    number, times = 1 if steps is None else r.integer(steps), r.b.inexact(t)
    if (
        not isinstance(method, str)
        or method not in _METHODS
        or number < 1
        or times.ndim != 1
        or not times.shape[0]
        or not leaves(y0)
    ):
        raise BadArgument(
            f"odeint knows the methods {', '.join(_METHODS)}; it takes a step at least, "
            "a value and a list of times",
            hint="odeint(f, y0, linspace(0, 1, 11)), or with method='rk4', steps=4",
        )
    tolerances = {"rtol": rtol, "atol": atol, "max_steps": max_steps}
    for name, value in ({"steps": steps} if method in _ADAPTIVE else tolerances).items():
        if value is not None:
            raise BadArgument(
                f"odeint's method {method!r} does not take {name}",
                hint=f"rtol, atol and max_steps are for {', '.join(_ADAPTIVE)}; "
                f"steps is for {', '.join(TABLEAUS)}",
            )
    if times.dtype.kind == "c":
        raise DtypeMismatch(f"times are real, got {times.type}")

    def slope(y: Any, now: Var) -> Any:
        return _fitting(r, y, r.apply(f, [y, now, *args], {}))

    y, times = _settled(r, slope, rebuild(y0, r.b.inexact), times)
    solver: Solver = Fixed(r, method, number)
    if method in _ADAPTIVE:
        size = sum([x.type.nbytes for x in leaves(y)])
        few = size**2 // times.dtype.itemsize <= r.b.limits.array_bytes  # of the Jacobian
        defaults = _TOLERANCE, _TOLERANCE, _MOST_STEPS
        pairs = zip(tolerances.values(), defaults, strict=True)
        given = [default if value is None else value for value, default in pairs]
        solver = Adaptive(r, _ADAPTIVE[method][: None if few else 1], *given)
    backward = r.truth(adjoint)
    # Backward, what makes an equation stiff makes it unstable: no method finds its values again.
    again = backward and method in ("rodas5p", "auto")
    if backward and not again:
        return _by_adjoint(r, solver, slope, y, times)
    r.checkpoints += again
    try:
        return _solved(r, solver, slope, y, times)[1]
    finally:
        r.checkpoints -= again


def _odeint_of_jax(
    r: Recorder,
    func: Any,
    y0: Any,
    t: Any,
    *args: Any,
    rtol: Any = 1.4e-8,
    atol: Any = 1.4e-8,
    mxstep: Any = math.inf,
) -> Any:
    """``odeint(…, method="dopri5", adjoint=True)``, with ``mxstep`` steps to each time at most."""
    named = {"rtol": rtol, "atol": atol, "max_steps": mxstep}
    return odeint(r, func, y0, t, *args, method="dopri5", adjoint=True, **named)


def _odeint_of_scipy(
    r: Recorder,
    func: Any,
    y0: Any,
    t: Any,
    args: Any = (),
    *,
    tfirst: Any = False,
    rtol: Any = None,
    atol: Any = None,
    mxstep: Any = 0,
) -> Any:
    """``odeint(…, method="auto")`` of an array, and of ``func(t, y, *args)`` if ``tfirst``.

    ``mxstep`` 0 is the default of ``max_steps``.
    """
    f = _turned(func) if r.truth(tfirst) else func
    named = {"rtol": rtol, "atol": atol, "max_steps": r.integer(mxstep) or None}
    return odeint(r, f, r.b.array(y0), t, *r.items(args), method="auto", **named)


def _odeint_of_torch(
    r: Recorder,
    func: Any,
    y0: Any,
    t: Any,
    *,
    rtol: Any = 1e-7,
    atol: Any = 1e-9,
    method: Any = "dopri5",
) -> Any:
    """``odeint`` of ``func(t, y)``; "rk4" is "rk38", and equal steps have no tolerances."""
    return _of_torch(r, func, y0, t, rtol, atol, method, adjoint=False)


def _adjoint_of_torch(
    r: Recorder,
    func: Any,
    y0: Any,
    t: Any,
    *,
    rtol: Any = 1e-7,
    atol: Any = 1e-9,
    method: Any = "dopri5",
) -> Any:
    """``odeint(…, adjoint=True)`` of ``func(t, y)``; see ``torchdiffeq.odeint``."""
    return _of_torch(r, func, y0, t, rtol, atol, method, adjoint=True)


def _of_torch(
    r: Recorder, func: Any, y0: Any, t: Any, rtol: Any, atol: Any, method: Any, *, adjoint: bool
) -> Any:
    named = {"rtol": rtol, "atol": atol} if method in _ADAPTIVE else {}
    kind = {"rk4": "rk38"}.get(method, method)
    return odeint(r, _turned(func), y0, t, method=kind, adjoint=adjoint, **named)


def _turned(f: Any) -> Transformed:
    """The function of ``y`` and ``t`` that gives what ``f`` gives of ``t`` and ``y``."""
    return Transformed(lambda r, args, named: r.apply(f, [args[1], args[0], *args[2:]], named))


def _fitting(r: Recorder, y: Any, slope: Any) -> Any:
    """The slope, nested as ``y``."""
    each = leaves(slope)
    if len(each) != len(leaves(y)):
        raise BadArgument("the function of odeint gives a slope for each value")
    following = map(r.b.inexact, each)
    return rebuild(y, lambda x: r.operation("broadcast_to", next(following), x.shape))


def _settled(r: Recorder, slope: Slope, y: Any, times: Var) -> tuple[Any, Var]:
    """The first values and the times, in the dtypes that they have after a step."""
    b = r.b
    following = iter(leaves(slope(y, picked(times, 0, 0))))
    y = rebuild(y, lambda x: b.promote(x, next(following), times)[0])
    numbers = [r.operation("real", x) for x in leaves(y)]
    return y, b.cast(times, b.promote(times, *numbers)[0].dtype)


def _solved(r: Recorder, solver: Solver, slope: Slope, y: Any, times: Var) -> Any:
    """Values at the last of the times, and at all, stacked: a pass for each interval."""
    length = times.shape[0]

    def interval(number: Any, state: Any, row: Any) -> tuple[Any, Any]:
        state = solver.advance(slope, state, *row)
        return state, state["y"]

    rows = [sliced(times, 0, 0, length - 1), sliced(times, 0, 1, length)]
    state, found = repeat(r, solver.begin(slope, y, times), interval, rows=rows)
    following = iter([] if found is None else leaves(found))

    def joined(x: Var) -> Any:
        first = r.operation("expand_dims", x, 0)
        return first if found is None else r.operation("concatenate", [first, next(following)])

    return solver.reached(state, times, [state["y"], rebuild(y, joined)])


def _by_adjoint(r: Recorder, solver: Solver, slope: Slope, y: Any, times: Var) -> Any:
    """The same, with cotangents ``a`` from ``da/dt = -aᵀ ∂f/∂y``, back from each time to the last.

    Those of what ``f`` reads are integrals of ``aᵀ ∂f/∂θ``.
    Source: Chen, Rubanova, Bettencourt and Duvenaud, Neural Ordinary Differential Equations (2018).
    """
    b, y, times = r.b, rebuild(y, Copy()), Copy()(times)
    start, own = len(b.vars), {x.slot for x in (*leaves(y), times)}
    _, found = _solved(r, solver, slope, y, times)
    read = [x for x in reads(leaves(found), start) if x.type.differentiable and x.slot not in own]

    # Recorded now, for what stands for any cotangents: later what ``f`` reads may be other values'.
    at = rebuild(found, Copy())
    seeds = [stand_in(x) for x in leaves(at)]
    recorded = _Adjoint(r, solver, slope, read).cotangents(times, at, seeds)

    def rule(bars: Sequence[Var]) -> Cotangents:
        anew = Retrace(dict(zip([*seeds, *leaves(at)], [*bars, *results], strict=True)))
        return [anew(x) for x in recorded]

    results = ruled(leaves(found), [*leaves(y), times, *read], rule)
    following = iter(results)
    return rebuild(found, lambda _: next(following))


@dataclass(frozen=True, slots=True)
class _Adjoint:
    """The adjoint equation, whose state are a value and its cotangents, and those of ``read``."""

    r: Recorder
    solver: Solver
    slope: Slope
    read: Sequence[Var]

    def cotangents(self, times: Var, solved: Any, seeds: Sequence[Var]) -> list[Var]:
        """Those of the first value, of the times, and of ``read``."""
        r, length = self.r, times.shape[0]
        later = rebuild([times, solved, [*seeds]], lambda x: sliced(x, 0, 1, length))
        before = rebuild([times, solved], lambda x: sliced(x, 0, 0, length - 1))
        between = r.operation("stack", [later[0], before[0]], 1)
        begun = rebuild([solved, [*seeds]], lambda x: picked(x, 0, 0))
        zeros = [rebuild(x, lambda x: r.b.full(0, x.type)) for x in (begun[1], [*self.read])]
        carry, moved = repeat(
            r, zeros, self._interval, rows=flipped(r, [between, before[1], *later[1:]])
        )
        bars, sums = carry
        of_times = r.operation("expand_dims", -self._moved(bars, begun[0], picked(times, 0, 0)), 0)
        if moved is not None:
            of_times = r.operation("concatenate", [of_times, flipped(r, moved)])
        return [*_added(bars, begun[1]), r.b.cast(of_times, times.dtype), *sums]

    def _interval(self, number: Any, carry: Any, row: Any) -> tuple[Any, Any]:
        """Back from one time to the one before it; what moves as the later one does."""
        times, before, y, seeds = row
        bars, sums = carry
        state = {"y": y, "bars": _added(bars, seeds), "sums": sums}
        ended, _ = _solved(self.r, self.solver, self._backward, state, times)
        moved = self._moved(seeds, y, picked(times, 0, 0))
        off = self._squares(map(sub, leaves(ended["y"]), leaves(before)))
        most = 0.01 * self._squares([*leaves(before), *leaves(y)])
        near = self.r.operation("less_equal", off, most)
        found = rebuild([ended["bars"], ended["sums"]], lambda x: _FOUND_AGAIN(x, near))
        return found, moved

    def _squares(self, xs: Iterable[Var]) -> Var:
        """The sum of the squares of all elements."""
        do = self.r.operation
        total: Var = reduce(partial(do, "add"), [do("sum", do("square", do("abs", x))) for x in xs])
        return total

    def _backward(self, state: Any, now: Var) -> Any:
        """The slope of the state."""
        begun, again = rebuild(state["y"], Copy()), [Copy()(x) for x in self.read]
        moves, sources = self.slope(begun, now), [*leaves(begun), *again]
        anew = Retrace(dict(zip([*leaves(begun), *self.read], sources, strict=True)))
        targets = [anew(x) for x in leaves(moves)]
        found = iter(pullback(self.r.b, targets, state["bars"], sources))

        def opposite(x: Var) -> Var:
            bar = next(found)
            return self.r.b.full(0, x.type) if bar is None else -bar

        return {"y": moves, **rebuild({k: state[k] for k in ("bars", "sums")}, opposite)}

    def _moved(self, bars: Sequence[Var], y: Any, now: Var) -> Var:
        """The product of cotangents with the slope."""
        do, pairs = self.r.operation, zip(bars, leaves(self.slope(y, now)), strict=True)
        moved: Var = reduce(partial(do, "add"), [do("real", do("vdot", *pair)) for pair in pairs])
        return moved


def _added(xs: Sequence[Var], ys: Sequence[Var]) -> list[Var]:
    return [x + y for x, y in zip(xs, ys, strict=True)]


#: Called as ``function(recorder, *args, **named)``.
ODES: dict[str, Callable[..., Any]] = {
    "odeint": odeint,
    "jax.experimental.ode.odeint": _odeint_of_jax,
    "scipy.integrate.odeint": _odeint_of_scipy,
    "torchdiffeq.odeint": _odeint_of_torch,
    "torchdiffeq.odeint_adjoint": _adjoint_of_torch,
}
