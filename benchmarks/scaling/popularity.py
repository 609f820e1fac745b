"""How often each program of a catalogue is requested: Zipf's law."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Programs of so low a rank have a class of their own; later ones share one with their neighbours.
_EXACT = 10_000
#: The ratio of the first ranks of two neighbouring classes after those.
_GROWTH = 1.02


class Zipf:
    """The program of rank k is requested with probability ``k^-s / Σ j^-s``, of ``size`` programs.

    Programs of neighbouring ranks are a class: ``counts[i]`` programs of probability
    ``chances[i]`` each.
    """

    def __init__(self, size: int, exponent: float) -> None:
        self.size = size
        self.exponent = exponent
        exact = min(size, _EXACT)
        steps = int(np.log(max(size / exact, 1)) / np.log(_GROWTH)) + 2
        bounds = np.unique(np.rint(np.geomspace(exact + 1, size + 1, steps)).astype(np.int64))
        self._starts = np.concatenate([np.arange(1, exact + 1), bounds[:-1]])
        ends = np.append(self._starts[1:], size + 1)
        self.counts = (ends - self._starts).astype(np.float64)
        weights = (0.5 * (self._starts + ends - 1)) ** -exponent
        self.chances = weights / (weights * self.counts).sum()
        self._until = np.cumsum(self.chances * self.counts)

    def draw(self, number: int, random: np.random.Generator) -> NDArray[np.int64]:
        """The ranks of so many independent requests."""
        uniform = random.random(number) * self._until[-1]
        which = np.minimum(np.searchsorted(self._until, uniform, side="right"), len(self.counts) - 1)
        within = (random.random(number) * self.counts[which]).astype(np.int64)
        drawn: NDArray[np.int64] = self._starts[which] + within
        return drawn
