"""A service does not grow with long use."""

import asyncio
import os
import sys
import time
from collections import Counter
from statistics import median

import pytest

from tests.fleet import asks, load
from tests.fleet.fleets import replica
from tests.fleet.load import Ask
from tests.fleet.processes import Figures, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

#: Loads, between which resources are sampled; in ``make soak`` as many as fit into ten minutes.
SLICES = 12
SECONDS = float(os.environ.get("FLEET_SOAK_SECONDS", "0"))
#: Clients, and the requests of each in a slice.
CLIENTS, EACH = 4, 25
#: Small limits, so that all caches fill up soon.
SETTINGS = {
    "cache_bytes": 4 << 20,
    "local_cache_bytes": 4 << 20,
    "tape_values_bytes": 1 << 20,
    "tape_ttl_seconds": 30,
    "tensor_ttl_seconds": 30,
    "cores": 2,
}
#: Programs that change: texts are cached, with a larger limit than the number sent here.
DIFFERENT = 50
#: The difference between two memory samples of a process that does not grow.
NOISE_BYTES = 8 << 20
NOISE_FILES = NOISE_THREADS = NOISE_TASKS = 4


async def test_memory_files_threads_and_tasks_do_not_grow(tmp_path, tell):
    store = f"sqlite:{tmp_path}/kept.db"
    async with replica(tmp_path, store=store, **SETTINGS) as alone:
        async with alone.client() as client:
            mix = await asks.mixed(client)
            tapes = [ask for ask in mix if ask.name == "tape"]
        mix = [ask for ask in mix if ask not in tapes]
        outcomes = Counter[str]()
        seen: list[Figures] = []
        enough = asyncio.Event()
        strangers = asyncio.create_task(come_and_go(alone, enough))
        began = time.monotonic()
        while len(seen) < SLICES or time.monotonic() < began + SECONDS:
            answers = await load.closed(alone.port, mix, clients=CLIENTS, each=EACH)
            outcomes.update(answer.outcome for answer in answers.all)
            seen.append(alone.figures())
            if len(seen) == 3:
                tasks = await alone.metric("gradwire_tasks")
        enough.set()
        tell("rounds of those who come and go", await strangers)
        await until(idle, alone, least=1)
        tell("answers", outcomes)
        assert outcomes.keys() <= {"right", "overloaded"}
        quarter = len(seen) // 4
        early, late = seen[quarter : 2 * quarter], seen[-quarter:]
        for name, noise in (
            ("resident_bytes", NOISE_BYTES),
            ("threads", NOISE_THREADS),
            ("files", NOISE_FILES),
        ):
            before, after = (median(getattr(one, name) for one in some) for some in (early, late))
            tell(name, f"{before:.0f}, then {after:.0f}; at the end {getattr(seen[-1], name)}")
            assert after <= before + noise
        assert await alone.metric("gradwire_queued") == 0
        assert await alone.metric("gradwire_tasks") <= tasks + NOISE_TASKS


async def come_and_go(server, enough) -> int:
    """Store things for single use, send invalid requests, and disconnect early."""
    rounds = 0
    while not enough.is_set():
        rounds += 1
        times = 1 + rounds % DIFFERENT
        async with server.client() as client:
            program = f"y = sum(x * {times})"
            x = [float(times), 2.0, 3.0]
            made = await client.post("/v1/programs", json={"program": program})
            assert made.status_code == 201
            by_id = {"program": {"ref": made.json()["id"]}, "variables": {"x": x}}
            found = await client.post("/v1/evaluate", json=by_id)
            assert found.json()["outputs"] == sum(x) * times
            assert (await client.delete(f"/v1/programs/{made.json()['id']}")).status_code == 204
            tape = await client.post("/v1/tapes", json={"program": program, "variables": {"x": x}})
            path = f"/v1/tapes/{tape.json()['tape']}/gradient"
            gradient = await client.post(path, json={"target": "y", "sources": "x"})
            assert gradient.json()["gradients"] == [times] * 3
            stored = await client.put("/v1/tensors", json=x * 1000)
            by_ref = {"program": "sum(x)", "variables": {"x": {"ref": stored.json()["ref"]}}}
            found = await client.post("/v1/evaluate", json=by_ref)
            assert found.json()["outputs"] == sum(x) * 1000
            for wrong in ({"program": f"y = ({times}"}, {"program": f"x{times}"}, [times]):
                assert (await client.post("/v1/gradient", json=wrong)).status_code in (400, 422)
            assert (await client.get(f"/nothing/{times}")).status_code == 404
        endless = {"program": f"while x > {times}: x = x + 1", "variables": {"x": times + 1.0}}
        async with load.unread(server.port, [Ask("", "/v1/evaluate", endless)]):
            await asyncio.sleep(0.02)
    return rounds


async def idle(server) -> float:
    """1 when no request is in progress."""
    return float(not await server.metric("gradwire_in_flight"))
