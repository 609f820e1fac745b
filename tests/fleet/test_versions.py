"""Two versions of the service run side by side on one store: this one, and one from git."""

import asyncio
import io
import os
import subprocess
import sys
import tarfile
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.fleet.fleets import Replica
from tests.fleet.processes import until
from tests.fleet.test_jobs import ENDLESS, ended, none_runs, progressed
from tests.service.store.redis_server import REDIS, redis_server

ROOT = Path(__file__).parents[2]
#: The other version: one from which a fleet may be upgraded to this one, or any that is asked for.
OTHER = os.environ.get("OTHER_VERSION", "16706b73c274b5184214963a21fffb9a4d70a05c")
SHORT = {"program": "sum((x - 1)**2)", "variables": {"x": [3.0, 2.0]}, "background": True}


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    """The sources of the other version, as its PYTHONPATH."""
    archive = ["git", "archive", OTHER, "engine", "service", "clients/python"]
    found = subprocess.run(archive, cwd=ROOT, capture_output=True, check=False)
    if found.returncode:
        pytest.skip("the other version is not in this clone's history")
    folder = tmp_path_factory.mktemp("other")
    with tarfile.open(fileobj=io.BytesIO(found.stdout)) as sources:
        sources.extractall(folder, filter="data")
    return os.pathsep.join(f"{folder}/{part}" for part in ("service", "engine", "clients/python"))


@asynccontextmanager
async def replicas(folder, other, store):
    """A replica of each version; they share the store and the folder of machine code."""
    settings = {"STORE": store, "CODE_CACHE": f"{folder}/code", "PROCESSES": "1", "CORES": "1"}
    environment = {f"GRADWIRE_{name}": value for name, value in settings.items()}
    environment["GRADWIRE_JOB_PROCESSES"] = "1"
    new = Replica("new", folder, environment)
    old = Replica("old", folder, environment | {"PYTHONPATH": other}, apart=True)
    try:
        yield [await each.start().listening() for each in (new, old)]
    finally:
        for each in new, old:
            each.stop()


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["sqlite", "redis"])
async def test_two_versions_share_jobs_tapes_tensors_programs_and_code(tmp_path, other, kind):
    if kind == "redis":
        if REDIS is None:
            pytest.skip("redis-server is not installed")
        with redis_server(tmp_path) as server:
            await share(tmp_path, other, server.url)
    else:
        await share(tmp_path, other, f"sqlite:{tmp_path / 'store.db'}")


@pytest.mark.thorough
async def test_the_sdk_of_each_version_asks_the_service_of_the_other(tmp_path, other):
    session = Path(__file__).with_name("sdk_session.py")
    async with replicas(tmp_path, other, "memory:") as (new, old):
        for path, server in (other, new), ("", old):
            environment = os.environ | {"PYTHONPATH": path}
            command = sys.executable, session, f"http://127.0.0.1:{server.port}"
            asked = await asyncio.create_subprocess_exec(
                *command,
                env=environment,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
            said, _ = await asked.communicate()
            assert (asked.returncode, said.decode()) == (0, "")


async def share(folder, other, store):
    async with replicas(folder, other, store) as both:
        for here, there in both, both[::-1]:
            async with here.client() as one, there.client() as two:
                await records_are_shared(one, two)
                await jobs_are_shared(one, two, here)
        # Jobs that one version began go on in the other.
        for lost, left in both, both[::-1]:
            async with lost.client() as one, left.client() as two:
                path = (await one.post("/v1/minimize", json=ENDLESS)).headers["location"]
                await progressed(two, path, 1)
                lost.stop()
                while not (job := (await two.get(path)).json())["resumed"]:  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
                await progressed(two, path, job["progress"]["iteration"] + 1)
                assert (await two.delete(path)).status_code == 204
                await until(none_runs, left, least=1)
            await lost.start().listening()
        for each in both:
            assert "Traceback" not in each.log(1 << 20)


async def records_are_shared(one, two):
    """Programs, tensors and tapes that one version has stored are used by the other."""
    source = {"program": "y = sum(x ** 3)", "name": "cubes"}
    assert (await one.post("/v1/programs", json=source)).is_success
    ref = (await one.put("/v1/tensors", json={"value": [1.0, 2.0]})).json()["ref"]
    asked = {"program": {"name": "cubes"}, "variables": {"x": {"ref": ref}}, "sources": "x"}
    for _ in range(20):  # machine code of one is no matter to the other
        for client in one, two:
            found = await client.post("/v1/gradient", json=asked)
            assert found.json()["gradients"] == [3.0, 12.0]
    assert (await two.get("/v1/programs/cubes")).json()["variables"] == ["x"]
    tape = (
        await one.post("/v1/tapes", json={k: asked[k] for k in ("program", "variables")})
    ).json()
    found = await two.post(f"/v1/tapes/{tape['tape']}/gradient", json={"target": "y"})
    assert found.json()["gradients"]["x"] == [3.0, 12.0]


async def jobs_are_shared(one, two, begun_at):
    """A job that one version runs is listed, shown, followed and cancelled by the other."""
    path = (await one.post("/v1/minimize", json=SHORT)).headers["location"]
    job = await ended(two, path)
    assert job["result"]["solution"]["x"] == pytest.approx([1.0, 1.0], abs=1e-6)
    assert job["id"] in [each["id"] for each in (await two.get("/v1/jobs")).json()["jobs"]]
    endless = (await one.post("/v1/minimize", json=ENDLESS)).headers["location"]
    for client in one, two:
        async with client.stream("GET", f"{endless}/events") as events:
            async for line in events.aiter_lines():
                if line == "event: progress":
                    break
    assert (await two.delete(endless)).status_code == 204
    await until(none_runs, begun_at, least=1)
    assert (await one.get(endless)).json()["state"] == "cancelled"
    assert (await one.delete(path)).status_code == 204
