"""A scheduler that is not there, goes away, or comes back at another address."""

import re
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from time import sleep

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf
from gradwire_engine.answer import Limits
from gradwire_engine.errors import EngineError
from gradwire_engine.polling import no_deadline
from gradwire_service.cluster.cluster import Cluster, Question
from gradwire_service.problems import RequestError, problem_of
from gradwire_service.scheduling import Deadline
from gradwire_service.settings import Settings
from gradwire_service.wire.chunked import ChunkedReference

pytest.importorskip("distributed", reason="Dask is not installed")

SLOW = "s = 0.0\nfor i in range(50000000):\n    s = s + sin(s + i)\nreturn sum(X @ w) * s"


@contextmanager
def running(*arguments):
    """A program of Dask's, until the context ends."""
    command = [sys.executable, "-m", "dask", *arguments, "--dashboard-address", "127.0.0.1:0"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def unused_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def listens(port):
    with socket.socket() as connecting:
        return connecting.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def scheduler(port=None):
    """A scheduler in a process of its own, and its address."""
    port = port or unused_port()
    with running("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-show") as process:
        while not listens(port):
            assert process.poll() is None
            sleep(0.05)
        yield process, f"tcp://127.0.0.1:{port}"


def objective(cluster, text="return sum((X @ w) ** 2)", poll=no_deadline):
    variables = {"X": ChunkedReference("zarr", "X.zarr"), "w": Leaf(np.zeros(5))}
    return cluster.objective(Question(Engine().parse(text), variables, ["w"]), "", poll)


@contextmanager
def cluster_at(address, data):
    cluster = Cluster(Settings(dask=address, data_root=str(data.root)), Limits(), isolated=False)
    yield cluster
    cluster.close()


def unavailable(caught, detail):
    problem = problem_of(caught.value)
    assert (problem.code, problem.status) == ("cluster_unavailable", 503)
    assert re.search(detail, problem.detail)
    assert int(dict(problem.headers)["retry-after"]) > 0


def connecting(monkeypatch, seconds):
    """Change how long the service tries to connect."""
    monkeypatch.setattr("gradwire_service.cluster.connection._CONNECT_SECONDS", seconds)


def test_nobody_listens(data, monkeypatch):
    connecting(monkeypatch, 0.5)
    with cluster_at(f"tcp://127.0.0.1:{unused_port()}", data) as cluster:
        threads = set[int]()
        for _ in range(2):
            with pytest.raises(RequestError) as caught:
                objective(cluster)
            unavailable(caught, "cannot connect.*Connect call failed")
            threads.add(threading.active_count())
        assert len(threads) == 1  # nothing is left behind


@pytest.fixture
def mute():
    """The address of something that accepts connections and never answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield f"tcp://127.0.0.1:{listening.getsockname()[1]}"


def test_a_scheduler_that_never_answers(data, monkeypatch, mute):
    connecting(monkeypatch, 0.5)
    with cluster_at(mute, data) as cluster:
        for _ in range(3):
            with pytest.raises(RequestError) as caught:
                objective(cluster)
            unavailable(caught, "cannot connect.*does not answer")


def test_the_deadline_ends_before_the_connection(data, monkeypatch, mute):
    connecting(monkeypatch, 3600)
    with (
        cluster_at(mute, data) as cluster,
        pytest.raises(EngineError, match="deadline"),
    ):
        objective(cluster, poll=Deadline(200))


NAME = "scheduler.test"


@contextmanager
def nowhere(port):
    """An address that connections to are neither accepted nor refused, as where no machine is."""
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.2", port))
        full.listen(0)
        for connecting in first, second:
            connecting.setblocking(False)
            connecting.connect_ex(("127.0.0.2", port))
        yield "127.0.0.2"


@pytest.fixture
def named(monkeypatch):
    """Names an address: after three answers of a name server that are of no use."""
    asked, ended = [], threading.Event()
    real = socket.getaddrinfo

    def name(address, useless):
        def getaddrinfo(host, port, family=0, type=0, proto=0, flags=0):
            if host != NAME or flags & socket.AI_NUMERICHOST:
                return real(host, port, family, type, proto, flags)
            asked.append(host)
            if len(asked) > 3:
                return real(address, port, family, type, proto)
            if useless == "none":
                ended.wait()
            if useless in ("none", "unknown"):
                raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
            return real(useless, port, family, type, proto)

        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)

    yield name
    ended.set()


@pytest.fixture(scope="module")
def one_scheduler():
    """The port of a scheduler that no test ends, without workers."""
    with scheduler() as (_, address):
        yield int(address.rpartition(":")[2])


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address")
@pytest.mark.parametrize("useless", ["another", "none", "unknown"])
def test_a_name_is_looked_up_until_the_scheduler_is_found(
    data, monkeypatch, named, one_scheduler, useless
):
    connecting(monkeypatch, 3600)
    with nowhere(one_scheduler) as another:
        named("127.0.0.1", another if useless == "another" else useless)
        with cluster_at(f"tcp://{NAME}:{one_scheduler}", data) as cluster:
            with pytest.raises(RequestError) as caught:
                objective(cluster)
            unavailable(caught, "no workers")


@pytest.mark.thorough
def test_a_scheduler_without_workers_and_one_that_dies(data):
    with scheduler() as (process, address), cluster_at(address, data) as cluster:
        with pytest.raises(RequestError) as caught:
            objective(cluster)
        unavailable(caught, "no workers")
        with running("worker", address, "--no-nanny", "--nthreads", "1", "--memory-limit", "1GiB"):
            dies = threading.Event()

            def poll():
                if dies.is_set():
                    process.send_signal(signal.SIGKILL)

            asked = waiting_for_workers(cluster, SLOW, poll)
            dies.set()
            with pytest.raises(RequestError) as caught:
                asked.value_and_gradient(np.ones(5))
            unavailable(caught, "")


def waiting_for_workers(cluster, text, poll):
    while True:
        with suppress(RequestError):
            return objective(cluster, text, poll)
        sleep(0.05)


@pytest.mark.thorough
def test_without_a_cluster_or_a_root(data):
    with cluster_at("", data) as cluster, pytest.raises(RequestError) as caught:
        objective(cluster)
    assert (caught.value.code, caught.value.pointer) == ("invalid_request", "/variables/X")
    with pytest.raises(RequestError) as caught:
        objective(Cluster(Settings(dask="tcp://127.0.0.1:1"), Limits(), isolated=False))
    assert (caught.value.code, caught.value.pointer) == ("invalid_request", "/variables/X/zarr")
