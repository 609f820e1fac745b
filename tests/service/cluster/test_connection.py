"""A scheduler that is not there, or goes away."""

import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf
from gradwire_engine.answer import Limits
from gradwire_engine.errors import EngineError
from gradwire_engine.polling import unhurried
from gradwire_service.cluster.cluster import Cluster, Question
from gradwire_service.problems import RequestError, problem_of
from gradwire_service.scheduling import Deadline
from gradwire_service.settings import Settings
from gradwire_service.wire.chunked import ChunkedReference

pytest.importorskip("distributed", reason="needs the extra dask")

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
        process.wait(10)


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
        ends = time.monotonic() + 20
        while not listens(port):
            assert time.monotonic() < ends
            time.sleep(0.1)
        yield process, f"tcp://127.0.0.1:{port}"


def objective(cluster, text="return sum((X @ w) ** 2)", poll=unhurried):
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


def test_nobody_listens(data, monkeypatch):
    monkeypatch.setattr("gradwire_service.cluster.connection._CONNECT_SECONDS", 0.5)
    with (
        cluster_at(f"tcp://127.0.0.1:{unused_port()}", data) as cluster,
        pytest.raises(RequestError) as caught,
    ):
        objective(cluster)
    unavailable(caught, "connect")


def test_the_deadline_ends_before_the_connection(data):
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        with cluster_at(f"tcp://127.0.0.1:{mute.getsockname()[1]}", data) as cluster:
            began = time.monotonic()
            with pytest.raises(EngineError, match="deadline"):
                objective(cluster, poll=Deadline(200))
            assert time.monotonic() - began < 0.5


def test_a_scheduler_without_workers_and_one_that_dies(data):
    with scheduler() as (process, address), cluster_at(address, data) as cluster:
        with pytest.raises(RequestError) as caught:
            objective(cluster)
        unavailable(caught, "no workers")
        with running("worker", address, "--nthreads", "1", "--memory-limit", "1GiB"):
            slow = (
                "s = 0.0\nfor i in range(50000000):\n    s = s + sin(s + i)\nreturn sum(X @ w) * s"
            )
            asked = waiting_for_workers(cluster, slow)
            threading.Timer(0.5, process.send_signal, (signal.SIGKILL,)).start()
            with pytest.raises(RequestError) as caught:
                asked.value_and_gradient(np.ones(5))
            unavailable(caught, "")


def waiting_for_workers(cluster, text):
    ends = time.monotonic() + 20
    while time.monotonic() < ends:
        with suppress(RequestError):
            return objective(cluster, text)
        time.sleep(0.1)
    raise AssertionError("no worker joined")


def test_without_a_cluster_or_a_root(data):
    with cluster_at("", data) as cluster, pytest.raises(RequestError) as caught:
        objective(cluster)
    assert (caught.value.code, caught.value.pointer) == ("invalid_request", "/variables/X")
    with pytest.raises(RequestError) as caught:
        objective(Cluster(Settings(dask="tcp://127.0.0.1:1"), Limits(), isolated=False))
    assert (caught.value.code, caught.value.pointer) == ("invalid_request", "/variables/X/zarr")
