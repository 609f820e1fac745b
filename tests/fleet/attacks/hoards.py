"""Not attacks by themselves: several tenants who each use all that they may."""

from __future__ import annotations

import json

import numpy as np

from tests.fleet.attacks.attack import Attack, Requests, request

#: About 480 MB of each tenant's 512 MiB.
_TENSORS, _NUMBERS = 10, 6_000_000
_KIND = b"Content-Type: application/x-npy"
_TIMEOUT_MS = 4000


class Hoard:
    """Large tensors of one tenant."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._who = f"keeper-{number}"
        self._refs: list[str] = []

    def kept(self) -> Attack:
        """Store all of them."""

        def requests() -> Requests:
            shape = b"{'descr': '<f8', 'fortran_order': False, 'shape': (%d,)}" % _NUMBERS
            head = b"\x93NUMPY\x01\x00" + len(shape).to_bytes(2, "little") + shape
            for index in range(_TENSORS):
                numbers = np.full(_NUMBERS, _TENSORS * self._number + index, float)
                body = head + numbers.tobytes()
                found = yield [request("/v1/tensors", body, _KIND, method="PUT", who=self._who)]
                self._refs.append(found.member("ref"))

        return Attack(f"what {self._who} keeps", requests, seconds=5)

    def forgotten(self) -> Attack:
        """Delete all of them."""

        def requests() -> Requests:
            for ref in self._refs:
                yield [request(f"/v1/tensors/{ref}", method="DELETE", who=self._who)]

        return Attack(f"what {self._who} keeps no longer", requests, seconds=5)


def hungry(number: int) -> Attack:
    """A program that needs most of a process's memory limit, for all of its time."""
    numbers = 9_500_000 + number
    program = (
        f"y = x * ones(({numbers},))\nz = sort(y)\nw = sort(-z)\n"
        "for i in range(200): w = sort(w * -1.0)\nsum(w) + sum(z) + sum(y)"
    )
    document = {"program": program, "variables": {"x": 1.0}, "timeout_ms": _TIMEOUT_MS}

    def requests() -> Requests:
        yield [request("/v1/evaluate", json.dumps(document).encode(), who=f"eater-{number}")]

    return Attack(f"hungry {number}", requests, seconds=_TIMEOUT_MS / 1000)
