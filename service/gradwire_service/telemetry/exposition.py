"""The metrics as they are read: by threads, and without what cannot be had in time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

from prometheus_client import Gauge, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from gradwire_service.problems import Refusal
from gradwire_service.telemetry.metrics import Metrics

logger = logging.getLogger("gradwire")

#: How long the store may take to tell what it holds.
STORE_SECONDS = 0.5


class _Records(Collector):
    """How many records are held, as far as that is known."""

    def __init__(self) -> None:
        self.held: Mapping[str, int] = {}

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The numbers by kind; nothing where the store did not tell them."""
        family = GaugeMetricFamily("gradwire_records", "Records held, by kind.", labels=["kind"])
        for kind, number in self.held.items():
            family.add_metric([kind], number)
        if family.samples:
            yield family


class Exposition:
    """Prometheus' text, written by a thread; with what is held, where the store tells in time.

    ``held`` gives the number of records by kind, and may block: one thread asks, and whoever comes
    meanwhile waits for the same answer.
    """

    def __init__(
        self,
        metrics: Metrics,
        held: Callable[[], Mapping[str, int]],
        store_seconds: float = STORE_SECONDS,
    ) -> None:
        self.registry = metrics.registry
        self._held = held
        self._store_seconds = store_seconds
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="gradwire-metrics")
        self._asker = ThreadPoolExecutor(1, thread_name_prefix="gradwire-records")
        self._asked: Future[Mapping[str, int]] | None = None
        self._records = _Records()
        self.registry.register(self._records)
        self._tasks = Gauge("gradwire_tasks", "Tasks of the event loop.", registry=self.registry)

    async def text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        await self.refresh()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._writer, generate_latest, self.registry)

    async def refresh(self) -> None:
        """Find what is told only when it is asked for."""
        self._tasks.set(len(asyncio.all_tasks()))
        self._records.held = await self._told()

    def close(self) -> None:
        """Let the threads end."""
        for threads in self._writer, self._asker:
            threads.shutdown(wait=False, cancel_futures=True)

    async def _told(self) -> Mapping[str, int]:
        if self._asked is None:
            self._asked = self._asker.submit(self._ask)
        asked = self._asked
        await asyncio.wait([asyncio.wrap_future(asked)], timeout=self._store_seconds)
        if not asked.done():
            return {}
        if self._asked is asked:
            self._asked = None
        return asked.result()

    def _ask(self) -> Mapping[str, int]:
        try:
            return self._held()
        except Refusal:  # of which the store has told itself
            return {}
        except Exception as error:  # whatever ails a store, the rest is told
            logger.warning("the records in the store could not be counted", exc_info=error)
            return {}
