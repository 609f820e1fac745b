"""Counters and histograms that cost a request next to nothing.

They are written to from the event loop or any thread, and read while that goes on, without a lock
on the way: each writes by one operation that the interpreter does not interrupt.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from itertools import accumulate

import numpy as np
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

#: Bounds of the histograms: from a cached scalar replay to the longest request.
SECONDS = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 60.0)

#: Durations that wait to be put in buckets.
_MOST_OBSERVED = 1024


class Tally(Collector):
    """A counter by labels, counted only from the event loop."""

    def __init__(self, name: str, documentation: str, *labels: str) -> None:
        self._described = name, documentation
        self._labels = labels
        self.counts = Counter[tuple[str | int, ...]]()

    def collect(self) -> Iterator[CounterMetricFamily]:
        """The counts, each under its labels."""
        family = CounterMetricFamily(*self._described, labels=self._labels)
        for labels, times in sorted(dict(self.counts).items()):
            family.add_metric([str(label) for label in labels], times)
        yield family


class Buckets:
    """Durations of a few kinds, all observed at once.

    They are put in their buckets many at a time, which takes a tenth of the time.
    """

    def __init__(self, kinds: int = 1) -> None:
        self._observed = deque[Sequence[float]]()
        self._counts = np.zeros((kinds, len(SECONDS) + 1), np.int64)
        self._sums = np.zeros(kinds)
        self._sorting = threading.Lock()

    def observe(self, seconds: Sequence[float]) -> None:
        """Count one duration of each kind."""
        self._observed.append(seconds)
        if len(self._observed) >= _MOST_OBSERVED and self._sorting.acquire(blocking=False):
            try:
                self._sort()
            finally:
                self._sorting.release()

    def read(self) -> Iterator[tuple[list[int], float]]:
        """The counts of each kind by bucket, and their sum."""
        with self._sorting:
            self._sort()
            counts, sums = self._counts.tolist(), self._sums.tolist()
        return zip(counts, sums, strict=True)

    def _sort(self) -> None:
        number = len(self._observed)  # those that come meanwhile wait for the next time
        if not number:
            return
        observed = np.array([self._observed.popleft() for _ in range(number)])
        self._sums += observed.sum(0)
        for kind, durations in enumerate(observed.T):
            buckets = np.searchsorted(SECONDS, durations)
            self._counts[kind] += np.bincount(buckets, minlength=len(SECONDS) + 1)


class Durations(Collector):
    """Histograms by one label, whose values that belong together are observed at once."""

    def __init__(self, name: str, documentation: str, *labels: str) -> None:
        self._described = name, documentation
        self._labels = labels
        self._buckets = dict[tuple[str, ...], Buckets]()

    def of(self, *values: str) -> Buckets:
        """The buckets of these values of the label, or without a label, of all."""
        buckets = self._buckets.get(values)
        if buckets is None:
            buckets = self._buckets.setdefault(values, Buckets(len(values) or 1))
        return buckets

    def collect(self) -> Iterator[HistogramMetricFamily]:
        """The histograms, their buckets cumulative."""
        family = HistogramMetricFamily(*self._described, labels=self._labels)
        bounds = [*map(str, SECONDS), "+Inf"]
        for values, buckets in sorted(dict(self._buckets).items()):
            named: list[Sequence[str]] = [(value,) for value in values] or [()]
            for labels, (counts, total) in zip(named, buckets.read(), strict=True):
                cumulative = list(zip(bounds, accumulate(counts), strict=True))
                family.add_metric(labels, cumulative, total)
        yield family
