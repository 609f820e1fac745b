"""The service's machine code in a worker process: every call goes through a channel of its own."""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from gradwire_service.machine_code import CodeCache, Found
from gradwire_service.workers.channel import Channel, ChannelClosed


class RemoteCodes:
    """Calls the service's cache and waits for the result."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._lock = threading.Lock()

    def get(self, tenant: str, keys: Sequence[bytes], *, postponable: bool = True) -> Found:
        """The code of a tenant, and if compiling is postponable, for how long it must wait."""
        found: Found = self._call("get", tenant, keys, postponable=postponable)
        return found

    def put(self, tenant: str, objects: Mapping[bytes, bytes], seconds: float) -> None:
        """Keep what took so long to compile."""
        self._call("put", tenant, objects, seconds)

    def _call(self, *call: Any, **named: Any) -> Any:
        with self._lock:
            self._channel.send((call, named))
            return self._channel.receive()


def share_codes(connection: socket.socket, codes: CodeCache) -> None:
    """Answer a process from ``codes`` until it ends; in a thread, as files may be slow."""
    channel = Channel(connection)

    def answer() -> None:
        try:
            with suppress(ChannelClosed):
                while True:
                    (name, *arguments), named = channel.receive()
                    channel.send(getattr(codes, name)(*arguments, **named))
        finally:
            channel.close()

    threading.Thread(target=answer, name="gradwire-codes", daemon=True).start()
