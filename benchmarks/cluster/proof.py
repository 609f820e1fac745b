"""More data than memory, on two worker processes: results are right, also when a worker is killed.

``PYTHONPATH=benchmarks:engine:service python -m cluster.proof --gigabytes 8 --folder FOLDER``
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from distributed import Client, LocalCluster
from gradwire_engine import Engine, Leaf
from gradwire_engine.answer import Limits
from gradwire_engine.polling import no_deadline
from gradwire_service.cluster.cluster import Cluster, Question
from gradwire_service.cluster.objective import ClusterObjective
from gradwire_service.settings import Settings
from gradwire_service.wire.chunked import ChunkedReference
from gradwire_solvers import Solution, Specification, solve

from cluster.rows import FEATURES, PROGRAM, Rows, value_and_gradient, weights_of, write

#: The memory limit of each of the workers.
_MEMORY = "1GiB"
_WORKERS = 2


@contextmanager
def running(folder: Path, workers: int = _WORKERS, memory: str = _MEMORY) -> Iterator[Any]:
    """A cluster of local processes with one thread each, and the service's side of it."""
    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            memory_limit=memory,
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as local,
        Client(local, set_as_default=False) as client,
    ):
        settings = Settings(dask=local.scheduler_address, data_root=str(folder))
        cluster = Cluster(settings, Limits(), isolated=False)
        yield cluster, client
        cluster.close()


def objective(cluster: Cluster, prefix: str = "") -> ClusterObjective:
    """The logistic regression on the rows in the data root, or in a folder there."""
    variables = {
        "X": ChunkedReference("zarr", f"{prefix}X.zarr"),
        "y": ChunkedReference("zarr", f"{prefix}y.zarr"),
        "w": Leaf(np.zeros(FEATURES)),
    }
    question = Question(Engine().parse(PROGRAM), variables, ["w"])
    return cluster.objective(question, "", no_deadline)


def minimum(
    asked: ClusterObjective,
    iterations: int,
    on_iteration: Callable[[int], None] = lambda number: None,
) -> Solution:
    """The minimum by L-BFGS-B, after at most so many iterations."""

    def report(progress: Any, _: Any) -> None:
        on_iteration(progress.iteration)
        print(f"  iteration {progress.iteration}: {progress.value:.9f} {progress.seconds:.1f} s")

    options = {"maxiter": iterations, "gtol": 1e-7, "ftol": 1e-15}
    given = Specification("minimize", "L-BFGS-B", options)
    return solve(asked, given, clock=perf_counter, report=report)


def main() -> None:
    """Write the rows, and compare with NumPy, scikit-learn and an undisturbed run."""
    parser = argparse.ArgumentParser(description="Prove logistic regression on a cluster.")
    parser.add_argument("--gigabytes", type=float, default=0.2, help="of float32 features")
    parser.add_argument("--folder", type=Path, required=True, help="for the rows; deleted after")
    parser.add_argument("--iterations", type=int, default=4, help="of runs over all rows")
    parser.add_argument("--memory", default=_MEMORY, help="limit of each worker")
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    (folder / "tenth").mkdir(parents=True)
    try:
        _prove(folder, arguments.gigabytes, arguments.iterations, arguments.memory)
    finally:
        shutil.rmtree(folder)


def _prove(folder: Path, gigabytes: float, iterations: int, memory: str) -> None:
    began = perf_counter()
    rows = write(folder, gigabytes)
    tenth = write(folder / "tenth", gigabytes / 10)
    _said(f"{rows.number:,} rows, {gigabytes:g} GB, written", began)
    with running(folder, memory=memory) as (cluster, client):
        _one_value(objective(cluster), rows)
        _scikit_learn(minimum(objective(cluster, "tenth/"), 200), tenth)
        began = perf_counter()
        undisturbed = minimum(objective(cluster), iterations)
        within_seconds = (perf_counter() - began) / iterations / 2
        _said(f"{undisturbed.iterations} iterations over all rows", began)

        def kill(number: int) -> None:
            if number == iterations // 2:  # the next iteration is under way when it happens
                victim = next(iter(client.run(os.getpid).values()))
                threading.Timer(within_seconds, os.kill, (victim, signal.SIGKILL)).start()

        began = perf_counter()
        disturbed = minimum(objective(cluster), iterations, kill)
        _said("the same, a worker killed midway", began)
        _differ("value of both runs", disturbed.value, undisturbed.value, 1e-9)
        _differ("weights of both runs", disturbed.solution[0], undisturbed.solution[0], 1e-6)


def _one_value(asked: ClusterObjective, rows: Rows) -> None:
    """Compare value and gradient at a point with NumPy's over all rows."""
    w = weights_of(1)
    for _ in range(2):
        began = perf_counter()
        value, gradient = asked.value_and_gradient(w)
        _said(f"value and gradient in {len(asked.shards)} shards, kept: {asked.kept}", began)
    expected, expected_gradient = value_and_gradient(rows, w)
    _differ("value and NumPy's", value, expected, 1e-10)
    _differ("gradient and NumPy's", gradient, expected_gradient, 1e-7)


def _scikit_learn(found: Solution, tenth: Rows) -> None:
    from sklearn.linear_model import LogisticRegression

    X, y = (array[:] for array in tenth.arrays())
    fitted = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-6, max_iter=500)
    expected = fitted.fit(X.astype(np.float64), y).coef_[0]
    _differ("weights of a tenth and scikit-learn's", found.solution[0], expected, 1e-4)


def _said(what: str, began: float) -> None:
    print(f"{what}: {perf_counter() - began:.1f} s", flush=True)


def _differ(what: str, one: Any, other: Any, most: float) -> None:
    """Print the largest difference, relative to the largest element; it is at most ``most``."""
    found = float(np.max(np.abs(np.subtract(one, other))) / np.max(np.abs(other)))
    print(f"{what} differ by {found:.1e} (at most {most:g})", flush=True)
    assert found <= most, what


if __name__ == "__main__":
    main()
