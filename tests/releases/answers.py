"""The answers of a release to 500 programs, which all later ones give again: see README.md.

``python -m tests.releases.answers VERSION`` asks this version, and writes ``VERSION.json``.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from tests.patient import patient_app

HERE = Path(__file__).parent
_CONTRACT = HERE.parent / "contract" / "cases"
_RECORDED = HERE.parent / "engine" / "recorded"
COUNT = 500
_COMPUTES = ("/v1/evaluate", "/v1/gradient", "/v1/jacobian", "/v1/hessian", "/v1/jvp", "/v1/hvp")

Request = dict[str, Any]


def of_contract() -> Iterator[Request]:
    """The requests of the contract that are answered."""
    for path in sorted(_CONTRACT.glob("*.json")):
        case = json.loads(path.read_text(encoding="utf-8"))
        asked = case["request"]
        if asked["path"] in _COMPUTES and case["expect"]["status"] == 200:
            yield {"path": asked["path"], "body": asked["body"]}


def of_libraries() -> Iterator[Request]:
    """The gradients that libraries gave, of finite real numbers, in an order that mixes them."""
    files = [json.loads(path.read_text()) for path in sorted(_RECORDED.glob("*.json"))]
    for case in sorted(chain(*files), key=lambda case: sha256(case["text"].encode()).digest()):
        given = case["variables"]
        if all(_is_plain(packed) for packed in given.values()):
            variables = {
                name: {
                    "value": np.reshape(packed["data"], packed["shape"]).tolist(),
                    "dtype": packed["dtype"],
                }
                for name, packed in given.items()
            }
            sources = [name for name in given if given[name]["dtype"] != "int64"]
            body = {"program": case["text"], "variables": variables, "sources": sources}
            yield {"path": "/v1/gradient", "body": body}


def _is_plain(packed: dict[str, Any]) -> bool:
    """True of finite real numbers."""
    numbers = np.asarray(packed["data"])
    return packed["dtype"] in ("float32", "float64", "int64") and bool(np.isfinite(numbers).all())


async def answer(http: httpx.AsyncClient, request: Request) -> tuple[int, dict[str, Any]]:
    """The status and the answer."""
    response = await http.post(request["path"], json=request["body"])
    return response.status_code, response.json()


@asynccontextmanager
async def served() -> AsyncIterator[httpx.AsyncClient]:
    """A client of an application of its own."""
    app = patient_app()
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        yield client
    app.state.executors.shut()


async def record(version: str) -> None:
    """Write the answers of this version."""
    answered: list[dict[str, Any]] = []
    async with served() as http:
        for request in chain(of_contract(), of_libraries()):
            status, found = await answer(http, request)
            if status == 200:
                answered.append({**request, "answer": found})
            if len(answered) == COUNT:
                break
    lines = ",\n".join(json.dumps(each) for each in answered)
    (HERE / f"{version}.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(record(sys.argv[1]))
