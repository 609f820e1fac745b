"""With a damaged SQLite file or a full disk, the service gives typed errors and keeps running."""

import os
import sys
from contextlib import asynccontextmanager

import httpx
import pytest

from tests.fleet.fleets import replica
from tests.service.store.test_full_disk import disk, use_up  # noqa: F401 - a fixture

PROGRAMS = 30
GARBAGE = os.urandom(100)


@asynccontextmanager
async def serving(folder, file):
    """A service that stores records in ``file``, and a client of it."""
    async with (
        replica(folder, store=f"sqlite:{file}", processes=0) as server,
        server.client() as client,
    ):
        yield server, client


async def registered(client):
    """Programs, each on its own pages of the file; texts by id."""
    found = {}
    for number in range(PROGRAMS):
        text = f"sum(x) * {number}\n# {'comment ' * 1000}"
        response = await client.post("/v1/programs", json={"program": text})
        assert response.status_code == 201, response.text
        found[response.json()["id"]] = text
    return found


async def is_sound(server, client):
    """Check that the process is the same, is ready and computes."""
    assert server.process.poll() is None
    for path in "/healthz", "/readyz", "/metrics":
        assert (await client.get(path)).status_code == 200
    asked = {"program": "sum(x * x)", "variables": {"x": [3.0]}}
    assert (await client.post("/v1/gradient", json=asked)).json()["gradients"] == {"x": [6.0]}


def is_unavailable(response: httpx.Response) -> bool:
    """True if the response is a complete error of the store."""
    if response.status_code != 503:
        return False
    problem = response.json()
    assert problem["code"] == "store_unavailable"
    assert problem["hint"]
    assert int(response.headers["retry-after"]) >= 1
    return True


async def test_a_service_starts_with_a_garbage_file_and_uses_a_new_one_without_restart(tmp_path):
    file = tmp_path / "kept.db"
    file.write_bytes(GARBAGE * 1000)
    async with serving(tmp_path, file) as (server, client):
        for response in (
            await client.post("/v1/programs", json={"program": "x"}),
            await client.get("/v1/programs"),
            await client.put("/v1/tensors", json=[1.0]),
            await client.post("/v1/tapes", json={"program": "x", "variables": {"x": 1.0}}),
            await client.get("/v1/tapes/none"),
            await client.delete("/v1/programs/none"),
        ):
            assert is_unavailable(response), response.text
        await is_sound(server, client)
        assert "move it away" in server.log(100_000)
        file.rename(tmp_path / "damaged.db")
        await registered(client)
        await is_sound(server, client)
    assert (tmp_path / "damaged.db").read_bytes() == GARBAGE * 1000


@pytest.fixture(scope="module")
async def held(tmp_path_factory):
    """The bytes of an intact file, and its programs."""
    folder = tmp_path_factory.mktemp("held")
    async with serving(folder, folder / "kept.db") as (_, client):
        texts = await registered(client)
    return (folder / "kept.db").read_bytes(), texts


# A file that is garbage at the start is above; tests of the store itself damage each kind of page.
@pytest.mark.parametrize(
    ("running", "damage"),
    [
        (False, "half"),
        (False, "pages"),
        (True, "header"),
        (True, "half"),
        (True, "empty"),
        (True, "pages"),
    ],
)
async def test_records_of_a_damaged_file_are_right_missing_or_refused(
    tmp_path, held, damage, running
):
    file, (sound, texts) = tmp_path / "kept.db", held
    file.write_bytes(sound)
    if not running:
        spoil(file, damage)
    async with serving(tmp_path, file) as (server, client):
        if running:
            spoil(file, damage)
        statuses = set()
        for id, text in texts.items():
            response = await client.get(f"/v1/programs/{id}")
            statuses.add(response.status_code)
            if response.status_code == 200:
                assert response.json()["text"] == text
            else:
                assert response.status_code == 404 or is_unavailable(response), response.text
        for response in (
            await client.get("/v1/programs"),
            await client.post("/v1/programs", json={"program": "x * 2"}),
            await client.delete(f"/v1/programs/{next(iter(texts))}"),
        ):
            assert response.status_code < 300 or response.status_code in (404, 503), response.text
        assert statuses != {200} or (running and damage == "header")  # its page is cached in memory
        await is_sound(server, client)


def spoil(file, damage):
    """Damage a file that the service may have open."""
    size = file.stat().st_size
    with file.open("r+b") as opened:
        if damage in ("half", "empty"):
            opened.truncate(size // 2 if damage == "half" else 0)
        elif damage == "header":
            opened.write(GARBAGE)
        else:
            for page in range(size // 2 // 4096, size // 4096):
                opened.seek(page * 4096)
                opened.write(os.urandom(4096))


@pytest.mark.skipif(sys.platform != "linux", reason="root mounts a disk")
async def test_on_a_full_disk_deleting_frees_space(tmp_path, disk):  # noqa: F811
    def packed(number):
        return {"value": [float(number)] * 30_000}

    async with serving(tmp_path, disk / "kept.db") as (server, client):
        held: list[str] = []
        while (response := await client.put("/v1/tensors", json=packed(len(held)))).is_success:
            held.append(response.json()["ref"])
        assert is_unavailable(response), response.text
        assert len(held) > 3
        await is_sound(server, client)
        other = use_up(disk)
        for ref in held[:3]:
            assert (await client.delete(f"/v1/tensors/{ref}")).status_code == 204
            assert (await client.get(f"/v1/tensors/{ref}")).status_code == 404
        other.unlink()
        for number in range(3):
            again = await client.put("/v1/tensors", json=packed(number))
            assert again.status_code == 201, again.text
            assert again.json()["ref"] == held[number]
        for number, ref in enumerate(held):
            asked = {"program": "sum(x) / 30_000", "variables": {"x": {"ref": ref}}}
            answer = await client.post("/v1/evaluate", json=asked)
            assert answer.json()["outputs"] == float(number)
        await is_sound(server, client)
