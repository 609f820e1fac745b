"""The service's metrics; there is a method for each event that is counted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from platform import python_version

import numpy as np
from prometheus_client import CollectorRegistry, Gauge, Info, ProcessCollector

from gradwire_service import __version__
from gradwire_service.problems import KINDS
from gradwire_service.telemetry.collectors import Histograms, LabelledCounter
from gradwire_service.telemetry.request_stats import PHASES

#: Methods as labels; any other is ``other``.
METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
#: Statuses of requests beyond a limit or without permission, whatever they asked for.
_REJECTED = frozenset({401, 403, 408, 413, 414, 429, 431, 503, 504})


class Metrics:
    """The service's metrics, in a registry of their own."""

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()

        def counter(
            name: str, documentation: str, *labels: str, known: Iterable[str] = ()
        ) -> LabelledCounter:
            collector = LabelledCounter(name, documentation, *labels, known=known)
            registry.register(collector)
            return collector

        def histograms(name: str, documentation: str, *labels: str) -> Histograms:
            collector = Histograms(name, documentation, *labels)
            registry.register(collector)
            return collector

        self._requests = counter(
            "gradwire_requests",
            "Requests answered, by route, method and status.",
            *("route", "method", "status"),
        )
        self._request_seconds = histograms(
            "gradwire_request_seconds", "Time from a request's head to its answer.", "route"
        )
        self._problems = counter(
            "gradwire_problems", "Requests refused, by code.", "code", known=KINDS
        )
        self._rejected = counter(
            "gradwire_rejected",
            "Requests turned away for the load, a limit, the time or a missing right.",
            "reason",
            known=[code for code, kind in KINDS.items() if kind.status in _REJECTED],
        )
        self._cancelled = counter("gradwire_cancelled", "Requests whose client went away.")
        self._cache = counter(
            "gradwire_executable_cache",
            "Computations whose executable was cached (hit) or had to be made (miss).",
            "outcome",
        )
        self._tapes = counter(
            "gradwire_tape_values",
            "Questions about tapes whose values were kept here (kept) or computed anew (remade).",
            "outcome",
        )
        self._nonfinite = counter(
            "gradwire_nonfinite",
            "Answers with a value (forward) or gradient (backward) that is not finite.",
            "direction",
        )
        self._joint = counter("gradwire_joint", "Computations by a replay that others shared.")
        self._shared = counter(
            "gradwire_joint_replays", "Replays that several computations shared."
        )
        self._compile_seconds = counter(
            "gradwire_machine_code_seconds", "Processor time of compiling to machine code."
        )
        self._kernels = counter(
            "gradwire_kernels",
            "Kernels that workers wanted as machine code: compiled, failed, cached, or postponed "
            "because the tenant had compiled as much as it may.",
            "outcome",
            known=("compiled", "failed", "cached", "postponed"),
        )
        self._gpu_replays = counter("gradwire_gpu_replays", "Computations on the GPU.")
        self._gpu_hosted = counter(
            "gradwire_gpu_host_operations",
            "Operations of computations on the GPU that ran on the host.",
        )
        self._gpu_lost = counter(
            "gradwire_gpu_lost", "Ends of the GPU's process: killed, crashed, or without a GPU."
        )
        self._jobs = counter(
            "gradwire_jobs",
            "Jobs that have ended, by state.",
            "state",
            known=("succeeded", "failed", "cancelled"),
        )
        self._job_progress = counter(
            "gradwire_job_progress", "Reports of progress by optimisations in worker processes."
        )
        self._workers_ended = counter(
            "gradwire_workers_ended",
            "Ends of worker processes: killed by the service, by the system (memory), or crashed.",
            "reason",
            known=("killed", "memory", "crashed"),
        )
        self._store_seconds = histograms(
            "gradwire_store_seconds", "Time of a call of the store.", "operation"
        )
        phases = histograms(
            "gradwire_phase_seconds", "Duration of the phases of a computation.", "phase"
        )
        self._phases = phases.of(*PHASES)
        waits = histograms("gradwire_queue_wait_seconds", "Time that work waited for a thread.")
        self._waits = waits.of()
        ProcessCollector(registry=registry)
        versions = {"version": __version__, "python": python_version(), "numpy": np.__version__}
        Info("gradwire_build", "What runs here.", registry=registry).info(versions)
        self._gauge("gradwire_threads", "Python threads.").set_function(threading.active_count)

    def watch_load(self, in_flight: Callable[[], int], queued: Callable[[], int]) -> None:
        """Add gauges of computations."""
        self._gauge("gradwire_in_flight", "Computations under way.").set_function(in_flight)
        self._gauge("gradwire_queued", "Computations in the pool.").set_function(queued)

    def tell_machine_code(self, *, compiled: bool) -> None:
        """Add a gauge of whether programs are compiled to machine code."""
        text = "1 where worker processes compile programs to machine code."
        self._gauge("gradwire_machine_code", text).set(compiled)

    def watch_gpu(self, used_bytes: Callable[[], int]) -> None:
        """Add a gauge of the GPU's used memory."""
        text = "Memory of the GPU in use."
        self._gauge("gradwire_gpu_memory_bytes", text).set_function(used_bytes)

    def watch_jobs(self, running: Callable[[], int]) -> None:
        """Add a gauge of optimisations."""
        text = "Optimisations that run or wait."
        self._gauge("gradwire_optimisations", text).set_function(running)

    def watch_connections(self, number: Callable[[], int]) -> None:
        """Add a gauge of open connections."""
        self._gauge("gradwire_connections", "Open connections.").set_function(number)

    def watch_keys(self, number: Callable[[], int], stale: Callable[[], bool]) -> None:
        """Add gauges of API keys and of whether their file can be read."""
        self._gauge("gradwire_keys", "API keys; 0 where none is asked for.").set_function(number)
        gauge = self._gauge("gradwire_keys_stale", "1 while the file of keys cannot be read.")
        gauge.set_function(stale)

    def _gauge(self, name: str, documentation: str) -> Gauge:
        return Gauge(name, documentation, registry=self.registry)

    def answered(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count one response and its duration."""
        self._requests.counts[route, method, status] += 1
        self._request_seconds.of(route).observe((seconds,))

    def refused(self, code: str) -> None:
        """Count one problem."""
        self._problems.counts[code,] += 1
        if KINDS[code].status in _REJECTED:
            self.rejected(code)

    def ended_job(self, state: str) -> None:
        """Count one job that has ended."""
        self._jobs.counts[state,] += 1

    def progressed_job(self) -> None:
        """Count one report of progress by an optimisation."""
        self._job_progress.counts[()] += 1

    def ended_worker(self, reason: str) -> None:
        """Count one end of a worker process."""
        self._workers_ended.counts[reason,] += 1

    def called_store(self, operation: str, seconds: float) -> None:
        """Observe the time of one call of the store; from any thread."""
        self._store_seconds.of(operation).observe((seconds,))

    def rejected(self, reason: str) -> None:
        """Count one rejected request or connection; ``refused`` calls it where it applies."""
        self._rejected.counts[reason,] += 1

    def cancelled(self) -> None:
        """Count one request whose client went away before it was answered."""
        self._cancelled.counts[()] += 1

    def waited(self, seconds: float) -> None:
        """Observe the wait of one computation for an executor; from any thread."""
        self._waits.observe((seconds,))

    def computed(self, seconds: Sequence[float], *, cached: bool) -> None:
        """Count one computation and the durations of its phases."""
        self._phases.observe(seconds)
        self._cache.counts["hit" if cached else "miss",] += 1

    def computed_on_gpu(self, hosted: int) -> None:
        """Count one computation on the GPU, and its operations that ran on the host."""
        self._gpu_replays.counts[()] += 1
        self._gpu_hosted.counts[()] += hosted

    def lost_gpu(self) -> None:
        """Count one end of the GPU's process."""
        self._gpu_lost.counts[()] += 1

    def joined(self, computations: int) -> None:
        """Count one replay and the computations that shared it."""
        self._shared.counts[()] += 1
        self._joint.counts[()] += computations

    def asked_tape(self, *, kept: bool) -> None:
        """Count one request about a tape."""
        self._tapes.counts["kept" if kept else "remade",] += 1

    def nonfinite(self, directions: Iterable[str]) -> None:
        """Count one answer that is not finite, in these directions."""
        self._nonfinite.counts.update((direction,) for direction in directions)

    def found_code(self, cached: int, postponed: int) -> None:
        """Count kernels that workers asked for; for one thread at a time, as the next."""
        self._kernels.counts["cached",] += cached
        self._kernels.counts["postponed",] += postponed

    def compiled_code(self, kernels: int, seconds: float) -> None:
        """Count kernels that a worker compiled, none where it failed."""
        self._compile_seconds.counts[()] += seconds  # type: ignore[assignment]
        self._kernels.counts["compiled" if kernels else "failed",] += kernels or 1
