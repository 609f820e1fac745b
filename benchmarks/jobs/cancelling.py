"""How soon the process of a job that is cancelled has nothing to do, on any replica.

Linux reports the states of other processes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic, perf_counter, sleep

import gradwire
import httpx
from measure import Figures, shown, table
from peers.workloads import LOGISTIC
from servers import GRADWIRE, running

from jobs.fits import Observations

MOST_MS = 100.0

_TITLE = "From DELETE of a running job until its process is idle, ms"
#: Steps that never reach anything.
_ENDLESS = {"learning_rate": 1e-12, "maxiter": 10**9}
#: Then a first job starts one process, its own.
_SETTINGS = {"GRADWIRE_JOB_PROCESSES": "1", "GRADWIRE_MACHINE_CODE": "false"}
#: A process is idle once it has slept for so many looks: one that works may wait for a moment.
_LOOKS, _LOOK_SECONDS = 10, 0.001
_PATIENCE_SECONDS = 60.0


def report(*, quick: bool) -> list[str]:
    """Where the job runs, and by way of another replica with the same store."""
    count = 5 if quick else 20
    found = times(Observations(10_000, 100), count)
    rows = []
    for what, figures in found.items():
        most = max(figures)
        verdict = "ok" if most <= MOST_MS else "over"
        rows.append([what, shown(median(figures)), shown(most), f"<= {MOST_MS:g}", verdict])
    return [table(_TITLE, ["", "p50", f"max of {count}", "bar", ""], rows)]


def times(of: Observations, count: int) -> dict[str, Figures]:
    """The milliseconds of some cancellations, by the replica that is asked."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        settings = {**_SETTINGS, "GRADWIRE_STORE": f"sqlite:{folder}/jobs.db"}
        here, there = (
            stack.enter_context(running(GRADWIRE, environment=settings)) for _ in range(2)
        )
        client = stack.enter_context(gradwire.Client(here.url))
        replicas = [stack.enter_context(httpx.Client(base_url=each.url)) for each in (here, there)]
        variables = {"x": client.tensors.put(of.x), "y": client.tensors.put(of.y)}

        def begin() -> str:
            job = client.minimize(
                LOGISTIC,
                {"w": of.start},
                method="sgd",
                options=_ENDLESS,
                variables=variables,
                background=True,
            )

            def is_running() -> bool:
                job.refresh()
                return job.progress is not None

            _wait(is_running, 0.02)
            return job.id

        before = {*here.family()}
        first = begin()
        (process,) = {*here.family()} - before
        cancelled(first, replicas[0], process)
        found: dict[str, Figures] = {"on its replica": [], "by another replica": []}
        for _ in range(count):
            for asked, figures in zip(replicas, found.values(), strict=True):
                figures.append(cancelled(begin(), asked, process))
        return found


def cancelled(job: str, replica: httpx.Client, process: int) -> float:
    """Cancel a job; returns the milliseconds until its process is idle."""
    begin = perf_counter()
    replica.delete(f"/v1/jobs/{job}").raise_for_status()
    return 1e3 * (idle_at(process) - begin)


def idle_at(process: int) -> float:
    """Wait until a process is idle; returns the time from which on it was."""
    looks, since = 0, 0.0

    def is_idle() -> bool:
        nonlocal looks, since
        if looks == 0:
            since = perf_counter()
        looks = looks + 1 if _state(process) == "S" else 0
        return looks == _LOOKS

    _wait(is_idle, _LOOK_SECONDS)
    return since


def _state(process: int) -> str:
    """``R`` if it runs or waits for a core, ``S`` if it sleeps.  Source: proc_pid_stat(5)."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]


def _wait(is_so: Callable[[], bool], pause_seconds: float) -> None:
    end = monotonic() + _PATIENCE_SECONDS
    while not is_so():
        if monotonic() > end:
            raise TimeoutError("a job has neither begun nor ended")
        sleep(pause_seconds)
