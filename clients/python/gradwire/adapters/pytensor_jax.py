"""PyTensor's JAX backend: importing this lets it compile functions that a service evaluates.

So PyMC samples by NumPyro and BlackJAX, which differentiate what PyTensor gives them:

>>> import gradwire.adapters.pytensor_jax
>>> pm.sample(nuts_sampler="numpyro")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwire.adapters.jax import request
from gradwire.adapters.pytensor import _GradientOp, _RoutineOp
from gradwire.adapters.requirements import needs

with needs("pytensor"):
    from pytensor.link.jax.dispatch import jax_funcify


# PyTensor's dispatch passes the node and its storage by name to every function; none needs them.
def _compiled(op: _RoutineOp, **_: Any) -> Callable[..., Any]:
    def requested(*arrays: Any) -> Any:
        results = request(op.routine, *arrays)
        return results[0] if len(results) == 1 else tuple(results)

    return requested


def _compiled_with_gradient(op: _GradientOp, **_: Any) -> Callable[..., Any]:
    """JAX differentiates the number by itself, and drops the unused request."""

    def requested(*arrays: Any) -> Any:
        return *request(op.number, *arrays), *request(op.routine, *arrays)[1:]

    return requested


jax_funcify.register(_RoutineOp)(_compiled)
jax_funcify.register(_GradientOp)(_compiled_with_gradient)
