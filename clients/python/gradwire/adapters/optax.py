"""Optax: training loops of functions that a service differentiates.

>>> for params, value in gradwire.adapters.optax.steps(loss, params, optax.adam(1e-2), batches):
...     print(value)

The gradients of ``gradwire.value_and_grad`` go into an optimiser as they are, so a loop of one's
own needs no adapter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from gradwire.adapters.requirements import blocking_client, needs
from gradwire.hidden import check_hides_nothing
from gradwire.tracing import transforms
from gradwire.tracing.functions import Runs

with needs("optax"):
    import jax
    import jax.numpy as jnp
    import optax

    from gradwire.adapters import jax as gradwire_jax


class Step(NamedTuple):
    """The result of a step."""

    #: After the step, as JAX's arrays.
    params: Any
    #: The loss before it.
    value: Any


def steps(
    f: Callable[..., Any],
    params: Any,
    optimizer: Any,
    batches: Iterable[Sequence[Any]],
    *,
    client: Runs | None = None,
) -> Iterator[Step]:
    """A step for each batch of further arguments: one request, for the loss with its gradient.

    ``params`` are nested NumPy's or JAX's arrays. Optimisers that search along a line ask for
    values in between.
    """
    derive = transforms.value_and_grad(f, client=blocking_client(f, client))
    values = gradwire_jax.function(f, client=client)
    inner = optax.with_extra_args_support(optimizer)

    def updated(params: Any, state: Any, value: Any, gradients: Any, batch: Any) -> tuple[Any, Any]:
        updates, state = inner.update(
            gradients,
            state,
            params,
            value=value,
            grad=gradients,
            value_fn=lambda moved: values(moved, *batch),
        )
        return optax.apply_updates(params, updates), state

    update = jax.jit(updated)
    for leaf in jax.tree.leaves(params):
        check_hides_nothing(leaf, "params")
    params = jax.tree.map(jnp.asarray, params)
    state = inner.init(params)
    for batch in batches:
        value, gradients = derive(params, *batch)
        params, state = update(params, state, value, gradients, tuple(batch))
        yield Step(params, value)
