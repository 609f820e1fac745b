"""Print a service's responses to the examples of the OpenAPI document, as JSON for the document.

Ids and times, which differ in each run, are replaced by those of the examples.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
from gradwire_service import examples
from gradwire_service.app import create_app
from gradwire_service.settings import Settings

_EXPIRES = "2030-01-01T00:00:00Z"
#: The single entries shown of long responses.
_OPERATION = "tanh"
_METRIC = "gradwire_in_flight"

#: What differs between runs of a job, and the time that an iteration is said to take.
_JOB = {
    "id": examples.PARAMETERS["job"],
    "created_at": "2029-12-31T00:00:00Z",
    "started_at": "2029-12-31T00:00:00Z",
    "finished_at": "2029-12-31T00:00:01Z",
    "expires_at": _EXPIRES,
    "progress": None,
}
_ITERATION_SECONDS = 0.001

_Ask = Callable[..., Awaitable[Any]]


async def answers() -> dict[str, dict[str, Any]]:
    """The responses of each operation, by the names of its examples."""
    app = create_app(Settings(cores=1, memory_bytes=64 << 30))
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:

        async def ask(method: str, path: str, **request: Any) -> Any:
            response = await client.request(method, path, **request)
            response.raise_for_status()
            return response.json() if "json" in response.headers["content-type"] else response.text

        answered = await _computed(ask) | await _kept(ask)
        answered |= await _solved(ask) | await _told(ask)
    app.state.executors.shut()
    app.state.job_executors.shut()
    return answered


async def _computed(ask: _Ask) -> dict[str, dict[str, Any]]:
    return {
        kind: {
            name: await ask("POST", f"/v1/{kind}", json=example["value"])
            for name, example in shown.items()
        }
        for kind, shown in [*examples.REQUESTS.items(), ("explain", examples.EXPLAIN)]
    }


async def _kept(ask: _Ask) -> dict[str, dict[str, Any]]:
    known = examples.PARAMETERS
    answered: dict[str, dict[str, Any]] = {}
    for operation, method, path, shown in (
        ("register_program", "POST", "/v1/programs", examples.PROGRAM),
        ("store_tensor", "PUT", "/v1/tensors", examples.TENSOR),
        ("store_tensor_as", "PUT", f"/v1/tensors/{known['ref']}", examples.TENSOR),
        ("record_tape", "POST", "/v1/tapes", examples.TAPE),
    ):
        answered[operation] = {
            name: await ask(method, path, json=example["value"]) for name, example in shown.items()
        }
    (made,) = answered["record_tape"].values()
    tape = f"/v1/tapes/{made['tape']}"
    for kind, shown in examples.TAPE_REQUESTS.items():
        answered[f"tape_{kind}"] = {
            name: await ask("POST", f"{tape}/{kind}", json=example["value"])
            for name, example in shown.items()
        }
    program = f"/v1/programs/{known['program']}"
    types = {name: known[name] for name in ("type", "target", "source")}
    for operation, path, query in (
        ("show_tape", tape, {}),
        ("list_programs", "/v1/programs", {}),
        ("show_program", program, {}),
        ("graph_json", f"{program}/graph.json", types),
        ("graph_dot", f"{program}/graph.dot", types),
        ("show_tensor", f"/v1/tensors/{known['ref']}", {}),
    ):
        answered[operation] = {"answer": await ask("GET", path, params=query)}
    _steady(answered)
    return answered


async def _solved(ask: _Ask) -> dict[str, dict[str, Any]]:
    answered = {
        kind: {
            name: await ask("POST", f"/v1/{kind}", json=example["value"])
            for name, example in shown.items()
        }
        for kind, shown in examples.SOLVE.items()
    }
    (example,) = examples.SOLVE["minimize"].values()
    made = await ask("POST", "/v1/minimize", json=example["value"] | {"background": True})
    path = f"/v1/jobs/{made['id']}"
    await ask("GET", f"{path}/events")  # they end with the job
    job, page = await ask("GET", path), await ask("GET", "/v1/jobs")
    for document in (job, *page["jobs"]):
        document.update(_JOB)
    for result in (*(a for of in answered.values() for a in of.values()), job["result"]):
        seconds = result["history"]["seconds"]
        seconds[:] = [_ITERATION_SECONDS * number for number in range(len(seconds))]
    return answered | {"show_job": {"answer": job}, "list_jobs": {"answer": page}}


async def _told(ask: _Ask) -> dict[str, dict[str, Any]]:
    paths = {"healthz": "/healthz", "readyz": "/readyz", "limits": "/v1/limits"}
    answered = {name: {"answer": await ask("GET", path)} for name, path in paths.items()}
    operations = (await ask("GET", "/v1/ops"))["ops"]
    chosen = [operation for operation in operations if operation["name"] == _OPERATION]
    lines = (await ask("GET", "/metrics")).splitlines(keepends=True)
    metric = "".join(line for line in lines if _METRIC in line.split())
    return answered | {"ops": {"part": {"ops": chosen}}, "metrics": {"part": metric}}


def _steady(value: Any) -> None:
    """Replace the current ids and times by those of the examples."""
    if isinstance(value, dict):
        for name, now in {"tape": examples.PARAMETERS["tape"], "expires_at": _EXPIRES}.items():
            if isinstance(value.get(name), str):
                value[name] = now
        value = list(value.values())
    if isinstance(value, list):
        for member in value:
            _steady(member)


if __name__ == "__main__":
    json.dump(asyncio.run(answers()), sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")
