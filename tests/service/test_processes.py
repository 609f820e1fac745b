"""Computations in processes: the same answers, stopped at once, alone in what they break."""

import asyncio
import errno
import json
import os
import signal
import time
from multiprocessing import active_children
from pathlib import Path

import numpy as np
import pytest
from gradwire_service.__main__ import main
from gradwire_service.access.keyring import Caller
from gradwire_service.capacity import Bounds, Deadline, Queue
from gradwire_service.processes import Asked, Farm
from gradwire_service.settings import Settings
from gradwire_service.store import Unavailable
from gradwire_service.worker import serve

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes are held up by signals")

LOOP = "y = x\nfor i in range(300):\n    y = y + sin(y) / (1 + y * y)\ny"
ENDLESS = {"program": "while True: pass\nx", "variables": {"x": 1.0}, "timeout_ms": 20_000}
REQUESTS = [
    ("/v1/gradient", {"program": LOOP, "variables": {"x": 0.3}}),
    ("/v1/evaluate", {"program": "log(x)", "variables": {"x": 0.0}}),
    ("/v1/hessian", {"program": "sum(x ** 3)", "variables": {"x": [1.0, 2.0]}}),
    ("/v1/gradient", {"program": "x @ y", "variables": {"x": [1.0], "y": [1.0, 2.0]}}),
    ("/v1/gradient", {"program": "x +", "variables": {"x": 1.0}}),
    ("/v1/gradient", {"program": {"ref": "sha256:" + "0" * 64}, "variables": {}}),
    ("/v1/check", {"program": "tanh(x)", "variables": {"x": 0.5}}),
    ("/v1/gradient", {"program": "x * x", "variables": {"x": {"value": 2, "dtype": "float32"}}}),
]


def children():
    """The numbers of the processes that compute."""
    return sorted(process.pid or 0 for process in active_children())


def spent(pid):
    """The nanoseconds that a process has computed."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def state(pid):
    """How the system has a process: R runs, S sleeps, T stands still."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@pytest.fixture
async def apart(served):
    """A client of a service that computes in one process, unless it is short."""
    async with served(processes=1, pool_threads=1) as client:
        yield client


def told(response):
    """What a response says, but for what each has of its own."""
    document = response.json()
    document.pop("instance", None)
    return response.status_code, document


async def test_answers_are_those_of_threads(apart, served):
    async with served() as client:
        for path, document in REQUESTS:
            expected = told(await client.post(path, json=document))
            for _ in range(3):
                assert told(await apart.post(path, json=document)) == expected


async def test_what_is_referred_to_is_found(apart):
    registered = await apart.post("/v1/programs", json={"program": LOOP, "name": "loop"})
    x = np.linspace(0, 1, 20_000)
    tensor = await apart.put("/v1/tensors", json={"value": x.tolist()})
    variables = {"x": {"ref": tensor.json()["ref"]}}
    answers = [
        await apart.post("/v1/gradient", json={"program": program, "variables": variables})
        for program in ({"name": "loop"}, {"ref": registered.json()["id"]}, LOOP)
    ]
    gradients = [answer.json()["gradients"]["x"] for answer in answers]
    assert gradients[0] == gradients[1] == gradients[2]
    assert len(gradients[0]) == len(x)


async def test_what_is_short_moves_to_the_event_loop(apart):
    request = {"program": "x * sin(x)", "variables": {"x": 0.5}}
    outcomes = []
    for _ in range(4):
        before = sum(map(spent, children()))
        assert (await apart.post("/v1/gradient", json=request)).status_code == 200
        outcomes.append(sum(map(spent, children())) > before)
    assert outcomes[0]
    assert outcomes[2:] == [False, False]


async def test_a_process_that_is_over_its_time_stops_and_goes_on_with_the_next(apart):
    assert (await apart.post(REQUESTS[0][0], json=REQUESTS[0][1])).status_code == 200
    before = children()
    late = await apart.post("/v1/evaluate", json={**ENDLESS, "timeout_ms": 100})
    assert told(late)[0] == 504
    assert late.json()["code"] == "deadline_exceeded"
    good = await apart.post(REQUESTS[0][0], json=REQUESTS[0][1])
    assert good.status_code == 200
    assert children() == before


async def test_work_that_cannot_stop_is_killed(apart):
    before = set(children())
    assert (await apart.post(REQUESTS[0][0], json=REQUESTS[0][1])).status_code == 200
    program = "x = sin(arange(9000000.0)).reshape(3000, 3000) * c\nsum(svd(x, compute_uv=False))"
    request = {"program": program, "variables": {"c": 1.0}, "timeout_ms": 2000}
    late = await apart.post("/v1/evaluate", json=request)
    assert late.json().get("code") == "deadline_exceeded", late.text
    for _ in range(100):
        if before - set(children()):
            break
        await asyncio.sleep(0.01)
    assert len(before - set(children())) == 1
    good = await apart.post(REQUESTS[0][0], json=REQUESTS[0][1])
    assert good.status_code == 200


async def test_a_process_that_is_killed_takes_only_its_request_with_it(apart):
    assert (await apart.post(REQUESTS[0][0], json=REQUESTS[0][1])).status_code == 200
    running = asyncio.create_task(apart.post("/v1/evaluate", json=ENDLESS))
    await asyncio.sleep(0.5)
    (pid,) = [pid for pid in children() if state(pid) == "R"]
    os.kill(pid, signal.SIGKILL)
    refused = await running
    assert (refused.status_code, refused.json()["code"]) == (413, "over_budget")
    good = await apart.post(REQUESTS[0][0], json=REQUESTS[0][1])
    assert good.status_code == 200
    assert pid not in children()


async def test_a_long_computation_stands_still_while_others_go_first(apart):
    running = asyncio.create_task(apart.post("/v1/evaluate", json=ENDLESS))
    await asyncio.sleep(1.5)
    other = {"authorization": "Bearer other"}
    seen = set[str]()
    start = time.monotonic()
    asked = [
        asyncio.create_task(apart.post(path, json=document, headers=other))
        for path, document in REQUESTS[:1] * 5
    ]
    while not all(task.done() for task in asked):
        seen.update(state(pid) for pid in children())
        await asyncio.sleep(0.001)
    assert {task.result().status_code for task in asked} == {200}
    assert time.monotonic() - start < 10
    assert "T" in seen
    assert not running.done()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_processes_end_with_the_service(served):
    async with served(processes=2):
        assert len(children()) == 3
    assert children() == []


def test_what_goes_to_a_process_holds_no_key():
    assert json.dumps(Asked._fields) == json.dumps(
        ["kind", "headers", "body", "caller", "deadline"]
    )


async def test_a_process_that_was_left_without_what_it_asked_for_answers_nobody_else():
    """Else the next request would be taken for what was looked up, and its answer be another's."""

    def fail(shelf, reference):
        raise Unavailable("the store cannot be reached")

    settings = Settings(processes=1)
    farm = Farm(serve, settings, Queue(1, Bounds(1, 1000)), apart=False)

    def asked(document):
        caller = Caller("", "", "somebody")
        return Asked("evaluate", [], json.dumps(document).encode(), caller, Deadline(10_000))

    refers = asked({"program": "x", "variables": {"x": {"ref": "sha256:" + "0" * 64}}})
    try:
        for number in range(4):
            with pytest.raises(Unavailable):
                farm.lend().compute(refers, fail)
            good = asked({"program": "x", "variables": {"x": number}})
            computed = farm.lend().compute(good, fail)
            assert json.loads(b"".join(computed.body))["outputs"] == number
    finally:
        farm.close()


def test_without_a_folder_for_temporary_files_it_is_said_what_is_needed(monkeypatch, capsys):
    def none():
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr("gradwire_service.processes.farm.gettempdir", none)
    with pytest.raises(SystemExit, match="2"):
        main(["serve", "--processes", "1", "--port", "0"])
    assert "GRADWIRE_PROCESSES is set" in capsys.readouterr().err
