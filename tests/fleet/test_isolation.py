"""No tenant of a service can read, list, move, starve or see another's resources.

Whether response times reveal them is measured by ``make attacks``, and only reported.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from functools import partial
from itertools import count
from pathlib import Path
from secrets import token_hex
from statistics import median
from typing import Any, NamedTuple

import httpx
import pytest
from gradwire_service.access.tokens import new_token

from tests.fleet.tenants import House, Tenants, house
from tests.fleet.watch import Watch, compared

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are ended by signals")

PROGRAM = "y = sum(a * x ** 2)"
SIMPLE = "y = sum(x ** 2)"
VALUES = {"a": [1.0, 2.0], "x": [3.0, 4.0]}
ABSENT = "sha256:" + "0" * 64
#: Parts of responses that differ between any two requests.
DIFFERING = "instance", "x-request-id", "server-timing", "date"

#: One service per store serves all tests; unused tenants see it as new.
SETTINGS = {
    "cores": 2,
    "queue_requests": 16,
    **{f"max_{kind}_per_tenant": 6 for kind in ("programs", "tensors", "tapes")},
}
#: Measurements take long, and depend on what else the machine does.
measured = pytest.mark.asked("FLEET_ATTACK_SECONDS")
#: For tests that do not depend on the store.
once = pytest.mark.parametrize("place", ["memory"], indirect=True)


@pytest.fixture(scope="module", params=["memory", "sqlite", "redis"])
async def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[House]:
    """A service with each kind of store."""
    folder = tmp_path_factory.mktemp("isolation")
    kept = {"store": "memory:" if request.param == "memory" else f"sqlite:{folder / 'kept.db'}"}
    if request.param == "redis":
        url = request.getfixturevalue("redis_url")
        kept = {"store": url, "store_prefix": f"isolation-{token_hex(8)}"}
    if request.param != "memory":
        kept["processes"] = "0"  # what is stored does not depend on workers
    async with house(folder, **SETTINGS, **kept) as service:
        yield service


@pytest.fixture
async def both(place: House) -> AsyncIterator[Tenants]:
    """Two tenants without stored resources."""
    async with place.tenants() as clients:
        yield clients


class Held(NamedTuple):
    """The ids and names of a tenant's resources."""

    program: str
    name: str
    tensor: str
    tape: str
    job: str


async def keep(client: httpx.AsyncClient, name: str, factor: float = 1.0) -> Held:
    """Store a program, a tensor and a tape, and run a job."""
    text = f"{PROGRAM} * {factor}"
    program = await client.post("/v1/programs", json={"program": text, "name": name})
    tensor = await client.put("/v1/tensors", json=[1.0, 2.0, factor])
    asked = {"program": text, "variables": VALUES, "persistent": True}
    tape = await client.post("/v1/tapes", json=asked)
    for made in program, tensor, tape:
        assert made.status_code == 201, made.text
    optimised = {"program": SIMPLE, "variables": {"x": [factor]}, "background": True}
    job = await client.post("/v1/minimize", json=optimised)
    assert job.status_code == 202, job.text
    ids = program.json()["id"], name, tensor.json()["ref"], tape.json()["tape"], job.json()["id"]
    return Held(*ids)


def questions(held: Held) -> list[tuple[str, str, Any]]:
    """Every request for a tenant's resources: by their paths and by reference."""
    asked: list[tuple[str, str, Any]] = []
    for program in held.program, held.name:
        asked += [("GET", f"/v1/programs/{program}{form}", None) for form in ("", *FORMS)]
        asked.append(("DELETE", f"/v1/programs/{program}", None))
    asked += [(method, f"/v1/tensors/{held.tensor}", None) for method in ("GET", "HEAD", "DELETE")]
    asked += [(method, f"/v1/tapes/{held.tape}", None) for method in ("GET", "DELETE")]
    asked += [(method, f"/v1/jobs/{held.job}", None) for method in ("GET", "DELETE")]
    asked.append(("GET", f"/v1/jobs/{held.job}/events", None))
    for kind in "minimize", "least_squares":
        of_program = {"program": {"ref": held.program}, "variables": VALUES, "sources": ["x"]}
        of_tensor = {"program": SIMPLE, "variables": {"x": {"ref": held.tensor}}}
        asked += [("POST", f"/v1/{kind}", document) for document in (of_program, of_tensor)]
    for kind, document in KINDS.items():
        if kind != "evaluate":
            asked.append(("POST", f"/v1/tapes/{held.tape}/{kind}", document))
        for reference in {"ref": held.program}, {"name": held.name}:
            by_reference = {"program": reference, "variables": VALUES, **document}
            asked.append(("POST", f"/v1/{kind}", by_reference))
        with_tensor = {"program": SIMPLE, "variables": {"x": {"ref": held.tensor}}, **document}
        asked.append(("POST", f"/v1/{kind}", with_tensor))
    asked.append(("POST", "/v1/tapes", {"program": {"ref": held.program}, "variables": VALUES}))
    asked.append(("POST", "/v1/programs", {"program": {"ref": held.program}, "name": "mine-now"}))
    return asked


FORMS = "/graph.svg", "/graph.dot", "/graph.json"
KINDS: dict[str, dict[str, Any]] = {
    "evaluate": {},
    "gradient": {"target": "y"},
    "jacobian": {"target": "y"},
    "hessian": {"target": "y"},
    "jvp": {"target": "y", "tangents": {}},
    "hvp": {"target": "y", "vectors": {}},
    "check": {"target": "y"},
}


async def told(client: httpx.AsyncClient, question: tuple[str, str, Any], held: Held) -> Any:
    """The response to a request, without its own ids and the request's."""
    method, path, document = question
    answer = await client.request(method, path, json=document)
    headers = {name: text for name, text in answer.headers.items() if name not in DIFFERING}
    headers.pop("content-length", None)
    body = answer.text
    for id in held:
        body = body.replace(id, "ID")
    if body and answer.headers.get("content-type", "").endswith("json"):
        known = json.loads(body)
        known.pop("instance", None)
        body = json.dumps(known)
    return answer.status_code, headers, body


async def test_resources_of_others_look_like_missing_ones(both: Tenants):
    mine, theirs, _ = both
    held = await keep(theirs, "their-model")
    absent = Held(ABSENT, "there-is-no", ABSENT.replace("0", "1"), "A" * len(held.tape), "B" * 32)
    pairs = list(zip(questions(held), questions(absent), strict=True))
    assert len(pairs) > 40
    for foreign, none in pairs:
        answer = await told(mine, foreign, held)
        assert answer == await told(mine, none, absent), foreign
        assert answer[0] == 404, foreign
    for question, _ in pairs:  # everything still exists; deletions come last
        if question[0] != "DELETE":
            assert (await told(theirs, question, held))[0] < 400, question


@once
async def test_the_requests_cover_every_route(both: Tenants):
    """Every published path of a resource is among them."""
    mine, _, _ = both
    paths = (await mine.get("/openapi.json")).json()["paths"]
    held = Held("{program}", "{program}", "{ref}", "{tape}", "{job}")
    asked = {(method, path) for method, path, _ in questions(held)}
    named = {(method.upper(), path) for path in paths if "{" in path for method in paths[path]}
    assert named - asked == {("PUT", "/v1/tensors/{ref}")}


async def test_equal_resources_and_names_are_separate_per_tenant(both: Tenants):
    """Storing what another tenant has stored answers 201, not 200."""
    mine, theirs, _ = both
    held = await keep(theirs, "model")
    ours = await keep(mine, "model")  # which always answers 201
    assert (ours.program, ours.tensor) == (held.program, held.tensor)
    assert ours.tape != held.tape
    again = await mine.put(f"/v1/tensors/{ours.tensor}", json=[1.0, 2.0, 1.0])
    assert again.status_code == 200
    await theirs.post("/v1/programs", json={"program": "y = 7 * x", "name": "model"})
    document = {"program": {"name": "model"}, "variables": VALUES}
    for client, value in (mine, 41.0), (theirs, [21.0, 28.0]):
        answer = await client.post("/v1/evaluate", json=document)
        assert answer.json()["outputs"] == value
    counts = [
        len((await client.get("/v1/programs")).json()["programs"]) for client in (mine, theirs)
    ]
    assert counts == [1, 2]
    for path in f"/v1/programs/{held.program}", f"/v1/tensors/{held.tensor}":
        assert (await theirs.delete(path)).status_code == 204
        assert (await mine.get(path)).status_code == 200


@measured
async def test_whether_response_times_reveal_resources_of_others(both: Tenants, tell: Any):
    mine, theirs, _ = both
    held = await keep(theirs, "their-model")
    none = Held(ABSENT, "no-ones-model", ABSENT.replace("0", "1"), "A" * len(held.tape), "B" * 32)
    with closing(Watch(mine)) as watch:
        for kind, foreign, absent in (
            ("program", f"/v1/programs/{held.program}", f"/v1/programs/{none.program}"),
            ("name", f"/v1/programs/{held.name}", f"/v1/programs/{none.name}"),
            ("tensor", f"/v1/tensors/{held.tensor}", f"/v1/tensors/{none.tensor}"),
            ("tape", f"/v1/tapes/{held.tape}", f"/v1/tapes/{none.tape}"),
        ):
            ask = partial(watch.seconds, 404)
            found = compared(250, partial(ask, foreign), partial(ask, absent))
            tell(kind, found)
        for kind, document in (
            ("by id", {"program": {"ref": "PROGRAM"}, "variables": {"x": 1}}),
            ("by name", {"program": {"name": "NAME"}, "variables": {"x": 1}}),
            ("by digest", {"program": "x", "variables": {"x": {"ref": "TENSOR"}}}),
        ):
            asks = [asked_of(watch, document, of) for of in (held, none)]
            found = compared(250, asks[0], asks[1])
            tell(kind, found)


def asked_of(watch: Watch, document: Any, held: Held) -> Callable[[], float]:
    """A request that refers to another tenant's resources and must fail."""
    text = json.dumps(document)
    for word, id in ("PROGRAM", held.program), ("NAME", held.name), ("TENSOR", held.tensor):
        text = text.replace(word, id)
    return partial(watch.seconds, 404, "/v1/evaluate", json.loads(text))


@once
@measured
async def test_whether_response_times_reveal_which_keys_exist(both: Tenants, tell: Any):
    """A wrong secret for an existing key id, and a secret for an unknown one."""
    mine, theirs, _ = both
    id = theirs.headers["authorization"].split("_")[1]
    wrong = new_token()
    there, nowhere = (f"Bearer gw_{each}_{wrong.split('_')[2]}" for each in (id, "0" * 16))
    with closing(Watch(mine)) as watch:
        ask = partial(watch.seconds, 401, "/v1/programs", None)
        found = compared(1000, partial(ask, there), partial(ask, nowhere))
    tell("there, nowhere", found)


def long_program(number: int) -> str:
    """A program that is slow to compile and unique for each number."""
    return "\n".join(f"x = sin(x * {number}.{line} + 1)" for line in range(150)) + "\nx"


@once
@measured
async def test_whether_compile_times_reveal_programs_of_others(both: Tenants, tell: Any):
    """A first call takes as long as for a program that nobody has used; later ones take less."""
    later: list[float] = []
    mine, theirs, _ = both
    with closing(Watch(mine)) as watch, closing(Watch(theirs)) as other:

        def ask(watch: Watch, number: int) -> float:
            document = {"program": long_program(number), "variables": {"x": 0.5}}
            return watch.seconds(200, "/v1/gradient", document)

        numbers = count()

        def used() -> int:
            number = next(numbers)
            for _ in range(3):  # until it is completely compiled
                ask(other, number)
            return number

        def first() -> float:
            number = used()
            taken = ask(watch, number)
            # The second call generates code, which the third may wait for.
            later.append(min([ask(watch, number) for _ in range(4)]))
            return taken

        def new() -> float:
            used()  # a worker that has just forked a compiler is slower for any program
            return ask(watch, next(numbers))

        found = compared(25, first, new)
    tell("first, new", found)
    tell("later", f"{1e6 * median(later):.0f} µs")


async def test_one_tenant_cannot_evict_anothers_compiled_programs(tmp_path: Path):
    one_cache = {"processes": 1, "inline_microseconds": 0, "cache_bytes": 1 << 20}
    async with house(tmp_path, None, **one_cache) as service, service.tenants() as clients:
        mine, theirs, _ = clients
        asked = {"program": "y = sin(x) * 3", "variables": {"x": 1.0}}
        await mine.post("/v1/gradient", json=asked)
        for number in range(40):
            document = {"program": long_program(number), "variables": {"x": 1.0}}
            await theirs.post("/v1/gradient", json=document)
        before = await clients.counted("gradwire_executable_cache_total", outcome="miss")
        await mine.post("/v1/gradient", json=asked)
        after = await clients.counted("gradwire_executable_cache_total", outcome="miss")
        assert after == before


async def test_a_full_quota_does_not_affect_other_tenants(both: Tenants):
    """One tenant stores far more than fits, another a little, before and after."""
    mine, theirs, _ = both
    before = await keep(mine, "before", 2.0)
    refused = 0
    for number in range(20):
        for response in (
            await theirs.put("/v1/tensors", json=[float(number)]),
            await theirs.post("/v1/programs", json={"program": f"{number} * x"}),
            await theirs.post("/v1/tapes", json={"program": "x", "variables": {"x": number}}),
        ):
            assert response.status_code in (201, 413)
            refused += response.status_code == 413
    assert refused >= 20  # within its own quota
    after = await keep(mine, "after", 3.0)
    for held in before, after:
        for path in (
            f"/v1/programs/{held.name}",
            f"/v1/tensors/{held.tensor}",
            f"/v1/tapes/{held.tape}",
        ):
            assert (await mine.get(path)).status_code == 200, path


@once
async def test_a_busy_tenant_does_not_starve_another(both: Tenants):
    """When one tenant's work fills all processes and the queue, another tenant's is done."""
    values = {"variables": {"x": 1.0}}
    endless = {"program": "while x > 0: x = x + 1\nx", "timeout_ms": 3_600_000, **values}
    lengthy = {"program": "i = 0\nwhile i < 3000:\n  i = i + 1\n  x = x + 1\nx", **values}
    mine, theirs, _ = both
    queue = SETTINGS["queue_requests"]
    assert isinstance(queue, int)
    floods = [
        asyncio.create_task(theirs.post("/v1/evaluate", json=endless)) for _ in range(3 * queue)
    ]
    try:
        while await both.counted("gradwire_queued") < queue:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        for _ in range(10):
            for answer in (
                await mine.post("/v1/evaluate", json=lengthy),
                await mine.get("/v1/programs"),
            ):
                assert answer.status_code == 200, answer.text
        # None of theirs has ended: each was refused, dropped for mine, or waits and runs still.
        ended = [flood.result() for flood in floods if flood.done()]
        assert {answer.json()["code"] for answer in ended} == {"overloaded"}
        assert len(ended) < len(floods) - 2
    finally:
        for task in floods:
            task.cancel()
        await asyncio.gather(*floods, return_exceptions=True)
