"""A Dask cluster of two worker processes, and data that its workers read."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf
from gradwire_engine.answer import Limits
from gradwire_engine.polling import no_deadline
from gradwire_service.cluster.cluster import Cluster, Question, open_cluster
from gradwire_service.computations.redirects import Redirects
from gradwire_service.engines import open_engines
from gradwire_service.references import ReferenceResolver
from gradwire_service.scheduling import Deadline
from gradwire_service.settings import Settings
from gradwire_service.store import policies
from gradwire_service.store.memory import MemoryStore
from gradwire_service.tapes.stored import Tapes
from gradwire_service.tasks.messages import Task, TaskFailed
from gradwire_service.tasks.registry import Tasks, execute
from gradwire_service.wire.shared import to_bytes, to_shared

#: Logistic regression, whose second term is of no rows.
LOGISTIC = "z = X @ w\nreturn sum(log(1 + exp(z)) - y * z) + 0.5 * sum(w * w)"


_PATIENT = {f"distributed.comm.timeouts.{name}": "1h" for name in ("connect", "tcp")}


#: The cluster of all modules here: its workers take seconds of the processor to start.
_OPEN: list[Any] = []


def _local_cluster() -> Any:
    import dask
    from distributed import LocalCluster

    if not _OPEN:
        with dask.config.set({"distributed.scheduler.allowed-failures": 1, **_PATIENT}):
            _OPEN.append(
                LocalCluster(
                    n_workers=2,
                    threads_per_worker=1,
                    processes=True,
                    dashboard_address="127.0.0.1:0",
                    memory_limit="1GiB",
                )
            )
    return _OPEN[0]


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """Close it before tests of other folders, some of which count processes."""
    if nextitem is None or Path(__file__).parent not in nextitem.path.parents:
        while _OPEN:
            _OPEN.pop().close()


@pytest.fixture(scope="module")
def dask():
    """The cluster, without what other modules published, and a client of it."""
    pytest.importorskip("distributed", reason="Dask is not installed")
    import dask
    from distributed import Client

    with (
        pytest.MonkeyPatch.context() as patched,
        dask.config.set(_PATIENT),
        Client(_local_cluster(), set_as_default=False) as client,
    ):
        patched.setattr("gradwire_service.cluster.connection._CONNECT_SECONDS", 3600)
        yield SimpleNamespace(address=client.cluster.scheduler_address, client=client)
        for name in client.list_datasets():
            client.unpublish_dataset(name)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Rows in memory, in Zarr arrays and in Parquet files of several row groups."""
    zarr, pyarrow = pytest.importorskip("zarr"), pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    root = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(7)
    X = rng.standard_normal((3000, 5)).astype(np.float32)
    y = (rng.random(3000) < 1 / (1 + np.exp(-X.sum(axis=1)))).astype(np.float32)
    for name, array in (("X", X), ("y", y)):
        made = zarr.create_array(
            str(root / f"{name}.zarr"),
            shape=array.shape,
            dtype=array.dtype,
            chunks=(700, *array.shape[1:]),
        )
        made[:] = array
    columns = {f"x{i}": X[:, i] for i in range(5)} | {"y": y}
    (root / "rows").mkdir()
    for number, part in enumerate((slice(0, 1900), slice(1900, 3000))):
        table = pyarrow.table({name: column[part] for name, column in columns.items()})
        write_table(table, root / "rows" / f"{number}.parquet", row_group_size=800)
    return SimpleNamespace(root=root, X=X, y=y)


@pytest.fixture(scope="module")
def connected(dask, data):
    """The service's side of the cluster."""
    settings = Settings(dask=dask.address, data_root=str(data.root))
    cluster = Cluster(settings, Limits(), isolated=False)
    yield cluster
    cluster.close()


@pytest.fixture
def logistic(connected):
    """An objective over references: the cluster's, or that of another one."""

    def objective(X, y, *, text=LOGISTIC, owner="", cluster=connected, poll=no_deadline, **asked):
        variables = {"X": X, "y": y, "w": Leaf(np.zeros(5))}
        question = Question(Engine().parse(text), variables, ["w"], **asked)
        return cluster.objective(question, owner, poll)

    return objective


@pytest.fixture
def small_shards(monkeypatch):
    """Divides even little data into many shards."""
    monkeypatch.setattr("gradwire_service.cluster.division.LEAST_BYTES", 4096)
    monkeypatch.setattr("gradwire_service.cluster.division._SHARDS_PER_THREAD", 5)


@pytest.fixture(scope="module")
def solve(dask, data):
    """Run a task; the answer's document, or the problem."""
    settings = Settings(dask=dask.address, data_root=str(data.root), cores=1)
    engines, store = open_engines(settings, isolated=False), MemoryStore(policies(settings))
    resolver = ReferenceResolver(engines, store, settings.local_cache_bytes)
    tapes = Tapes(engines, store, resolver, settings.tape_values_bytes)
    tasks = Tasks(engines, resolver, tapes, open_cluster(settings, engines), Redirects(settings))

    def run(kind, document):
        body = to_shared([json.dumps(document).encode()])
        task = Task(kind, (), {}, "", Deadline(3_600_000), body, b"")
        done = execute(task, tasks, settings, lambda _: None, lambda _: None)
        if isinstance(done, TaskFailed):
            return done.problem
        return json.loads(bytes(to_bytes(done.body)))

    yield run
    tasks.close()
