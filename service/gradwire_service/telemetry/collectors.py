"""Counters and histograms without locks, for figures of every request.

They may be read from any thread while others write: a write is one atomic operation of the
interpreter. The client library's own cost a request 4 to 7 µs more.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

import numpy as np
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

#: Bounds of the buckets: from the replay of a cached scalar program to the longest request.
SECONDS = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 60.0)

#: Observations that are put in buckets together.
_BATCH = 1024


class LabelledCounter(Collector):
    """A counter by labels, counted only from the event loop.

    Known values of its label are 0 from the start: Prometheus sees no increase in a series that
    begins with 1.
    """

    def __init__(
        self, name: str, documentation: str, *labels: str, known: Iterable[str] = ()
    ) -> None:
        self._described = name, documentation
        self._labels = labels
        first: Iterable[tuple[str | int, ...]] = [(value,) for value in known] if labels else [()]
        self.counts = Counter(dict.fromkeys(first, 0))

    def collect(self) -> Iterator[CounterMetricFamily]:
        """The counts by labels."""
        family = CounterMetricFamily(*self._described, labels=self._labels)
        for labels, times in sorted(dict(self.counts).items()):
            family.add_metric([str(label) for label in labels], times)
        yield family


class Buckets:
    """Durations of a few kinds that are observed together.

    They are put in buckets in batches, which takes a tenth of the time.
    """

    def __init__(self, kinds: int = 1) -> None:
        self._observed = deque[Sequence[float]]()
        self._counts = np.zeros((kinds, len(SECONDS) + 1), np.int64)
        self._sums = np.zeros(kinds)
        self._sorting = threading.Lock()

    def observe(self, seconds: Sequence[float]) -> None:
        """Observe one duration of each kind."""
        self._observed.append(seconds)
        if len(self._observed) >= _BATCH and self._sorting.acquire(blocking=False):
            try:
                self._sort()
            finally:
                self._sorting.release()

    def read(self) -> Iterator[tuple[list[int], float]]:
        """The counts by bucket and the sum, of each kind."""
        with self._sorting:
            self._sort()
            counts, sums = self._counts.tolist(), self._sums.tolist()
        return zip(counts, sums, strict=True)

    def _sort(self) -> None:
        number = len(self._observed)  # those that arrive meanwhile are for the next batch
        if not number:
            return
        observed = np.array([self._observed.popleft() for _ in range(number)])
        self._sums += observed.sum(0)
        for kind, durations in enumerate(observed.T):
            buckets = np.searchsorted(SECONDS, durations)
            self._counts[kind] += np.bincount(buckets, minlength=len(SECONDS) + 1)


class Histograms(Collector):
    """Histograms of durations by one label; values of it may be observed together."""

    def __init__(self, name: str, documentation: str, *labels: str) -> None:
        self._described = name, documentation
        self._labels = labels
        self._buckets = dict[tuple[str, ...], Buckets]()

    def of(self, *values: str) -> Buckets:
        """The buckets of these values of the label, or of a histogram without one."""
        buckets = self._buckets.get(values)
        if buckets is None:
            buckets = self._buckets.setdefault(values, Buckets(len(values) or 1))
        return buckets

    def collect(self) -> Iterator[HistogramMetricFamily]:
        """The histograms, with cumulative buckets."""
        family = HistogramMetricFamily(*self._described, labels=self._labels)
        bounds = [*map(str, SECONDS), "+Inf"]
        for values, buckets in sorted(dict(self._buckets).items()):
            named: list[Sequence[str]] = [(value,) for value in values] or [()]
            for labels, (counts, total) in zip(named, buckets.read(), strict=True):
                cumulative = list(zip(bounds, accumulate(counts), strict=True))
                family.add_metric(labels, cumulative, total)
        yield family
