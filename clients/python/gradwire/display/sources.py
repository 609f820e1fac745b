"""The gradients of sources, marked as vanishing, exploding or not finite."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradwire.display.figures import Summary, summary
from gradwire.display.request_view import RequestView
from gradwire.display.rows import rows
from gradwire.results import Gradient
from gradwire.trees import MISSING

#: The factor to the median from which a gradient is vanishing or exploding.
OUTLYING = 1e3

VANISHING, EXPLODING, BROKEN = "vanishing", "exploding", "not finite"


@dataclass(frozen=True, slots=True)
class SourceGradient:
    """A source's gradient."""

    path: str
    leaf: Any
    stats: Summary

    @property
    def rms(self) -> float:
        """The size of an element, as root mean square; NaN where one is not finite."""
        return math.nan if self.stats.nonfinite else self.stats.norm / math.sqrt(self.stats.size)


def sources(gradients: Any) -> list[SourceGradient]:
    """The gradients of an answer, or of nested arrays, without missing ones."""
    names: Any = MISSING
    if isinstance(gradients, Gradient):
        names = RequestView.of(gradients.raw).names("sources")
        gradients = gradients.gradients
    found = []
    for row in rows({"gradient": gradients}, names):
        leaf = None if row.leaves is None else row.leaves["gradient"]
        stats = None if leaf is None else summary(leaf)
        if stats is not None and stats.size:
            found.append(SourceGradient(row.path or "source", leaf, stats))
    return found


def marks(found: Sequence[SourceGradient]) -> list[str]:
    """A mark for each gradient, relative to the median of the non-zero ones."""
    sizes = [source.rms for source in found if source.rms > 0]
    median = float(np.median(sizes)) if sizes else 0.0
    return [_mark(source.rms, median) for source in found]


def _mark(rms: float, median: float) -> str:
    if math.isnan(rms):
        return BROKEN
    if rms == 0 or rms * OUTLYING < median:
        return VANISHING
    return EXPLODING if rms > OUTLYING * median else ""
