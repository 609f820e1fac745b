"""A server at a distance: behind a proxy in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from servers import Server, running

PROXY = Path(__file__).with_name("proxy.py")


@contextmanager
def delayed(server: Server, milliseconds: float) -> Iterator[Server]:
    """The server behind a proxy: each round trip takes so many milliseconds longer."""
    with running((str(PROXY), str(server.port), str(milliseconds))) as proxy:
        yield proxy
