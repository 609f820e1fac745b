"""``/metrics``: written by a thread, without figures that the store does not give in time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from urllib.parse import urlsplit

from prometheus_client import Gauge, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from gradwire_service.problems import RequestError
from gradwire_service.telemetry.metrics import Metrics

logger = logging.getLogger("gradwire")

#: Time that the store may take to count its records.
STORE_SECONDS = 0.5


class _Records(Collector):
    """The number of records in the store, where it is known."""

    def __init__(self) -> None:
        self.numbers: Mapping[str, int] = {}

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The numbers by kind; nothing where the store did not answer."""
        family = GaugeMetricFamily("gradwire_records", "Records held, by kind.", labels=["kind"])
        for kind, number in self.numbers.items():
            family.add_metric([kind], number)
        if family.samples:
            yield family


class Exposition:
    """Prometheus' text format, with the number of records where the store answers in time.

    ``count`` gives the number of records by kind, and may block: one thread calls it, and all
    requests for metrics meanwhile wait for the same answer. ``dask`` is the address of a scheduler,
    which is to accept a connection in the same time.
    """

    def __init__(
        self,
        metrics: Metrics,
        count: Callable[[], Mapping[str, int]],
        store_seconds: float = STORE_SECONDS,
        dask: str = "",
    ) -> None:
        self.registry = metrics.registry
        self._count = count
        self._store_seconds = store_seconds
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="gradwire-metrics")
        self._counter = ThreadPoolExecutor(1, thread_name_prefix="gradwire-records")
        self._counting: Future[Mapping[str, int]] | None = None
        self._records = _Records()
        self.registry.register(self._records)
        self._tasks = Gauge("gradwire_tasks", "Tasks of the event loop.", registry=self.registry)
        address = urlsplit(dask)
        self._dask = address.hostname, address.port
        text = "1 while the scheduler of the Dask cluster accepts connections."
        self._dask_up = Gauge("gradwire_dask_up", text, registry=self.registry) if dask else None

    async def text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        self._tasks.set(len(asyncio.all_tasks()))
        if self._dask_up is not None:
            self._dask_up.set(await self._accepts())
        self._records.numbers = await self._counted()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._writer, generate_latest, self.registry)

    def close(self) -> None:
        """End the threads."""
        for threads in self._writer, self._counter:
            threads.shutdown(wait=False, cancel_futures=True)

    async def _accepts(self) -> bool:
        """True if the scheduler accepts a connection."""
        try:
            async with asyncio.timeout(self._store_seconds):
                _, writer = await asyncio.open_connection(*self._dask)
        except OSError:  # among them that it took too long
            return False
        writer.close()
        return True

    async def _counted(self) -> Mapping[str, int]:
        if self._counting is None:
            self._counting = self._counter.submit(self._try_count)
        counting = self._counting
        await asyncio.wait([asyncio.wrap_future(counting)], timeout=self._store_seconds)
        if not counting.done():
            return {}
        if self._counting is counting:
            self._counting = None
        return counting.result()

    def _try_count(self) -> Mapping[str, int]:
        try:
            return self._count()
        except RequestError:  # which the store has logged itself
            return {}
        except Exception as error:  # all other metrics are given all the same
            logger.warning("the records in the store could not be counted", exc_info=error)
            return {}
