"""A real Redis server on the loopback for tests."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import redis

from tests.fleet.processes import Program, free_port

REDIS = shutil.which("redis-server")


class RedisServer(Program):
    """A Redis server that can be restarted; without options it writes nothing to disk."""

    def __init__(self, folder: Path, *options: str, port: int | None = None) -> None:
        assert REDIS is not None
        port = free_port() if port is None else port
        command = [REDIS, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
        command += ["--save", "", "--appendonly", "no", *options]
        super().__init__("redis", command, port, folder)
        self.url = f"redis://127.0.0.1:{port}/0"

    def client(self) -> redis.Redis:
        """A new client."""
        return redis.Redis.from_url(self.url, protocol=2)

    def ready(self) -> Self:
        """Wait until the server answers."""
        with self.client() as client:
            while True:
                try:
                    client.ping()
                except redis.AuthenticationError:
                    return self
                except redis.ConnectionError:
                    assert self.process.poll() is None, f"Redis ended:\n{self.log()}"
                    time.sleep(0.01)
                else:
                    return self


@contextmanager
def redis_server(folder: Path, *options: str) -> Iterator[RedisServer]:
    """Runs a Redis server within the context."""
    server = RedisServer(folder, *options)
    try:
        yield server.start().ready()
    finally:
        server.stop()
