"""Solutions of differential equations, as terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradwire.tracing.bodies import Nest, step_of
from gradwire.tracing.tracer import Tracer, term_of
from gradwire.tracing.traces import not_traceable


def solution(f: Callable[..., Any], options: Mapping[str, Any], y0: Any, t: Any, *args: Any) -> Any:
    """``y`` at the times ``t``, stacked, where ``dy/dt = f(y, t, *args)`` and ``y(t[0]) = y0``."""
    t = t if isinstance(t, Tracer) else np.asarray(t)
    if np.ndim(t) != 1:
        raise not_traceable(
            f"times have one axis, got an array of shape {np.shape(t)}",
            "a solution is given at all times of an array that begins with that of y0",
        )
    y, times = Nest(y0), Nest(t)
    given = [Nest(arg) for arg in args]
    slope = step_of(f, [y, Nest(t, rows=True), *given], y)
    terms = [nest.term for nest in (y, times, *given)]
    return y.read(term_of("odeint", slope, *terms, **options), (len(times.leaves[0]),))
