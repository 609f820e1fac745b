"""Programs as graphs, and requests about stored programs, tensors and tapes."""

from __future__ import annotations

import json
import struct
from random import Random
from typing import Any

from tests.fleet.attacks.attack import (
    TIMEOUT_MS,
    Attack,
    Requests,
    asked,
    clipped,
    family,
    request,
)

_JSON = {"timeout_ms": TIMEOUT_MS}
_TIMEOUT = b"Gradwire-Timeout-Ms: %d" % TIMEOUT_MS


def _graph(nodes: list[Any], outputs: object = "a") -> dict[str, Any]:
    return {"format": "gradwire/1", "nodes": nodes, "outputs": outputs}


def _nested(operation: str, depth: int, times: int = 1) -> Any:
    argument: Any = "x"
    for _ in range(depth):
        argument = {"op": operation, "args": [argument] * times}
    return argument


@family(10)
def huge_graphs(number: int, choose: Random) -> Attack:
    """Graphs with many nodes, arguments or attributes, and invalid graphs."""
    n = choose.randint(50_000, 200_000)
    chain = [{"id": f"n{i}", "op": "sin", "args": [f"n{i - 1}" if i else "x"]} for i in range(n)]
    doubled = [
        {"id": f"n{i}", "op": "add", "args": [f"n{i - 1}" if i else "x"] * 2} for i in range(n // 9)
    ]
    stacked = [
        {"id": f"n{i}", "op": "stack", "args": [[f"n{i - 1}" if i else "x"] * 2]} for i in range(60)
    ]
    graphs = [
        lambda: _graph(chain, f"n{n - 1}"),
        lambda: _graph(doubled, doubled[-1]["id"]),
        lambda: _graph(stacked, "n59"),
        lambda: _graph([{"id": "a", "op": "stack", "args": [["x"] * n]}]),
        lambda: _graph([{"id": "a", "op": "sum", "args": ["x"], "attrs": {"axis": [0] * n}}]),
        lambda: _graph([{"id": "a", "op": "add", "args": [_nested("sin", 400), "x"]}]),
        lambda: _graph([{"id": "a", "op": "sin", "args": ["x"]}] * n),
        lambda: _graph(list(reversed(chain)), "n1"),
        lambda: _graph([{"id": "a", "op": "zeros", "args": [], "attrs": {"shape": [n, n]}}]),
        lambda: _graph(chain[:9], [f"n{i % 9}" for i in range(n)]),
    ]
    program = graphs[number % len(graphs)]()
    document = {"program": program, "variables": {"x": 1.0}}
    return asked(f"a graph of kind {number % len(graphs)}, {n}", "/v1/gradient", document)


@family()
def references(number: int, choose: Random) -> Attack:
    """References to missing records, or many references to one large tensor."""
    n = choose.randint(1000, 100_000)
    unknown = [{"ref": f"sha256:{i:064x}"} for i in range(n)]
    if number % 2:
        variables = {"x": unknown if number % 4 == 1 else dict(enumerate(unknown))}
        return asked(f"{n} unknown", "/v1/gradient", {"program": "1.0", "variables": variables})
    numbers = choose.randint(4, 7) * 10**6
    return Attack(f"{numbers} numbers, {n // 100} times", lambda: _stored(numbers, n // 100))


def _stored(numbers: int, times: int) -> Requests:
    """A tensor that is stored, used by reference and deleted."""
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (%d,)}" % numbers
    file = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(8 * numbers)
    kind = b"Content-Type: application/x-npy"
    made = yield [request("/v1/tensors", file, kind, method="PUT")]
    ref = made.member("ref")
    variables = {f"x{i}": {"ref": ref} for i in range(times)}
    program = "+".join(f"sum(x{i} * x{i})" for i in range(min(times, 99)))
    document = {"program": program, "variables": variables, "encoding": "base64", **_JSON}
    yield [request("/v1/gradient", json.dumps(document).encode())]
    yield [request(f"/v1/tensors/{ref}", method="DELETE")]


@family()
def pictures(number: int, choose: Random) -> Attack:
    """Pictures of programs too large to look at."""
    n = choose.randint(500, 3000)
    programs = [
        "\n".join(f"a{i} = sin(a{i - 1 if i else ''}) + a{i // 2}" for i in range(1, n)),
        "y = x\n" + "y = sin(y) * y\n" * n + "y",
        "y = " + " + ".join(f"sin(x * {i})" for i in range(n)),
        "[" + ", ".join(f"x * {i}" for i in range(n)) + "]",
        "\n".join(f"y{i} = x{i}" + "".join(f" + x{j}" for j in range(40)) for i in range(n // 9)),
        "for i in range(10**9): x = sin(x)\nx",
        "a = x\n" + "a = stack([a, a])\n" * 60 + "a",
        "def f(n): return x if n < 2 else f(n - 1) + f(n - 2)\nf(40)",
    ]
    form = choose.choice(["svg", "dot", "json"])
    query = choose.choice(["", "?type=x:float64[1000000]", f"?target={'y' * 2000}"])
    path = f"graph.{form}{query}"
    program = programs[number % len(programs)]
    return Attack(f"{path[:40]} of {clipped(program, 60)}", lambda: _drawn(program, path))


def _drawn(program: str, path: str) -> Requests:
    """A program that is registered, drawn and deleted."""
    made = yield [request("/v1/programs", json.dumps({"program": program}).encode())]
    name = made.member("id")
    yield [request(f"/v1/programs/{name}/{path}", b"", _TIMEOUT, method="GET")]
    yield [request(f"/v1/programs/{name}", method="DELETE")]


@family()
def tapes(number: int, choose: Random) -> Attack:
    """Tapes that are slow to record, to show or to differentiate."""
    n = choose.randint(2000, 6000)
    programs = [
        "y = x\nfor i in range(10**9): y = sin(y)\ny",
        f"y = x\n{'y = sin(y)' + chr(10)}" * n + "y",
        f"y = outer(x * ones({n}), ones({n}))",
        f"v = x * ones({n})\ny = outer(v, v) @ outer(v, v)",
        "y = x\nwhile y > 0: y = y + 1\ny",
        f"y = sin(x * arange({n * 1000}))",
        f"y = [x * i for i in range({n * 10})]",
        f"y = sum(sort(sin(x * arange({n * 3000}))))",
    ]
    program = programs[number % len(programs)]
    question, asked_for = [("gradient", {}), ("jacobian", {"target": "y"})][number // 2 % 2]
    return Attack(clipped(program), lambda: _recorded(program, question, asked_for))


def _recorded(program: str, question: str, more: dict[str, str]) -> Requests:
    """A tape that is recorded, shown, differentiated and deleted."""
    document = {"program": program, "variables": {"x": 1.0}, "persistent": True, **_JSON}
    made = yield [request("/v1/tapes", json.dumps(document).encode())]
    path = f"/v1/tapes/{made.member('tape')}"
    yield [request(path, method="GET")]
    yield [request(f"{path}/{question}", json.dumps({"sources": "x", **more, **_JSON}).encode())]
    yield [request(path, method="DELETE")]
