"""Programs other than Python's that a measurement starts: nginx with TLS, and Redis."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from servers import Connection, Server

from tests.fleet.nginx import configure

REDIS = shutil.which("redis-server")


class EncryptedConnection(Connection):
    """A connection with TLS, whose certificate nobody checks."""

    def __init__(self, port: int) -> None:
        super().__init__(port)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self.socket = context.wrap_socket(self.socket)


@contextmanager
def nginx(folder: Path, replicas: Sequence[int]) -> Iterator[tuple[Server, int]]:
    """nginx with the shipped configuration before replicas at these ports, and its port for TLS."""
    port, encrypted = free_port(), free_port()
    command = configure(folder, replicas, port)
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    made = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=x"
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(["openssl", *made.split(), *files], check=True, capture_output=True)
    main = folder / "gradwire.conf"
    plain = f"listen 127.0.0.1:{port};"
    secured = (
        f"{plain}\n listen 127.0.0.1:{encrypted} ssl;\n"
        f" ssl_certificate {certificate};\n ssl_certificate_key {key};"
    )
    main.write_text(main.read_text().replace(plain, secured))
    with started(command, port) as server:
        yield server, encrypted


@contextmanager
def redis(folder: Path) -> Iterator[Server]:
    """A Redis that writes nothing to disk."""
    assert REDIS is not None
    port = free_port()
    options = ["--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no"]
    with started([REDIS, *options, "--dir", str(folder)], port) as server:
        yield server


@contextmanager
def started(command: Sequence[str], port: int) -> Iterator[Server]:
    """Run a program that listens at ``port``; end it after the context."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        server = Server(process, port)
        server.await_start()
        yield server
    finally:
        process.terminate()
        process.wait(10)


def free_port() -> int:
    """A port at which nobody listens now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
