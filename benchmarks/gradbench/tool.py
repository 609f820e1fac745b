"""A tool for GradBench: answers its messages, one JSON document per line, with a service.

GRADWIRE_URL=http://127.0.0.1:8000 PYTHONPATH=benchmarks python -m gradbench.tool
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from time import perf_counter_ns
from typing import Any

import gradwire
import numpy as np

from gradbench.evaluations import NAMES, program, variables

#: The default maximum of a service for the timeout of a request.
TIMEOUT_MS = 60_000


def main() -> None:
    """Answer messages until the input ends."""
    with gradwire.Client() as client:
        for line in sys.stdin:
            message = json.loads(line)
            answer = {"id": message["id"], **respond(client, message)}
            print(json.dumps(answer, default=np.ndarray.tolist), flush=True)


def respond(client: gradwire.Client, message: Mapping[str, Any]) -> dict[str, Any]:
    """The reply to a message; messages that need no result are only acknowledged."""
    kind = message["kind"]
    if kind == "start":
        return {"tool": "gradwire"}
    if kind not in {"define", "evaluate"}:
        return {}
    if message["module"] not in NAMES:
        return {"success": False, "error": f"there is no evaluation {message['module']!r}"}
    if kind == "define":
        return {"success": True}
    try:
        return _evaluate(client, message)
    except gradwire.GradwireError as error:
        return {"success": False, "error": str(error)}


def _evaluate(client: gradwire.Client, message: Mapping[str, Any]) -> dict[str, Any]:
    """Run a function the requested number of times; each run is one request and its response."""
    text = program(message["module"], message["function"])
    given = message["input"]
    wanted = given if isinstance(given, Mapping) else {}
    values = variables(given)
    timings: list[dict[str, Any]] = []
    nanoseconds = 0
    while (
        len(timings) < max(1, wanted.get("min_runs", 1))
        or nanoseconds < wanted.get("min_seconds", 0) * 1_000_000_000
    ):
        start = perf_counter_ns()
        answer = client.evaluate(text, values, timeout_ms=TIMEOUT_MS)
        timings.append({"name": "evaluate", "nanoseconds": perf_counter_ns() - start})
        nanoseconds += timings[-1]["nanoseconds"]
    return {"success": True, "output": answer.outputs, "timings": timings}


if __name__ == "__main__":
    main()
