"""The GPU's process, over HTTP: NumPy computes in it, everything else is as with a GPU."""

import asyncio
import os
import re
import signal
import sys
from contextlib import asynccontextmanager
from dataclasses import fields
from functools import partial
from pathlib import Path

import gradwire
import httpx
import pytest
from gradwire_service.app import create_app
from gradwire_service.settings import Settings
from gradwire_service.settings.errors import StartupError
from gradwire_service.workers.opened_gpu import open_gpu
from gradwire_service.workers.worker import _with_share

from tests.service.workers import gpus
from tests.service.workers.processes import ENDLESS, spent

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes are POSIX's")

SMALL = {"program": "sum(x * x)", "variables": {"x": [1.0, 2.0]}}
X = [0.25] * 2000
LARGE = {"program": "sum(sin(x)) * c", "variables": {"x": X, "c": 1.0}}

LOST = re.compile(r"^gradwire_gpu_lost_total [1-9]", re.MULTILINE)


def with_c(c):
    """The large program at another value."""
    return {**LARGE, "variables": {"x": X, "c": c}}


def refused(response):
    """True if it is not ready."""
    return response.status_code == 503


async def until(ask, right):
    """The first response for which ``right`` is true."""
    while not right(response := await ask()):  # noqa: ASYNC110
        await asyncio.sleep(0.02)
    return response


async def until_ready(client):
    """Wait until the GPU is ready."""
    return await until(lambda: client.get("/readyz"), lambda found: found.status_code == 200)


async def until_there(client):
    """Wait until the GPU is there, perhaps again."""
    await until(lambda: client.get("/v1/limits"), lambda found: "gpu" in found.json())


@asynccontextmanager
async def starting(open_gpu=gpus.numpy_gpu, **settings):
    """A client of a service that has begun to start its GPU, and the service."""
    settings = {"cores": 1, "processes": 1, "backend": "cupy", "job_wait_ms": 600_000, **settings}
    app = create_app(Settings(**settings), open_gpu=open_gpu)
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://service") as client,
    ):
        yield client, app


@asynccontextmanager
async def served(open_gpu=gpus.numpy_gpu, **settings):
    """A client of a service whose GPU is ready."""
    async with starting(open_gpu, **settings) as (client, _):
        await until_ready(client)
        yield client


@pytest.fixture(scope="module")
async def auto():
    """A client of a service that tests share, which neither lose nor stop its GPU."""
    async with served() as client:
        yield client


@pytest.fixture(scope="module")
async def always():
    """The same of one that computes everything on its GPU."""
    async with served(gpu_placement="always", queue_requests=1) as client:
        yield client


@pytest.fixture(scope="module")
async def slow():
    """The same of one whose GPU is slow to reach."""
    async with served(gpus.slow_gpu) as client:
        yield client


def ran_on(response):
    """Where a computation ran."""
    assert response.status_code == 200, response.text
    return "gpu" if ", gpu" in response.headers["server-timing"] else "cpu"


def gpu_pids(client):
    """The ids of the processes that compute on the service's GPU: one, or none if it has ended."""
    return {process.pid for process in client._transport.app.state.gpu.processes}


def parent_of(pid):
    """The id of the process that started another one."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


async def until_idle(client):
    """Wait until nothing computes on the GPU: one that did not stop at its deadline is killed."""
    await until(
        lambda: client.post("/v1/gradient", json=LARGE), lambda found: ran_on(found) == "gpu"
    )


async def computes(pid):
    """Wait until a process has computed for long."""
    before = spent(pid)
    while spent(pid) - before < 100_000_000:  # noqa: ASYNC110 - nothing reports it
        await asyncio.sleep(0.02)


async def in_flight(client, number):
    """Wait until so many requests are in flight, besides this one."""
    named = re.compile(r"^gradwire_in_flight (\S+)$", re.MULTILINE)

    def many(response):
        (found,) = named.findall(response.text)
        return float(found) >= number

    await until(lambda: client.get("/metrics"), many)


async def figures(client):
    """The GPU's metrics."""
    text = (await client.get("/metrics")).text
    found = re.findall(r"^gradwire_gpu_(\w+) (\S+)$", text, re.MULTILINE)
    return {name: float(number) for name, number in found}


async def test_the_service_is_ready_when_the_gpu_is_warm(tmp_path):
    path = tmp_path / "there"
    async with starting(partial(gpus.gpu_after, path)) as (client, _):
        early = await client.get("/readyz")
        assert (early.status_code, early.json()["code"]) == (503, "starting")
        assert early.headers["retry-after"] == "1"
        assert "gpu" not in (await client.get("/v1/limits")).json()
        assert ran_on(await client.post("/v1/gradient", json=LARGE)) == "cpu"
        path.touch()
        ready = (await until_ready(client)).json()
        assert (ready["status"], ready["gpu"]) == ("ready", True)
        shown = (await client.get("/v1/limits")).json()["gpu"]
    assert shown == {
        "name": "NumPy",
        "compute_capability": "0.0",
        "matmul_precision": "float32",
        "memory_bytes": 100 << 20,
        "room_bytes": 80 << 20,
        "launch_seconds": 0.05,
        "bytes_per_second_in": 1e9,
        "bytes_per_second_out": 1e9,
        "flops_per_second": 1e12,
        "crossover_elements": 1000,
    }


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
async def test_the_gpus_process_is_forked_from_one_that_has_imported_everything(auto):
    (gpu,) = gpu_pids(auto)
    (worker,) = {process.pid for process in auto._transport.app.state.executors.processes}
    assert parent_of(gpu) == parent_of(worker) != os.getpid()


async def test_large_computations_run_on_the_gpu_and_small_ones_on_the_cpu(auto):
    large = await auto.post("/v1/gradient", json=LARGE)
    assert ran_on(large) == "gpu"
    assert large.headers["server-timing"].endswith(', gpu, host;desc="sin"')
    assert [ran_on(await auto.post("/v1/gradient", json=SMALL)) for _ in range(4)] == (["cpu"] * 4)
    on_cpu = await auto.post("/v1/gradient", json={**LARGE, "exact": True})
    assert on_cpu.json()["gradients"]["c"] == pytest.approx(large.json()["gradients"]["c"])
    found = await figures(auto)
    assert found["replays_total"] >= 1
    assert found["host_operations_total"] >= 1
    assert found["memory_bytes"] == gpus.USED_BYTES
    assert found["lost_total"] == 0


async def test_where_transfers_take_longer_computations_move_to_the_cpu(slow):
    assert ran_on(await slow.post("/v1/gradient", json=LARGE)) == "gpu"
    for _ in range(2):
        assert ran_on(await slow.post("/v1/gradient", json=LARGE)) == "cpu"


async def test_long_bodies_that_are_not_read_here_are_placed_as_well(slow):
    values = [0.123456789] * 20_000
    request = {"program": "sum(x)", "variables": {"x": values}}
    assert ran_on(await slow.post("/v1/gradient", json=request)) == "gpu"
    assert ran_on(await slow.post("/v1/gradient", json=request)) == "cpu"


async def test_with_always_all_computations_run_on_the_gpu(always):
    for _ in range(3):
        assert ran_on(await always.post("/v1/gradient", json=SMALL)) == "gpu"
    tape = await always.post("/v1/tapes", json={**SMALL, "persistent": True})
    assert ", gpu" in tape.headers["server-timing"]
    asked = f"/v1/tapes/{tape.json()['tape']}/gradient"
    assert ran_on(await always.post(asked, json={})) == "gpu"
    registered = await always.post("/v1/programs", json={"program": "x"})
    assert ", gpu" not in registered.headers["server-timing"]


async def test_references_are_resolved_on_the_gpu(always):
    ref = (await always.put("/v1/tensors", json={"value": X})).json()["ref"]
    large = {**LARGE, "program": "sum(cos(x)) * c"}
    request = {**large, "variables": {"x": {"ref": ref}, "c": 1.0}}
    answers = [await always.post("/v1/gradient", json=request) for _ in range(3)]
    plain = await always.post("/v1/gradient", json=large)
    assert ran_on(answers[0]) == "gpu"  # later nothing is left to compute
    assert {str(answer.json()["gradients"]) for answer in answers} == {
        str(plain.json()["gradients"])
    }


async def test_a_crash_fails_one_request_and_another_process_takes_over(tmp_path):
    path = tmp_path / "there"
    path.touch()
    async with served(partial(gpus.gpu_after, path), gpu_placement="always") as client:
        for sent, code in (signal.SIGKILL, "over_budget"), (signal.SIGSEGV, "worker_crashed"):
            (before,) = gpu_pids(client)
            running = asyncio.create_task(client.post("/v1/evaluate", json=ENDLESS))
            await computes(before)
            waiting = asyncio.create_task(client.post("/v1/gradient", json=SMALL))
            path.unlink()  # no other process has it soon
            os.kill(before, sent)
            assert (await running).json()["code"] == code
            assert ran_on(await client.post("/v1/gradient", json=LARGE)) == "cpu"  # meanwhile
            assert (await client.get("/readyz")).status_code == 200
            assert ran_on(await waiting) == "cpu"
            path.touch()
            await until_there(client)
            assert before not in gpu_pids(client)
            assert ran_on(await client.post("/v1/gradient", json=LARGE)) == "gpu"
        assert (await figures(client))["lost_total"] == 2


async def kernels(client):
    """How many kernels were compiled, and how many were there."""
    text = (await client.get("/metrics")).text
    found = dict(re.findall(r'^gradwire_kernels_total{outcome="(\w+)"} (\d+)', text, re.MULTILINE))
    return int(found.get("compiled", 0)), int(found.get("cached", 0))


async def test_the_sdks_limits_have_the_gpu(auto):
    async with gradwire.AsyncClient(http_client=auto) as client:
        gpu = (await client.limits()).gpu
    assert isinstance(gpu, gradwire.Gpu)
    document = (await auto.get("/v1/limits")).json()["gpu"]
    assert {field.name: getattr(gpu, field.name) for field in fields(gpu)} == document


async def test_a_process_that_takes_over_and_a_restart_compile_nothing_again(tmp_path):
    pytest.importorskip("llvmlite")
    settings = {"gpu_placement": "always", "code_cache": str(tmp_path), "machine_code": False}
    async with served(gpus.compiling_gpu, **settings) as client:
        assert ran_on(await client.post("/v1/gradient", json=LARGE)) == "gpu"
        compiled, cached = await kernels(client)
        assert compiled == 1
        (before,) = gpu_pids(client)
        os.kill(before, signal.SIGKILL)
        await until(lambda: client.get("/metrics"), lambda found: LOST.search(found.text))
        await until_there(client)
        assert ran_on(await client.post("/v1/gradient", json=LARGE)) == "gpu"
        assert (await kernels(client))[0] == 1
        assert (await kernels(client))[1] >= cached + 2  # its first program, and this one
    async with served(gpus.compiling_gpu, **settings) as client:
        assert ran_on(await client.post("/v1/gradient", json=LARGE)) == "gpu"
        assert (await kernels(client))[0] == 0


async def test_a_computation_stops_at_its_deadline_and_when_its_client_goes(always):
    late = await always.post("/v1/evaluate", json={**ENDLESS, "timeout_ms": 100})
    assert late.json()["code"] == "deadline_exceeded"
    await until_idle(always)
    (pid,) = gpu_pids(always)
    running = asyncio.create_task(always.post("/v1/evaluate", json=ENDLESS))
    await computes(pid)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await until_idle(always)


async def test_a_computation_that_ignores_its_deadline_is_killed():
    program = "x = sin(arange(9000000.0)).reshape(3000, 3000) * c\nsum(svd(x, compute_uv=False))"
    request = {"program": program, "variables": {"c": 1.0}, "timeout_ms": 1500}
    async with served(gpu_placement="always") as client:
        before = gpu_pids(client)

        async def asked():
            late = await client.post("/v1/evaluate", json=request)
            assert late.json()["code"] == "deadline_exceeded"
            return await client.get("/metrics")

        # On a busy machine its time may be over before it is in LAPACK, which looks at no deadline.
        await until(asked, lambda found: LOST.search(found.text))
        await until_there(client)
        assert not before & gpu_pids(client)


async def test_the_queue_is_bounded_for_the_gpu_and_the_cpu_together(always):
    await until_there(always)
    (pid,) = gpu_pids(always)
    running = [asyncio.create_task(always.post("/v1/evaluate", json=ENDLESS))]
    await computes(pid)
    running += [asyncio.create_task(always.post("/v1/gradient", json=LARGE)) for _ in range(4)]
    while sum(task.done() for task in running) < 2:
        await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        await always.get("/v1/limits")
    done = [task.result() for task in running if task.done()]
    assert {answer.json()["code"] for answer in done} == {"overloaded"}
    assert len(done) == 2  # one core, the GPU, and one that waits
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)


async def test_a_lost_gpu_fails_one_request_and_the_service_drains():
    async with starting(gpu_placement="always") as (client, app):
        await until_ready(client)
        other = asyncio.create_task(client.post("/v1/gradient", json=LARGE))
        lost = await client.post("/v1/gradient", json=with_c(gpus.LOSES))
        assert (lost.status_code, lost.json()["code"]) == (500, "worker_crashed")
        assert "illegal memory access" in lost.json()["detail"]
        assert (await other).status_code == 200
        found = await client.get("/readyz")
        assert (found.status_code, found.json()["code"]) == (503, "draining")
        assert "illegal memory access" in found.json()["detail"]
        assert "gpu" not in (await client.get("/v1/limits")).json()
        assert "illegal memory access" in app.state.capacity.fault
        assert ran_on(await client.post("/v1/gradient", json=with_c(gpus.LOSES))) == "cpu"
        assert (await figures(client))["lost_total"] == 1
        assert not gpu_pids(client)


async def test_what_waits_for_a_gpu_that_is_lost_runs_on_the_cpu():
    async with served(gpu_placement="always") as client:
        (pid,) = gpu_pids(client)
        waiting = []
        os.kill(pid, signal.SIGSTOP)  # until all wait for it
        for request in (SMALL, with_c(gpus.LOSES), LARGE, LARGE):
            waiting.append(asyncio.create_task(client.post("/v1/gradient", json=request)))
            await in_flight(client, len(waiting))
        os.kill(pid, signal.SIGCONT)
        on_gpu, lost, *others = await asyncio.gather(*waiting)
        assert ran_on(on_gpu) == "gpu"
        assert lost.json()["code"] == "worker_crashed"
        assert [ran_on(answer) for answer in others] == ["cpu", "cpu"]


async def test_too_little_memory_on_the_gpu_is_a_503_and_then_the_cpu_is_asked(auto):
    request = {**with_c(gpus.EXCEEDS), "program": "sum(sin(x) * sin(x)) * c"}
    refusal = await auto.post("/v1/gradient", json=request)
    problem = refusal.json()
    assert (refusal.status_code, problem["code"]) == (503, "out_of_gpu_memory")
    assert refusal.headers["retry-after"] == "1"
    assert problem["hint"] == "retry later, or send less at once"
    assert ran_on(await auto.post("/v1/gradient", json=request)) == "cpu"
    assert (await figures(auto))["lost_total"] == 0
    assert (await auto.get("/readyz")).status_code == 200


@pytest.mark.parametrize(
    ("open_gpu", "reason"),
    [
        (gpus.missing_gpu, "no CUDA-capable device is detected"),
        (gpus.broken_gpu, "its process ended 3 times before it was ready"),
    ],
)
async def test_a_gpu_that_is_not_there_is_a_fault(open_gpu, reason):
    async with starting(open_gpu) as (client, app):
        await until(
            lambda: client.get("/readyz"), lambda found: found.json().get("code") == "draining"
        )
        assert reason in (await client.get("/readyz")).json()["detail"]
        assert reason in app.state.capacity.fault
        assert ran_on(await client.post("/v1/gradient", json=LARGE)) == "cpu"


def test_a_gpu_needs_worker_processes():
    with pytest.raises(StartupError, match="GRADWIRE_PROCESSES"):
        create_app(Settings(backend="cupy", processes=0))


def test_the_services_own_gpu_is_the_default():
    default = create_app.__defaults__
    assert default is not None
    assert default[-1] is open_gpu


@pytest.mark.parametrize("backend", ["numpy", "cupy"])
def test_all_processes_together_have_the_caches_once(backend):
    settings = Settings(processes=4, backend=backend, local_cache_bytes=1000)
    shares = [_with_share(settings, on_gpu=False).local_cache_bytes] * 4
    if backend == "cupy":
        shares.append(_with_share(settings, on_gpu=True).local_cache_bytes)
    assert sum(shares) == 1000
    assert shares[-1] == (500 if backend == "cupy" else 250)
