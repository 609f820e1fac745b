"""Records in the store are read whichever version of the service has written them.

Those in ``records`` were written by it as it was: before records had a version, and with version 1.
"""

import asyncio
import base64
import json
from pathlib import Path

import pytest
from gradwire_service.jobs import Job, Lease, Transitions, evictable
from gradwire_service.jobs.stored import Jobs
from gradwire_service.settings import Settings
from gradwire_service.store import Key, Record, Unavailable, open_store

FOLDER = Path(__file__).parent / "records"
WRITTEN = {file.stem: json.loads(file.read_text()) for file in sorted(FOLDER.glob("*.json"))}
#: What a later version may have added to heads that are objects, and to leases, which are lists.
LATER = {"colour": "blue", "sizes": [1, 2]}


def later(kind, head):
    """A head as a later version of the service may write it."""
    if kind in ("names", "job_parts"):
        return head
    found = json.loads(head)
    return json.dumps([*found, LATER] if isinstance(found, list) else LATER | found)


@pytest.fixture(params=["as written", "later"])
def kept_records(request, kept):
    """Fills a store with records; returns the settings, and the ids by what they are of."""

    def fill(name):
        written = WRITTEN[name]
        made = [
            json.loads(head)["created_at"]
            for kind, _, _, head, _ in written["records"]
            if kind == "jobs"
        ]
        now = lambda: max(made) + 60  # noqa: E731
        store = open_store(Settings(**kept), now)
        for kind, owner, id, head, body in written["records"]:
            given = later(kind, head) if request.param == "later" else head
            store.put(Key(kind, owner, id), Record(given, base64.b64decode(body)))
        store.close()
        return kept | {"now": now}, written["ids"]

    return fill


@pytest.mark.parametrize("kept", ["sqlite", "redis"], indirect=True)
@pytest.mark.parametrize("name", WRITTEN)
async def test_records_of_all_versions_are_read(served, kept_records, name):
    settings, ids = kept_records(name)
    async with served(**settings) as client:
        listed = (await client.get("/v1/jobs")).json()["jobs"]
        assert {f"/v1/jobs/{job['id']}" for job in listed} == {
            ids[state] for state in ("succeeded", "failed", "cancelled", "running")
        }
        for state in "succeeded", "failed", "cancelled":
            assert (await client.get(ids[state])).json()["state"] == state
        job = (await client.get(ids["succeeded"])).json()
        assert job["result"]["solution"]["x"] == pytest.approx([1.0, 1.0], abs=1e-6)
        found = await client.post(f"/v1/tapes/{ids['tape']}/gradient", json={"target": "y"})
        assert found.json()["gradients"]["x"] == [3.0, 12.0]
        tensor = await client.get(f"/v1/tensors/{ids['tensor']}")
        assert (tensor.json()["dtype"], tensor.json()["shape"]) == ("float64", [2])
        program = (await client.get("/v1/programs/cubes")).json()
        assert program.keys() == {"id", "name", "names", "variables", "outputs", "nodes", "text"}
        assert (program["id"], program["variables"]) == (ids["program"], ["x"])
        cubes = {"program": {"name": "cubes"}, "variables": {"x": {"ref": ids["tensor"]}}}
        gradient = await client.post("/v1/gradient", json=cubes | {"sources": "x"})
        assert gradient.json()["gradients"] == [3.0, 12.0]
        while not (job := (await client.get(ids["running"])).json())["resumed"]:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        assert job["state"] == "running"
        assert (await client.delete(ids["running"])).status_code == 204


def test_what_a_later_version_has_added_is_kept():
    job = Job.from_json(json.dumps(LATER | {"kind": "root", "created_at": 1.0}))
    assert (job.kind, job.digest, job.state, job.others) == ("root", "", "queued", LATER)
    assert json.loads(job._replace(state="running").to_json()).items() >= LATER.items()
    lease = Lease.from_json(json.dumps(["me", "one", "replica", 7.0, 3, 2, LATER]))
    assert lease is not None
    later = lease._replace(until=8.0).to_json()
    assert json.loads(later) == ["me", "one", "replica", 8.0, 3, 2, LATER]
    assert Lease.from_json(json.dumps({"owner": "me"})) is None


def test_what_only_a_later_version_may_write_is_left_alone():
    """It is read, and makes no room for others; neither does it end anything else."""
    store = open_store(Settings())
    jobs = Transitions(store, "replica", lambda *_: {})
    keys = [Key("jobs", "me", id) for id in ("one", "two", "six")]
    for key in keys:
        assert jobs.create(key, Job("root", 1.0), b"", "{}") is not None
    for key, state in zip(keys, ("queued", "succeeded", "paused"), strict=True):
        head = json.dumps({"version": 2, "state": state, "finished_at": 1.0})
        store.put(key, Record(head, b""))
        found = Jobs(store).find(key)
        assert (found.job.state, found.head) == (state, head)
        for change in (
            lambda key=key: jobs.cancel(key),
            lambda found=found: jobs.remove(found),
        ):
            with pytest.raises(Unavailable):
                change()
        jobs.take(key)
        (peeked,) = store.peek([key])
        assert peeked is not None
        assert peeked.head == head
    leases = list(jobs.leases())
    assert [jobs.claim(lease) for lease in leases] == [None] * 3
    assert list(jobs.leases()) == leases
    assert [*evictable(Jobs(store).listed("me", "", 10), 1e9)] == []
    store.close()
