"""emcee's samplers: the log-probabilities of a whole ensemble of walkers in one request.

>>> log_probability = gradwire.adapters.emcee.Ensemble(f, like={"m": 0.0, "log_s": 0.0})
>>> start = log_probability.around(0.1, walkers=32, rng=np.random.default_rng(0))
>>> sampler = emcee.EnsembleSampler(*start.shape, log_probability, vectorize=True, args=[x, y])
>>> sampler.run_mcmc(start, 1000)
>>> samples = log_probability.nested(sampler.get_chain(flat=True))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradwire.adapters.raveling import Raveled
from gradwire.adapters.requirements import blocking_client
from gradwire.tracing import transforms
from gradwire.tracing.functions import Function, Runs, inline_of


class Ensemble:
    """A log-probability of nested parameters as one of many walkers' positions, one in each row.

    ``like`` is an example of the parameters; further arguments are the same for all walkers.
    """

    def __init__(self, f: Callable[..., Any], like: Any, *, client: Runs | None = None) -> None:
        self._raveled = Raveled(like)

        def each(positions: Any, *args: Any) -> Any:
            def value(position: Any) -> Any:
                return inline_of(f)(self.nested(position), *args)

            return transforms.vmap(value)(positions)

        self._each: Function[..., Any] = Function(f, blocking_client(f, client), inline=each)

    def __call__(self, positions: NDArray[Any], *args: Any) -> NDArray[Any]:
        """The log-probability of each row."""
        values: NDArray[Any] = self._each(positions, *args)
        return values

    def around(
        self, width: float, *, walkers: int, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Positions to start from: normal around the example, with this standard deviation."""
        middle = self._raveled.vector
        return middle + width * rng.normal(size=(walkers, len(middle)))

    def nested(self, positions: NDArray[Any]) -> Any:
        """The parameters that positions stand for, nested as the example, each with axes before."""
        return self._raveled.nested(positions)
