"""How often each program of a catalogue is requested."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: Programs of so low a rank have a class of their own; later ones share one with their neighbours.
_EXACT = 10_000
#: The ratio of the first ranks of two neighbouring classes after those.
_GROWTH = 1.02


class Popularity(NamedTuple):
    """Classes of programs: ``counts[i]`` of them, from number ``starts[i]`` on, are requested with
    probability ``chances[i]`` each.
    """

    starts: NDArray[np.int64]
    counts: Floats
    chances: Floats

    @property
    def size(self) -> float:
        """The number of programs."""
        return float(self.counts.sum())

    def draw(self, number: int, random: np.random.Generator) -> NDArray[np.int64]:
        """The programs of so many independent requests."""
        until = np.cumsum(self.chances * self.counts)
        uniform = random.random(number) * until[-1]
        which = np.minimum(np.searchsorted(until, uniform, side="right"), len(until) - 1)
        within = (random.random(number) * self.counts[which]).astype(np.int64)
        drawn: NDArray[np.int64] = self.starts[which] + within
        return drawn

    def shard(self, parts: float, popular: float) -> Popularity:
        """What one of so many equal parts of a fleet sees; its rate is ``1 / parts`` of all.

        Programs that are requested with a probability of more than ``popular`` need several
        replicas: each part has its share of their requests. Of all others it has its share of the
        programs, of similar ranks.
        """
        shared = self.chances > popular
        single = ~shared & (self.counts == 1)
        # Of consecutive programs, those at which the number of parts passed becomes a whole one.
        chosen = np.floor((self.starts + 0.5 * parts) / parts) > np.floor(
            (self.starts - 1 + 0.5 * parts) / parts
        )
        counts = np.where(shared | single, 1.0, np.maximum(np.rint(self.counts / parts), 1))
        kept = ~single | chosen
        chances = np.where(shared, self.chances / parts, self.chances)[kept]
        weights = chances * counts[kept]
        return Popularity(self.starts[kept], counts[kept], chances / weights.sum())


def zipf(size: int, exponent: float) -> Popularity:
    """The program of rank k of ``size`` is requested with probability ``k^-s / Σ j^-s``."""
    exact = min(size, _EXACT)
    steps = int(np.log(max(size / exact, 1)) / np.log(_GROWTH)) + 2
    bounds = np.unique(np.rint(np.geomspace(exact + 1, size + 1, steps)).astype(np.int64))
    starts = np.concatenate([np.arange(1, exact + 1), bounds[:-1]])
    ends = np.append(starts[1:], size + 1)
    counts = (ends - starts).astype(np.float64)
    weights = (0.5 * (starts + ends - 1)) ** -exponent
    return Popularity(starts, counts, weights / (weights * counts).sum())
