"""Responses that are much larger than their requests, or that nobody reads."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from tests.fleet.attacks.attack import Attack, asked, family, request, sent

_ENCODINGS = ("list", "base64")
_ACCEPTED = (b"application/json", b"application/msgpack")


def _encoded(choose: Random, path: str, document: dict[str, Any], name: str) -> Attack:
    """A request for a response in a random encoding."""
    encoding, accept = choose.choice(_ENCODINGS), choose.choice(_ACCEPTED)
    coding = choose.choice([b"identity", b"gzip", b"zstd"])
    body = json.dumps({**document, "encoding": encoding, "timeout_ms": 700}).encode()
    name = f"{name}, as {encoding}, {accept.decode()}, {coding.decode()}"
    return sent(name, path, body, b"Accept: " + accept, b"Accept-Encoding: " + coding)


@family()
def one_array_many_times(number: int, choose: Random) -> Attack:
    """One array many times among the outputs."""
    n, times = choose.randint(10**4, 10**6), choose.randint(10**3, 10**5)
    outputs = [
        ["y"] * times,
        {str(i): "y" for i in range(times)},
        [[["y"] * 10] * 10] * (times // 100),
        ["x", "y"] * (times // 2),
    ][number % 4]
    document = {
        "program": f"y = sin(x * arange({n}))",
        "variables": {"x": 1.0},
        "outputs": outputs,
    }
    return _encoded(choose, "/v1/evaluate", document, f"{n} numbers {times} times")


@family()
def long_answers(number: int, choose: Random) -> Attack:
    """Tens of millions of numbers."""
    n = choose.randint(20, 40) * 10**6
    programs = [
        f"arange({n}) * x",
        f"ones(({n // 1000}, 1000)) * x",
        f"ones(({n}, 1)) * x",
        f"ones((1,) * 30 + ({n},)) * x",
        f"arange({n}) * (x + 1j)",
        f"arange({n}) * x > 3",
        f"[arange({n // 1000}) * x] * 1000",
        f"ones(({n}, 0)) * x",
    ]
    program = programs[number % len(programs)]
    document = {"program": program, "variables": {"x": 1.1234567}}
    return _encoded(choose, "/v1/evaluate", document, program)


@family()
def many_leaves(number: int, choose: Random) -> Attack:
    """Nested sources, outputs and targets with repeated leaves."""
    n = choose.randint(10**4, 10**5)
    leaves: Any = ["x"] * n
    for _ in range(choose.randint(0, 40)):
        leaves = [leaves]
    field = ("sources", "target", "outputs", "sources")[number % 4]
    path = ("/v1/gradient", "/v1/jacobian", "/v1/hessian", "/v1/check")[number // 2 % 4]
    document = {"program": "y = sum(x * x)", "variables": {"x": [1.0] * 99}, field: leaves}
    if field != "target":
        document["target"] = "y"
    return _encoded(choose, path, document, f"{path} of {n} {field}")


@family()
def many_reasons(number: int, choose: Random) -> Attack:
    """Responses with many explanations: unconnected gradients, nonfinite values."""
    n = choose.randint(20_000, 100_000)
    variables: dict[str, Any] = {"x": 1.0}
    program = "x * 2"
    if number % 4 == 0:
        variables |= {f"a{i}": 1.0 for i in range(n)}
    elif number % 4 == 1:
        variables |= {f"a{i}": {"value": 1.0, "trainable": False} for i in range(n)}
    elif number % 4 == 2:
        variables |= {f"a{i}": "word" for i in range(n)}
    else:
        program = "\n".join(f"y{i} = grad({i}.0, x)" for i in range(n // 10))
    path = ("/v1/gradient", "/v1/hessian")[number // 4 % 2]
    document = {"program": program, "variables": variables}
    return asked(f"{path} of {len(variables)} variables, {program[:30]}", path, document)


@family()
def unread(number: int, choose: Random) -> Attack:
    """A large response for a client that disconnects."""
    n = choose.randint(10**6, 10**7)
    document = {"program": f"arange({n}) * x", "variables": {"x": 1.25}, "encoding": "base64"}
    leaves_after = choose.uniform(0.01, 0.5)
    name = f"{n} numbers, gone after {leaves_after:.2f} s"
    return asked(name, "/v1/evaluate", document, leaves_after=leaves_after)


@family()
def half_bodies(number: int, choose: Random) -> Attack:
    """Bodies that end early or stall."""
    whole = request("/v1/gradient", json.dumps({"program": "x", "variables": {"x": 1}}).encode())
    chunked = whole.partition(b"Content-Length")[0] + b"Transfer-Encoding: chunked\r\n\r\n"
    long = request("/v1/gradient", b"[" + b"1," * 10**6)
    pieces = [
        [whole[: choose.randint(20, len(whole) - 1)]],
        [whole[i : i + 1] for i in range(len(whole) - 1)],
        [chunked, b"5\r\n[1,", b"2"],
        [chunked, b"fffffff\r\n" + b"[" * 10**6],
        [long[: choose.randint(1000, len(long) - 1)]],
        [chunked, *[b"1\r\n[\r\n"] * 1000],
        [whole.replace(b"Content-Length: ", b"Content-Length: 9")],
        [whole[:-9], whole[-9:-1]],
    ][number % 8]
    leaves_after = choose.uniform(0.1, 0.6)
    name = f"{len(pieces)} pieces of kind {number % 8}, gone after {leaves_after:.2f} s"

    def requests() -> Any:
        yield pieces

    return Attack(name, requests, leaves_after=leaves_after, pause=0.002)
