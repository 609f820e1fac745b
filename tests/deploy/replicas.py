"""Stand-ins for replicas, and a real nginx with the shipped configuration in front of them."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

from tests.fleet.processes import free_port


class Server(ThreadingHTTPServer):
    # With socketserver's 5, nginx could not connect for more requests at once, and asked another.
    request_queue_size = 128


@dataclass
class Replica:
    """A stand-in that answers 200, refuses with 503, holds, hangs up every time or is gone.

    One that ``redirects`` does so where nginx allows it, and else answers; one that ``needs time``
    redirects to where nginx waits, and then holds.
    """

    behaviour: str
    asked: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    #: Where nginx allowed to redirect each answered request, if anywhere.
    allowed: list[str | None] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)
    left: threading.Event = field(default_factory=threading.Event)
    port: int = 0
    headers: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def listening(self) -> Iterator[None]:
        replica = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                replica.keys.append(self.headers["Idempotency-Key"])
                replica.asked.append(f"{self.command} {self.path}")
                self.close_connection = True
                if replica.behaviour == "hangs up":
                    return
                if replica.behaviour == "waits for the end":
                    if self.connection.recv(1) == b"":
                        replica.left.set()
                    return
                allowed = self.headers["Gradwire-Redirect"]
                replica.allowed.append(allowed)
                places = (allowed or "").split()
                if replica.behaviour == "needs time":
                    places = [place for place in places if place == "@patient"]
                if replica.behaviour == "holds" or (
                    replica.behaviour == "needs time" and not places
                ):
                    replica.released.wait()
                if replica.behaviour in ("redirects", "needs time") and places:
                    self.send_response(307)
                    self.send_header("X-Accel-Redirect", places[0])
                    body = b""
                else:
                    self.send_response(503 if replica.behaviour == "refuses" else 200)
                self.send_header("Replica", str(replica.port))
                for name, value in replica.headers.items():
                    self.send_header(name, value)
                self.send_header("Connection", "close")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_PUT = answer  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        if self.behaviour == "is gone":
            self.port = free_port()
            yield
            return
        with Server(("127.0.0.1", self.port), Handler) as server:
            self.port = server.server_port
            thread = threading.Thread(target=server.serve_forever, args=(0.01,))
            thread.start()
            yield
            server.shutdown()
            thread.join()


#: Starts nginx in front of the given replicas and returns a client of it.
Start = Callable[..., httpx.Client]


def accepts(port: int) -> bool:
    """Whether somebody listens at a port of this machine."""
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def asking(program: Any) -> bytes:
    return json.dumps({"program": program, "variables": {"x": [1.5, 2.5]}}).encode()
