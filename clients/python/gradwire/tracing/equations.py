"""Solutions of differential equations, as terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradwire.tracing.bodies import Nest, body_of, check_carry, written
from gradwire.tracing.recorded import recording
from gradwire.tracing.tracer import Tracer
from gradwire.tracing.traces import not_traceable


def solution(f: Callable[..., Any], options: Mapping[str, Any], y0: Any, t: Any, *args: Any) -> Any:
    """``y`` at the times ``t``, stacked, where ``dy/dt = f(y, t, *args)`` and ``y(t[0]) = y0``."""
    trace = recording()
    t = t if isinstance(t, Tracer) else np.asarray(t)
    if np.ndim(t) != 1:
        raise not_traceable(
            f"times have one axis, got an array of shape {np.shape(t)}",
            "a solution is given at all times of an array that begins with that of y0",
        )
    y, times = Nest(trace, y0), Nest(trace, t)
    given = [Nest(trace, arg) for arg in args]
    slope, returned = body_of(trace, f, [y, Nest(trace, t, rows=True), *given])
    check_carry(returned, y)
    terms = [nest.term for nest in (y, times, *given)]
    return y.read(written("odeint", slope, *terms, options=options), (len(times.leaves[0]),))
