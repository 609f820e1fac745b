"""The metrics as OpenTelemetry has them: the same figures, sent to a collector."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from time import time_ns

from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Gauge,
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.samples import Sample

from gradwire_service import __version__

_SINCE_START = AggregationTemporality.CUMULATIVE


def figures(registry: CollectorRegistry, resource: Resource, started_ns: int) -> MetricsData:
    """What the registry holds now."""
    now = time_ns()
    metrics = [_metric(family, started_ns, now) for family in registry.collect()]
    scope = InstrumentationScope("gradwire", __version__)
    of_scope = ScopeMetrics(scope, metrics, schema_url="")
    return MetricsData([ResourceMetrics(resource, [of_scope], schema_url="")])


def _metric(family: Family, started_ns: int, now: int) -> Metric:
    data: Sum | Gauge | Histogram
    if family.type == "histogram":
        data = Histogram(list(_histograms(family.samples, started_ns, now)), _SINCE_START)
    else:
        points = [
            NumberDataPoint(sample.labels, started_ns, now, sample.value)
            for sample in family.samples
        ]
        data = Sum(points, _SINCE_START, True) if family.type == "counter" else Gauge(points)
    name = family.name + "_info" * (family.type == "info")
    return Metric(name, family.documentation, family.unit, data)


def _histograms(
    samples: Sequence[Sample], started_ns: int, now: int
) -> Iterator[HistogramDataPoint]:
    def labels(sample: Sample) -> list[tuple[str, str]]:
        return sorted((name, value) for name, value in sample.labels.items() if name != "le")

    for of, group in groupby(samples, labels):
        told = list(group)
        buckets = [(one.labels["le"], int(one.value)) for one in told if "le" in one.labels]
        cumulative = [0, *(count for _, count in buckets)]
        yield HistogramDataPoint(
            attributes=dict(of),
            start_time_unix_nano=started_ns,
            time_unix_nano=now,
            count=cumulative[-1],
            sum=next(one.value for one in told if one.name.endswith("_sum")),
            bucket_counts=[after - before for before, after in pairwise(cumulative)],
            explicit_bounds=[float(bound) for bound, _ in buckets[:-1]],
            # Nobody knows, and what is None the encoder leaves out.
            min=None,  # type: ignore[arg-type]
            max=None,  # type: ignore[arg-type]
        )
