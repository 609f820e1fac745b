"""The peak memory of a server during a request of 64 MiB."""

from __future__ import annotations

from contextlib import closing

import numpy as np
from gradwire_service.wire.unpacking import unpack
from measure import Row, compared
from memory import forget_peak, peak_mib, resident_mib
from peers.by_hand import Array
from servers import GRADWIRE, Connection, http_request, running

from wire.forms import MESSAGEPACK, from_leaf, to_messagepack

_ELEMENTS = 1 << 23
_MIB = 8 * _ELEMENTS / (1 << 20)
_PROGRAM = "sum(x * x)"
#: A limit for bodies with room for the array.
_ROOM = {"GRADWIRE_MAX_BODY_BYTES": str(8 * _ELEMENTS + 1024)}


def report(*, quick: bool) -> list[str]:
    """Memory growth, each time in a new process."""
    rounds = 1 if quick else 3
    x = np.random.default_rng(0).normal(size=_ELEMENTS)
    body = [_MIB] * rounds
    value, gradient = (
        [growth_mib(kind, x) for _ in range(rounds)] for kind in ("evaluate", "gradient")
    )
    title = f"Peak memory of the server for {_PROGRAM}, x of {_MIB:.0f} MiB as MessagePack"
    rows = [
        Row.of("value", value, body, "MiB", ratio_bar=1.5),
        Row.of("value and gradient, whose reply is as large", gradient, body, "MiB"),
    ]
    return [compared(title, "body", rows)]


def growth_mib(kind: str, x: Array) -> float:
    """The growth of the peaks of all processes in MiB, relative to a request of ten numbers."""
    with (
        running(GRADWIRE, environment=_ROOM) as server,
        closing(Connection(server.port)) as connection,
    ):
        _check(connection.exchange(_request(kind, x[:10])), x[:10])
        request = _request(kind, x)
        family = server.family()
        before = sum(map(resident_mib, family))
        for pid in family:
            forget_peak(pid)
        reply = connection.exchange(request)
        growth = sum(map(peak_mib, family)) - before
        _check(reply, x)
    return growth


def _request(kind: str, x: Array) -> bytes:
    body = to_messagepack({"program": _PROGRAM, "variables": {"x": x}})
    return http_request(f"/v1/{kind}", body, media_type=MESSAGEPACK)


def _check(reply: memoryview, x: Array) -> None:
    """Check the value ``x · x``, and the gradient ``2x`` if there is one."""
    answer = unpack(reply)
    value = answer["value"] if "value" in answer else answer["outputs"]
    np.testing.assert_allclose(from_leaf(value), x @ x, rtol=1e-9)
    if "gradients" in answer:
        np.testing.assert_array_equal(from_leaf(answer["gradients"]["x"]), 2 * x)
