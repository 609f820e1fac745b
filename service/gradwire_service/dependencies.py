"""Dependencies of the routes, created once by the application."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import NamedTuple

from gradwire_service.engines import Engines
from gradwire_service.references import ReferenceResolver
from gradwire_service.scheduling import Capacity, Placement
from gradwire_service.settings import Settings
from gradwire_service.store import Store
from gradwire_service.telemetry import Metrics


class Dependencies(NamedTuple):
    """The shared objects of an application."""

    engines: Engines
    store: Store
    resolver: ReferenceResolver
    capacity: Capacity
    placement: Placement
    metrics: Metrics
    settings: Settings
    #: Tells the time, for intervals.
    clock: Callable[[], float] = monotonic
