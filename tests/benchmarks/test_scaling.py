"""The simulation of fleets agrees with queueing theory, with Che's approximation and with nginx."""

import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
import pytest
import simpy
from scaling import checked, cost, ends, shards, sizing
from scaling.fleet import Fleet, Simulation
from scaling.fluid import Flow, replicas_needed, sized
from scaling.popularity import zipf
from scaling.replica import Cache, Costs, Replica
from scaling.ring import Ring, hashes_of
from scaling.scenarios import fleet, part_of, simulated
from scaling.started import free_port, started
from scaling.theory import che_seconds, erlang_c, mg1_wait, mg1_wait_quantile, mmc_wait
from scaling.times import STAGES, Stage, load
from scaling.workloads import SMALL
from scaling.zones import lost
from servers import Connection, http_request

from tests.fleet.nginx import NGINX, configure

PAGE = Path(__file__).parents[2] / "docs/explanation/scaling.md"


@pytest.fixture(scope="module")
def measured():
    return load().workloads[SMALL]


def test_erlangs_formula_is_that_of_one_and_two_servers():
    assert erlang_c(1, 0.7) == pytest.approx(0.7)
    assert erlang_c(2, 1.4) == pytest.approx(2 * 0.7**2 / (1 + 0.7))
    assert mmc_wait(1, 0.7, 1.0) == pytest.approx(mg1_wait(0.7, 1.0, 2.0))


def test_the_tail_of_a_queue_with_exponential_service_is_exact():
    # M/M/1: P(W > t) = ρ exp(-(μ - λ) t)
    assert 0.8 * np.exp(-0.2 * mg1_wait_quantile(0.99, 0.8, 1.0, 2.0)) == pytest.approx(0.01)
    assert mg1_wait_quantile(0.5, 0.3, 1.0, 2.0) == 0
    assert mg1_wait_quantile(0.99, 1.2, 1.0, 2.0) == np.inf


@pytest.mark.parametrize(("cores", "busy"), [(1, 0.3), (2, 0.5), (4, 0.7)])
def test_workers_are_an_mmc_queue(cores, busy):
    found, true = checked.mmc(cores, busy, seconds=20)
    assert found == pytest.approx(true, rel=0.02)


def test_an_event_loop_is_an_mg1_queue(measured):
    found, true = checked.mg1(measured, 0.5, seconds=20)
    assert found == pytest.approx(true, rel=0.02)


@pytest.mark.parametrize("exponent", [0.8, 1.2])
def test_a_cache_has_the_hits_of_ches_approximation(exponent):
    found, true = checked.lru(100_000, exponent, 3_000, 60_000)
    assert found == pytest.approx(true, rel=0.02)


def test_a_cache_with_room_for_all_evicts_nothing():
    assert che_seconds(np.ones(3), np.ones(3), 3) == np.inf


def test_the_event_loop_takes_a_core_from_a_worker():
    env = simpy.Environment()
    stages = {"first": Stage(np.array([0.0]), np.array([1.0]))}
    stages |= dict.fromkeys(STAGES[1:], Stage(np.array([0.25]), np.array([0.0])))
    one = Replica(env, 1, Costs(stages, np.random.default_rng(0)), Cache(2, (1, 1)))
    ended = {}

    def asking(at, stage):
        yield env.timeout(at)
        yield from one.serve(stage)
        ended[at] = env.now

    for at, stage in ((0.0, 0), (0.5, 2), (0.6, 2)):
        env.process(asking(at, stage))
    env.run()
    assert ended == pytest.approx({0.0: 1.5, 0.5: 0.75, 0.6: 1.0})
    assert one.busy_seconds == pytest.approx(1.5)


def test_a_cache_knows_the_stage_of_a_program_until_it_is_evicted():
    cache = Cache(2, (1, 1))
    assert [cache.use(program) for program in (1, 1, 1, 2, 1, 3, 2, 1)] == [0, 1, 2, 0, 2, 0, 0, 0]


def test_a_program_takes_more_once_it_is_compiled():
    cache = Cache(10, (1, 5))
    assert [cache.use(program) for program in (1, 2, 3, 1, 2, 3, 1)] == [0, 0, 0, 1, 1, 0, 0]


def test_programs_are_drawn_by_zipfs_law():
    drawn = zipf(10**6, 1.0).draw(200_000, np.random.default_rng(0))
    harmonic = np.log(10**6) + np.euler_gamma
    assert (drawn == 1).mean() == pytest.approx(1 / harmonic, rel=0.03)
    assert (drawn <= 1000).mean() == pytest.approx((np.log(1000) + np.euler_gamma) / harmonic, 0.01)
    assert drawn.max() <= 10**6
    assert zipf(10**6, 1.0).size == 10**6


def test_a_part_of_a_fleet_sees_its_share():
    whole = zipf(10**6, 1.0)
    part = whole.shard(4, popular=0.01)
    assert part.size == pytest.approx(whole.size / 4, rel=0.01)
    assert (part.chances * part.counts).sum() == pytest.approx(1)
    assert part.chances[0] == pytest.approx(whole.chances[0], rel=0.05)  # of a quarter of all


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
def test_nginx_sends_programs_to_the_homes_on_the_ring(tmp_path):
    class Named(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            assert isinstance(self.server, HTTPServer)
            body = str(self.server.server_port).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ExitStack() as stack:
        servers = [stack.enter_context(HTTPServer(("127.0.0.1", 0), Named)) for _ in range(3)]
        pool = stack.enter_context(ThreadPoolExecutor(3))
        for server in servers:
            pool.submit(server.serve_forever, 0.01)
            stack.callback(server.shutdown)
        ports = [server.server_port for server in servers]
        listen = free_port()
        stack.enter_context(started(configure(tmp_path, ports, listen), listen))
        connection = stack.enter_context(closing(Connection(listen)))
        ring = Ring([f"127.0.0.1:{port}" for port in ports])
        for number in range(40):
            name = f"program-{number}"
            ask = http_request(f"/v1/tapes/{name}", b"", method="GET")
            found = int(bytes(connection.exchange(ask)))
            home = ring.homes(np.array([zlib.crc32(name.encode())], np.uint64))[0]
            assert found == ports[home]


def test_the_shares_of_a_ring_are_those_of_its_programs():
    ring = Ring([f"10.0.0.{n}:8000" for n in range(5)])
    homes = ring.homes(hashes_of(np.arange(100_000)))
    assert np.bincount(homes) / 100_000 == pytest.approx(ring.shares(5), abs=0.006)
    assert ring.shares(5).sum() == pytest.approx(1)


def test_flows_are_those_of_the_simulation(measured):
    for routing in ("random", "homes"):
        flow = Flow(fleet(measured, 8, routing), zipf(100_000, 1.0), 10_000)
        outcome = simulated(flow, 0.5)
        assert outcome.hit_rate == pytest.approx(flow.hit_rate, abs=0.03)
        front, _ = flow.moments({name: measured.stages[name].front for name in STAGES})
        assert outcome.loops.mean() == pytest.approx(flow.rate / 8 * front, rel=0.06)


def test_a_part_is_like_the_whole_fleet(measured):
    flow = Flow(fleet(measured, 8, "bounded"), zipf(100_000, 1.0), 8_000)
    whole, part = simulated(flow, 0.5, whole=True), part_of(flow, 2).run(1.0)
    assert part.hit_rate == pytest.approx(whole.hit_rate, abs=0.03)
    assert part.loops.mean() == pytest.approx(whole.loops.mean(), rel=0.1)


def test_bounds_spread_a_popular_program(measured):
    popularity = zipf(100_000, 1.2)
    busiest = {
        routing: simulated(Flow(fleet(measured, 8, routing), popularity, 18_000), 0.3).loops.max()
        for routing in ("homes", "bounded", "balanced")
    }
    assert busiest["homes"] > 1 > busiest["bounded"] > busiest["balanced"] * 0.9
    strict = Flow(fleet(measured, 8, "homes"), popularity, 18_000)
    assert strict.peak > 2
    assert strict.latency_quantile(0.99) == np.inf


def test_a_fleet_is_the_smallest_that_suffices(measured):
    flow = replicas_needed(Flow(fleet(measured, 1, "random"), zipf(100_000, 1.0), 10_000), 0.05)
    assert flow.latency_quantile(0.99) <= 0.05
    assert sized(flow, flow.fleet.replicas - 1).latency_quantile(0.99) > 0.05
    small = sizing.bounded(Flow(fleet(measured, 1, "bounded"), zipf(10_000, 1.0), 1_000))
    assert small.replicas == 1
    assert small.p50 < small.p99 <= 0.05


def test_a_lost_zone_makes_programs_cold(measured):
    loss = lost(measured, "bounded", 10_000, 300, seconds=6)
    assert loss.hits[0] < loss.before.hit_rate - 0.05
    assert loss.hits[-1] > loss.hits[0]
    assert len(loss.loops) == 4  # of six replicas
    assert loss.seconds == 0


def test_a_million_gradients_cost_a_million_times_one(measured):
    assert cost.core_hours(measured) == pytest.approx(1e6 * measured.stages["later"].mean / 3600)
    batch = load().workloads["1,000 points of 10 numbers, JSON"]
    assert cost.core_hours(batch) == pytest.approx(1e3 * batch.stages["later"].mean / 3600)


def test_iterations_wait_for_what_the_formulas_say():
    job = shards.Job(rows=1e6, row_bytes=800, parameters=1e5, row_seconds=1e-5)
    cluster = shards.Cluster(5, threads=2, tasks_per_second=1000, link_bits=8e9)
    assert shards.shards(job, 1.0) == 10
    assert shards.iteration_bytes(job, cluster) == 2 * 8 * 1e5 * 5
    assert shards.iteration_seconds(job, cluster, 10) == pytest.approx(
        {"computing": 1.0, "scheduler": 0.02, "network": 8e5 * 7 / 1e9}
    )
    assert shards.workers_for_memory(job, replace(cluster, memory_bytes=1e9), 10) == pytest.approx(
        8e8 / (5e8 - 2 * 8e7)
    )
    assert shards.workers_for_memory(job, replace(cluster, memory_bytes=1e8), 10) == np.inf


def test_a_message_of_one_frame_has_its_headers():
    assert ends.on_the_wire(1448 - 350) == pytest.approx(1448 + 90)


@pytest.mark.parametrize("part", [cost, ends, shards])
def test_the_page_shows_what_the_command_prints(part):
    page = PAGE.read_text(encoding="utf-8")
    assert all(table in page for table in part.report())


def test_times_that_were_measured_are_complete():
    times = load()
    for one in times.workloads.values():
        assert {*one.stages} == {*STAGES}
        assert all(stage.mean > 0 for stage in one.stages.values())
        assert 0 < one.entry_bytes <= one.kept_bytes[0] <= one.kept_bytes[1]
    assert isinstance(fleet(times.workloads[SMALL], 1, "random"), Fleet)
    assert Simulation(fleet(times.workloads[SMALL], 1, "random"), zipf(10, 1.0), 1.0).replicas
