"""Gradwire as a tool of GradBench: one JSON document per line in, one out.

``GRADWIRE_URL`` is the address of a service; without it, one runs in this process.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import gradwire  # what only reads the programs needs none

NAMES = "hello gmm ba lstm ht kmeans ode llsq lse det particle saddle".split()
#: The default maximum of a service for the timeout of a request.
TIMEOUT_MS = 60_000
_PROGRAMS = Path(__file__).parent / "programs"
#: The evaluations whose programs begin with descent.txt.
_DESCENTS = {"particle", "saddle"}
#: Members of inputs that are counts or indices; all other numbers are real.
_INTEGERS = set("n m p d k s ell parents correspondences triangles".split())
#: Members that no program reads: the numbers of runs and the names of bones.
_UNREAD = {"min_runs", "min_seconds", "bone_names"}


def main() -> None:
    """Answer messages until the input ends."""
    with connected() as client:
        for line in sys.stdin:
            message = json.loads(line)
            answer = {"id": message["id"], **respond(client, message)}
            print(json.dumps(answer, default=_plain), flush=True)


def connected(url: str | None = None) -> gradwire.Client:
    """A client that sends all data with each request, so that each run does all of the work."""
    import gradwire

    url = url or os.environ.get("GRADWIRE_URL", "local")
    return gradwire.Client(url, references=False, timeout=TIMEOUT_MS / 1000 + 60, max_retries=0)


def respond(client: gradwire.Client, message: Mapping[str, Any]) -> dict[str, Any]:
    """The reply to a message; messages that need no result are only acknowledged."""
    from gradwire import GradwireError

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
    except GradwireError as error:
        return {"success": False, "error": str(error)}


def program(evaluation: str, function: str, settings: str = "") -> str:
    """The program text whose result is that of ``function`` of an evaluation.

    Each program defines functions of no arguments, with GradBench's names; their free names are
    the members of the input. ``settings`` are assignments that replace a program's own.
    """
    files = ["descent", evaluation] if evaluation in _DESCENTS else [evaluation]
    texts = [(_PROGRAMS / f"{name}.txt").read_text(encoding="utf-8") for name in files]
    return "\n\n".join([*texts, settings, f"{function}()"])


def variables(given: Any) -> dict[str, Any]:
    """An evaluation's input as the program's variables, each list of numbers one array.

    An input that is a number is called ``x``.
    """
    members = given if isinstance(given, Mapping) else {"x": given}
    return {name: _value(name, value) for name, value in members.items() if name not in _UNREAD}


def _value(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return variables(value)
    if isinstance(value, bool):
        return value
    return np.asarray(value, np.int64 if name in _INTEGERS else np.float64)


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


def _plain(value: np.ndarray | np.generic) -> Any:
    """An array or a number of NumPy as Python's."""
    return value.tolist()


if __name__ == "__main__":
    main()
