"""Worker processes give the same responses, stop immediately, and crash in isolation."""

import asyncio
import errno
import os
import re
import signal
from dataclasses import replace

import numpy as np
import pytest
from gradwire_service.__main__ import main
from gradwire_service.app import create_app
from gradwire_service.computations import routes
from gradwire_service.routes.exchange import Exchange
from gradwire_service.scheduling import queue, queued_task
from gradwire_service.settings import Settings
from gradwire_service.tasks.request import TASK_HEADERS
from gradwire_service.workers import pool

from tests.service.workers.processes import ENDLESS, children, computing, stat_of, until, workers

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes are POSIX's")

LOOP = "y = x\nfor i in range(300):\n    y = y + sin(y) / (1 + y * y)\ny"
REQUESTS = [
    ("/v1/gradient", {"program": LOOP, "variables": {"x": 0.3}}),
    ("/v1/evaluate", {"program": "log(x)", "variables": {"x": 0.0}}),
    ("/v1/hessian", {"program": "sum(x ** 3)", "variables": {"x": [1.0, 2.0]}}),
    ("/v1/gradient", {"program": "x @ y", "variables": {"x": [1.0], "y": [1.0, 2.0]}}),
    ("/v1/gradient", {"program": "x +", "variables": {"x": 1.0}}),
    ("/v1/gradient", {"program": {"ref": "sha256:" + "0" * 64}, "variables": {}}),
    ("/v1/check", {"program": "tanh(x)", "variables": {"x": 0.5}}),
    ("/v1/explain", {"program": LOOP, "variables": {"x": 0.3}}),
    ("/v1/gradient", {"program": "x * x", "variables": {"x": {"value": 2, "dtype": "float32"}}}),
]


@pytest.fixture(scope="module")
async def pooled(served):
    """A client of a service with one worker process."""
    async with served(processes=1, cores=1) as client:
        yield client


@pytest.fixture
def lenient(monkeypatch):
    """Workers may take as long as they need to stop at their deadline."""
    for module in queued_task, queue:
        monkeypatch.setattr(module, "GRACE_SECONDS", 3600.0)


async def metric(client, name):
    text = (await client.get("/metrics")).text
    return float(re.findall(rf"^gradwire_{name} (.+)$", text, re.MULTILINE)[0])


def told(response):
    """A response without the parts that are unique to it."""
    document = response.json()
    document.pop("instance", None)
    return response.status_code, document


async def test_responses_equal_those_of_threads(pooled, served):
    async with served() as client:
        for path, document in REQUESTS:
            expected = told(await client.post(path, json=document))
            for _ in range(3):
                assert told(await pooled.post(path, json=document)) == expected


async def test_references_are_resolved(pooled):
    registered = await pooled.post("/v1/programs", json={"program": LOOP, "name": "loop"})
    x = np.linspace(0, 1, 20_000)
    tensor = await pooled.put("/v1/tensors", json={"value": x.tolist()})
    variables = {"x": {"ref": tensor.json()["ref"]}}
    answers = [
        await pooled.post("/v1/gradient", json={"program": program, "variables": variables})
        for program in ({"name": "loop"}, {"ref": registered.json()["id"]}, LOOP)
    ]
    gradients = [answer.json()["gradients"]["x"] for answer in answers]
    assert gradients[0] == gradients[1] == gradients[2]
    assert len(gradients[0]) == len(x)


@pytest.mark.parametrize(("seconds", "by_worker"), [(1e-6, 1), (1e6, 9)])
async def test_short_work_moves_to_the_event_loop(served, clock, monkeypatch, seconds, by_worker):
    """A worker measures these seconds, and none pass on the event loop."""
    apply = Exchange.apply
    monkeypatch.setattr(
        Exchange, "apply", lambda of, outcome: apply(of, replace(outcome, next_seconds=seconds))
    )
    monkeypatch.setattr(routes, "_PREPARE_SECONDS", 3600.0)
    request = {"program": "x * sin(x)", "variables": {"x": 0.5}}
    async with served(processes=1, inline_microseconds=3600 * 10**6, clock=clock) as client:
        for _ in range(9):
            assert (await client.post("/v1/gradient", json=request)).status_code == 200
        assert await metric(client, "queue_wait_seconds_count") == by_worker


async def test_a_worker_stops_at_the_deadline_and_accepts_the_next_task(lenient, pooled):
    assert (await pooled.post(REQUESTS[0][0], json=REQUESTS[0][1])).status_code == 200
    before = workers(pooled)
    late = await pooled.post("/v1/evaluate", json={**ENDLESS, "timeout_ms": 100})
    assert told(late)[0] == 504
    assert late.json()["code"] == "deadline_exceeded"
    good = await pooled.post(REQUESTS[0][0], json=REQUESTS[0][1])
    assert good.status_code == 200
    assert workers(pooled) == before


async def test_a_worker_that_ignores_its_deadline_is_killed(pooled):
    assert (await pooled.post(REQUESTS[0][0], json=REQUESTS[0][1])).status_code == 200
    before = workers(pooled)
    (worker,) = before
    os.kill(worker, signal.SIGSTOP)  # like a worker in a long call of a library, it polls nothing
    late = await pooled.post("/v1/evaluate", json={**ENDLESS, "timeout_ms": 50})
    assert late.json().get("code") == "deadline_exceeded", late.text
    await until(lambda: workers(pooled) != before)
    good = await pooled.post(REQUESTS[0][0], json=REQUESTS[0][1])
    assert good.status_code == 200


async def test_killing_a_worker_fails_only_its_request(pooled):
    assert (await pooled.post(REQUESTS[0][0], json=REQUESTS[0][1])).status_code == 200
    running = asyncio.create_task(pooled.post("/v1/evaluate", json=ENDLESS))
    pid = await computing()
    os.kill(pid, signal.SIGKILL)
    refused = await running
    assert (refused.status_code, refused.json()["code"]) == (413, "over_budget")
    good = await pooled.post(REQUESTS[0][0], json=REQUESTS[0][1])
    assert good.status_code == 200
    assert pid not in workers(pooled)


async def test_long_computations_do_not_block_others(served):
    async with served(processes=3, cores=1) as client:
        running = asyncio.create_task(client.post("/v1/evaluate", json=ENDLESS))
        await computing()
        asked = [client.post(path, json=document) for path, document in REQUESTS[:1] * 5]
        assert {answer.status_code for answer in await asyncio.gather(*asked)} == {200}
        assert not running.done()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_a_disconnect_stops_the_computation(lenient, pooled):
    assert (await pooled.post(REQUESTS[0][0], json=REQUESTS[0][1])).status_code == 200
    before = workers(pooled)
    running = asyncio.create_task(pooled.post("/v1/evaluate", json=ENDLESS))
    await computing()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    good = await pooled.post(REQUESTS[0][0], json=REQUESTS[0][1])
    assert good.status_code == 200
    assert workers(pooled) == before


async def test_exceeding_a_workers_memory_limit_is_refused(served):
    async with served(processes=1, process_bytes=256 << 20) as client:
        assert (await client.post(REQUESTS[0][0], json=REQUESTS[0][1])).status_code == 200
        before = workers(client)
        many = {"program": "x * ones((100_000_000,))", "variables": {"x": 1.0}}
        refused = await client.post("/v1/evaluate", json=many)
        assert (refused.status_code, refused.json()["code"]) == (413, "over_budget")
        good = await client.post(REQUESTS[0][0], json=REQUESTS[0][1])
        assert good.status_code == 200
        assert workers(client) == before


async def test_a_response_too_large_for_a_worker_is_refused(served):
    """One array, returned so often that its copies do not fit."""
    async with served(processes=1, process_bytes=128 << 20) as client:
        names = ", ".join(f"'y{number}': y" for number in range(30))
        program = f"y = x * ones((1_000_000,))\n{{{names}}}"
        request = {"program": program, "variables": {"x": 1.0}}
        headers = {"accept": "application/msgpack"}
        refused = await client.post("/v1/evaluate", json=request, headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (413, "over_budget")
        good = await client.post(REQUESTS[0][0], json=REQUESTS[0][1])
        assert good.status_code == 200


@pytest.mark.thorough
async def test_running_out_of_memory_in_json_libraries_is_refused(served):
    """A worker with too little memory to read or write JSON is not killed."""
    async with served(processes=1, process_bytes=64 << 20) as client:
        statuses: set[int] = set()
        for count in range(200_000, 3_200_000, 500_000):
            program = f"x * ones(({count},))"
            request = {"program": program, "variables": {"x": 0.1}}
            written = await client.post("/v1/evaluate", json=request)
            numbers = ",".join(["0.5"] * count)
            document = f'{{"program": "sum(x)", "variables": {{"x": [{numbers}]}}}}'
            headers = {"content-type": "application/json"}
            read = await client.post("/v1/evaluate", content=document, headers=headers)
            statuses |= {written.status_code, read.status_code}
        assert statuses == {200, 413}


@pytest.mark.thorough
async def test_running_out_of_memory_for_lists_is_refused(served):
    async with served(processes=1, process_bytes=64 << 20) as client:
        for array in "ones((n, 0)) * x", "ones((n, 1)) * x > 3", "ones((n, 1, 1)) * x":
            statuses = []
            for count in (50_000, 2_000_000, 50_000_000):  # it runs out midway, and at once
                request = {"program": f"n = {count}\n{array}", "variables": {"x": 1.5}}
                answer = await client.post("/v1/evaluate", json=request)
                statuses.append(answer.status_code)
            assert statuses == sorted(statuses), array
            assert set(statuses) == {200, 413}, array


async def test_a_crashing_worker_fails_only_its_request(pooled):
    request = {**ENDLESS, "program": "while x > 0: x = x + 1\nx"}
    running = asyncio.create_task(pooled.post("/v1/evaluate", json=request))
    os.kill(await computing(), signal.SIGSEGV)
    refused = await running
    assert (refused.status_code, refused.json()["code"]) == (500, "worker_crashed")
    assert "hint" in refused.json()
    good = await pooled.post(REQUESTS[0][0], json=REQUESTS[0][1])
    assert good.status_code == 200


async def test_long_bodies_and_responses_are_complete(pooled, served):
    x = np.linspace(-1, 1, 60_000)
    request = {"program": "x * x", "variables": {"x": x.tolist()}}
    answer = await pooled.post("/v1/gradient", json={**request, "target": None})
    np.testing.assert_array_equal(answer.json()["gradients"]["x"], 2 * x)
    async with served() as client:
        other = await client.post("/v1/gradient", json={**request, "target": None})
        assert other.json() == answer.json()


@pytest.mark.parametrize("processes", [0, 1])
async def test_the_timeout_of_a_long_body_applies_before_parsing(served, processes):
    """All workers may be busy, so the timeout cannot wait for the parser."""
    async with served(processes=processes, cores=1) as client:
        busy = [asyncio.create_task(client.post("/v1/evaluate", json=ENDLESS)) for _ in range(2)]
        while await metric(client, "queued") < 2:  # noqa: ASYNC110 - nothing reports it
            await asyncio.sleep(0.01)
        many = {"program": "x", "variables": {"x": [0.5] * 50_000}, "timeout_ms": 300}
        late = await client.post("/v1/evaluate", json=many)
        assert late.status_code in (503, 504)
        detail = late.json()["detail"]
        assert "its deadline of 300 ms" in detail or "the time left for the request" in detail
        assert not any(task.done() for task in busy)
        for task in busy:
            task.cancel()
        await asyncio.gather(*busy, return_exceptions=True)


async def test_processes_that_cannot_begin_are_started_slowly(monkeypatch, caplog):
    monkeypatch.setattr("gradwire_service.executors.serve", exit)  # which takes no such arguments
    slowly, sleep, slept = 86_400.5, asyncio.sleep, []

    async def sleep_shortly(seconds):
        slept.append(seconds)
        await sleep(0 if seconds == slowly else seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep_shortly)
    monkeypatch.setattr(pool, "_RETRY_SECONDS", slowly)
    those = create_app(Settings(processes=1, cores=1)).state.executors
    opening = asyncio.create_task(those.open())
    while caplog.text.count("ended unexpectedly") < 3:
        await sleep(0.01)
    opening.cancel()
    await those.close()
    assert 0 in slept[: slept.index(slowly)]  # the first starts at once
    assert slept.count(slowly) >= 2


async def test_workers_have_a_lower_priority_than_the_service(pooled):
    await pooled.post("/v1/evaluate", json={"program": LOOP, "variables": {"x": 0.3}})
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert min(os.getpriority(os.PRIO_PROCESS, pid) for pid in workers(pooled)) >= min(own + 5, 19)


async def test_workers_exit_with_the_service(served):
    before = children()
    async with served(processes=2):
        await until(lambda: len(children()) == len(before) + 2)
    assert children() == before


def test_messages_to_workers_contain_no_api_key():
    assert b"authorization" not in TASK_HEADERS
    assert b"cookie" not in TASK_HEADERS


def test_without_a_temporary_directory_the_error_says_what_to_do(monkeypatch, capsys, tmp_path):
    def none():
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr("tempfile.gettempdir", none)
    monkeypatch.setattr("gradwire_service.workers.forking._SHARED_MEMORY", tmp_path / "none")
    with pytest.raises(SystemExit, match="2"):
        main(["serve", "--processes", "1", "--watchdog-seconds", "0"])
    assert "GRADWIRE_PROCESSES=0" in capsys.readouterr().err


@pytest.mark.thorough
async def test_requests_may_be_repeated_when_what_starts_workers_was_ended(served):
    async with served(processes=1, cores=1) as client:
        for _ in range(3):  # more crashes than quarantine a program
            running = asyncio.create_task(client.post("/v1/evaluate", json=ENDLESS))
            worker = await computing()
            os.kill(int(stat_of(worker)[1]), signal.SIGKILL)
            refusal = (await running).json()
            assert (refusal["status"], refusal["code"]) == (503, "overloaded")
            await until(lambda ended=worker: workers(client) not in ([], [ended]))
        answer = await client.post("/v1/gradient", json={"program": LOOP, "variables": {"x": 0.3}})
        assert answer.status_code == 200
