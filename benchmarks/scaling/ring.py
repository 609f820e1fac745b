"""nginx's consistent hash, ``hash $home consistent``: which replica is the home of a program."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

#: Points of each server on the ring, and those that nginx tries before it takes servers in turn.
POINTS = 160
TRIES = 20


class Ring:
    """The points of all servers, each with the index of its server.

    Source: nginx, ngx_http_upstream_hash_module.c.
    """

    def __init__(self, addresses: Sequence[str]) -> None:
        found: list[tuple[int, int]] = []
        for index, address in enumerate(addresses):
            host, _, port = address.rpartition(":")
            base, previous = f"{host}\0{port}".encode(), 0
            for _ in range(POINTS):
                previous = zlib.crc32(base + previous.to_bytes(4, "little"))
                found.append((previous, index))
        found.sort()
        self.servers = np.array([server for _, server in found])
        self._points = np.array([point for point, _ in found], np.uint64)

    def first(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The indices of the points that these hashes find."""
        found: NDArray[np.int64] = np.searchsorted(self._points, hashes) % len(self._points)
        return found

    def homes(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The servers that these hashes find."""
        found: NDArray[np.int64] = self.servers[self.first(hashes)]
        return found

    def walk(self, point: int) -> Iterator[int]:
        """The servers to try in turn, from this point on."""
        for number in range(point, point + TRIES + 1):
            yield int(self.servers[number % len(self.servers)])

    def shares(self, count: int) -> NDArray[np.float64]:
        """The share of the ring of each of ``count`` servers."""
        arcs = np.diff(self._points.astype(np.float64), prepend=self._points[-1] - 2.0**32)
        return np.bincount(self.servers, arcs, count) / 2.0**32


def hashes_of(programs: NDArray[np.int64]) -> NDArray[np.uint64]:
    """A hash of 32 bits for the program of each number, in place of the CRC of its text."""
    x = programs.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return (x ^ (x >> np.uint64(31))) & np.uint64(0xFFFFFFFF)
