"""What the routes are made of: each part once, by the application."""

from __future__ import annotations

from typing import NamedTuple

from gradwire_service.engines import Engines
from gradwire_service.library import Library
from gradwire_service.scheduling import Capacity
from gradwire_service.settings import Settings
from gradwire_service.store import Store
from gradwire_service.telemetry import Metrics


class Parts(NamedTuple):
    """The parts of one application."""

    engines: Engines
    store: Store
    library: Library
    capacity: Capacity
    metrics: Metrics
    settings: Settings
