"""The problems' texts as Python, with another library's arrays: what the engine has no part in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from solvers.problems import SOURCE, Array, Limit, Problem

_NAMES = "abs arctan cos cumsum exp log mean pi prod sin sqrt stack sum where zeros".split()


def names(xp: Any) -> dict[str, Any]:
    """The functions that texts call, of NumPy or a library that has the same."""

    def concatenate(parts: Any) -> Any:
        return xp.concatenate([xp.asarray(part) for part in parts])

    return {name: getattr(xp, name) for name in _NAMES} | {"concatenate": concatenate}


def function(problem: Problem, text: str, xp: Any) -> Callable[[Any], Any]:
    """The function of ``x`` that a text of a problem is: its last line is what it gives."""
    lines = problem.text_of(text).split("\n")
    starts = [i for i, line in enumerate(lines) if line and line[0] not in " ])"]
    last = "\n".join(lines[starts[-1] :])
    if problem.form == "squares" or text != problem.text:
        last = last.removeprefix("r = ")
    code = "\n".join([*lines[: starts[-1]], f"result = {last}"])
    compiled = compile(code, problem.name, "exec")
    fixed = {
        name: int(value) if isinstance(value, np.integer) else xp.asarray(value, dtype=float)
        for name, value in problem.fixed.items()
    }

    def evaluated(x: Any) -> Any:
        scope = {**names(xp), **fixed, SOURCE: x}
        exec(compiled, scope)
        return xp.asarray(scope["result"], dtype=float)

    return evaluated


class Exact:
    """A problem's values and derivatives by JAX, in float64."""

    def __init__(self, problem: Problem) -> None:
        import jax
        import jax.numpy as jnp

        jax.config.update("jax_enable_x64", True)
        self._problem, self._jax = problem, jax
        text = function(problem, problem.text, jnp)
        is_least = problem.form == "least"
        self._residuals = None if is_least else text
        self._value = text if is_least else lambda x: jnp.sum(text(x) ** 2)
        limits = [function(problem, each.text, jnp) for each in problem.limits]
        self._limits = lambda x: jnp.stack([each(x) for each in limits])

    @cached_property
    def _derivatives(self) -> Mapping[str, Callable[[Array], Any]]:
        jax = self._jax
        return {
            "gradient": jax.jit(jax.grad(self._value)),
            "hessian": jax.jit(jax.hessian(self._value)),
            "jacobian": jax.jit(jax.jacobian(self._residuals or self._value)),
            "residuals": jax.jit(self._residuals or self._value),
            "limits": jax.jit(self._limits),
            "normals": jax.jit(jax.jacobian(self._limits)),
        }

    def __call__(self, what: str, x: Array) -> Array:
        """The gradient, hessian, residuals, jacobian, limits or normals at a point."""
        return np.asarray(self._derivatives[what](x), np.float64)


def violation(limit: Limit, value: float) -> float:
    """How far a value lies outside its limits."""
    low = -np.inf if limit.low is None else limit.low
    high = np.inf if limit.high is None else limit.high
    return max(low - value, value - high, 0.0)
