"""Both sides of the benchmark of jobs end alike, through a network's latency, too."""

import asyncio
import socket
import threading
import time
from contextlib import closing
from typing import Any

import gradwire
import numpy as np
import pytest
from jobs import cancelling, fits, latency, short
from jobs.latency import delayed
from jobs.proxy import _PIECE_BYTES, _forward
from servers import Connection, http_request, running

from tests.clock import ClockLoop, loop_clock

REQUEST = http_request("/v1/gradient", b'{"variables": {"x": [2, 1]}}')


@pytest.fixture
def anyio_backend():
    return "asyncio", {"loop_factory": ClockLoop}


def seconds(connection, request=REQUEST):
    begin = time.perf_counter()
    connection.exchange(request)
    return time.perf_counter() - begin


def test_each_round_trip_takes_longer_by_the_latency(bare):
    with delayed(bare, 60) as proxy, closing(Connection(proxy.port)) as far:
        far.exchange(REQUEST)
        assert min(seconds(far) for _ in range(5)) > 0.059


def test_a_large_body_arrives_as_without_the_latency(bare):
    x = np.random.default_rng(0).normal(size=200_000)
    large = http_request("/v1/gradient/octets", x.tobytes(), media_type="application/octet-stream")
    answers = []
    with delayed(bare, 20) as proxy:
        for each in (bare, proxy):
            with closing(Connection(each.port)) as connection:
                answers.append(bytes(connection.exchange(large)))
    assert answers[0] == answers[1]


class Written:
    """What is written, with the time."""

    def __init__(self):
        self.pieces, self.closed = [], False

    def is_closing(self):
        return self.closed

    def write(self, data):
        self.pieces.append((loop_clock()(), data))

    def close(self):
        self.closed = True


async def test_all_pieces_are_on_their_way_at_once_and_arrive_in_their_order():
    """The latency does not limit the bandwidth."""
    writer: Any = Written()
    reader, begin = asyncio.StreamReader(), loop_clock()()
    sent = np.random.default_rng(0).bytes(5 * _PIECE_BYTES)
    reader.feed_data(sent)
    reader.feed_eof()
    await _forward(reader, writer, 0.1)
    assert b"".join(data for _, data in writer.pieces) == sent
    assert [at - begin for at, _ in writer.pieces] == pytest.approx([0.1] * 5)
    assert writer.closed


def test_the_end_of_a_connection_arrives_after_what_was_sent():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        found = []

        def receive():
            with listener.accept()[0] as other:
                while data := other.recv(100):
                    found.append(data)

        with running((str(latency.PROXY), str(port), "40")) as proxy:
            listener.accept()[0].close()  # the proxy's start was awaited by a connection
            receiver = threading.Thread(target=receive)
            receiver.start()
            with socket.create_connection(("127.0.0.1", proxy.port)) as sender:
                sender.sendall(b"the last words")
            receiver.join()
    assert b"".join(found) == b"the last words"


def test_all_ways_make_the_same_iterations(server, monkeypatch):
    monkeypatch.setattr(fits, "ITERATIONS", 30)
    monkeypatch.setitem(fits._OPTIONS, "maxiter", 30)
    of = fits.Observations(300, 40)
    with gradwire.Client(server.url) as client:
        here = fits.Here(client, of)
        sides = [fits.Side(here.at_once, server), fits.Side(here.step_by_step, server)]
        sides.append(fits.Side(fits._by_numpy(of)))
        fits.alternate(3, *sides)
    outcomes = [side.outcome for side in sides if side.outcome is not None]
    assert [outcome.iterations for outcome in outcomes] == [30] * 3
    values = [outcome.value for outcome in outcomes]
    assert values == pytest.approx([values[-1]] * 3, rel=1e-6)
    for side in sides:
        assert min(side.ms) > 0
        assert min(side.cpu_ms) > 0


def test_a_run_that_ends_early_stops_the_benchmark():
    with pytest.raises(AssertionError):
        fits.alternate(1, fits.Side(lambda: fits.Outcome(fits.ITERATIONS - 1, 10, 0.0)))


def test_short_runs_are_timed_beside_gradients(server):
    with gradwire.Client(server.url) as client:
        assert short.optimising(client)(0) > 0
        assert short.differentiating(client)(0) > 0


def test_jobs_are_cancelled_on_both_replicas():
    found = cancelling.times(fits.Observations(50, 3), 1)
    assert len(found) == 2
    for figures in found.values():
        assert len(figures) == 1
        assert figures[0] > 0


def test_a_process_that_sleeps_is_idle(server):
    begin = time.perf_counter()
    time.sleep(1.0)
    assert cancelling.idle_at(server.family()[0]) - begin >= 1.0
