"""The proxy: a real nginx with the shipped configuration in front of stand-ins for replicas."""

import json
import os
import re
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from gradwire_service.problems import KINDS, MEDIA_TYPE
from gradwire_service.settings import Settings

NGINX = shutil.which("nginx", path=os.pathsep.join([os.environ["PATH"], "/usr/sbin"]))

PURE = [
    "/v1/evaluate",
    "/v1/gradient",
    "/v1/jacobian",
    "/v1/hessian",
    "/v1/jvp",
    "/v1/hvp",
    "/v1/check",
    "/v1/programs",
]

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")


@dataclass
class Replica:
    """A stand-in that answers 200, refuses with 503 or hangs up on every request."""

    behaviour: str
    asked: list[str] = field(default_factory=list)
    port: int = 0

    @contextmanager
    def listening(self) -> Iterator[None]:
        replica = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                replica.asked.append(f"{self.command} {self.path}")
                self.close_connection = True
                if replica.behaviour == "hangs up":
                    return
                self.send_response(200 if replica.behaviour == "answers" else 503)
                self.send_header("Connection", "close")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_PUT = answer  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            self.port = server.server_port
            thread = threading.Thread(target=server.serve_forever, args=(0.01,))
            thread.start()
            yield
            server.shutdown()
            thread.join()


Start = Callable[..., httpx.Client]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def configure(source: Path, prefix: Path, ports: list[int], listen: int) -> list[str]:
    """Write the configuration with these replicas below ``prefix``; returns nginx's command."""
    text = (source / "gradwire.conf").read_text()
    assert text.count("listen 8080;") == 1
    (prefix / "gradwire.conf").write_text(
        text.replace("listen 8080;", f"listen 127.0.0.1:{listen};")
    )
    servers = "".join(f"server 127.0.0.1:{port} max_fails=0;\n" for port in ports)
    (prefix / "upstream.conf").write_text(f"upstream gradwire {{\n{servers}}}\n")
    assert NGINX is not None
    return [NGINX, "-e", "stderr", "-p", f"{prefix}/", "-c", f"{prefix}/gradwire.conf"]


@pytest.fixture
def proxy(repository: Path, tmp_path: Path) -> Iterator[Start]:
    """Starts nginx in front of the given replicas and returns a client of it."""
    with ExitStack() as stack:

        def start(*replicas: Replica) -> httpx.Client:
            for replica in replicas:
                stack.enter_context(replica.listening())
            listen = free_port()
            ports = [replica.port for replica in replicas]
            command = configure(repository / "deploy/nginx", tmp_path, ports, listen)
            nginx = stack.enter_context(subprocess.Popen([*command, "-g", "daemon off;"]))
            stack.callback(nginx.terminate)
            wait_for(listen)
            client = httpx.Client(base_url=f"http://127.0.0.1:{listen}", trust_env=False)
            return stack.enter_context(client)

        yield start


def wait_for(port: int) -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    pytest.fail("nginx did not start")


def test_configuration_is_valid(repository: Path, tmp_path: Path):
    command = configure(repository / "deploy/nginx", tmp_path, [8000], free_port())
    found = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert "[warn]" not in found.stderr


@pytest.mark.parametrize("behaviour", ["hangs up", "refuses"])
def test_pure_request_is_retried_on_another_replica(proxy: Start, behaviour: str):
    broken, sound = Replica(behaviour), Replica("answers")
    client = proxy(broken, sound)
    for path in PURE:
        replies = [client.post(path, content=b"x" * 300_000) for _ in range(2)]
        assert [reply.status_code for reply in replies] == [200, 200]
        assert replies[0].content == b"x" * 300_000
        assert broken.asked.count(f"POST {path}") == 1


def test_stored_tensor_is_retried(proxy: Start):
    client = proxy(Replica("hangs up"), Replica("answers"))
    assert [client.put("/v1/tensors").status_code for _ in range(2)] == [200, 200]


def test_tape_is_never_asked_twice(proxy: Start):
    broken, sound = Replica("hangs up"), Replica("answers")
    client = proxy(broken, sound)
    replies = [client.post("/v1/tapes/t/gradient", content=b"{}") for _ in range(2)]
    assert sorted(reply.status_code for reply in replies) == [200, 503]
    assert len(broken.asked) == len(sound.asked) == 1


def test_refusal_of_every_replica_reaches_the_client_as_it_is(proxy: Start):
    reply = proxy(Replica("refuses"), Replica("refuses")).post("/v1/gradient", content=b"busy")
    assert (reply.status_code, reply.content) == (503, b"busy")


def test_no_replica_is_a_problem_with_retry_after(proxy: Start):
    reply = proxy(Replica("hangs up")).post("/v1/gradient", content=b"{}")
    assert reply.status_code == 503
    assert reply.headers["Content-Type"] == MEDIA_TYPE
    assert reply.headers["Retry-After"] == "1"
    assert reply.json()["code"] == "overloaded"
    assert reply.json()["instance"] == f"urn:gradwire:request:{reply.headers['X-Request-ID']}"


@pytest.mark.parametrize(
    ("sent", "kept"), [("run-7:a.b", r"run-7:a\.b"), ('"}', "[0-9a-f]{32}"), ("", "[0-9a-f]{32}")]
)
def test_request_keeps_its_name_where_it_is_safe(proxy: Start, sent: str, kept: str):
    reply = proxy(Replica("answers")).get("/metrics", headers={"X-Request-ID": sent})
    assert re.fullmatch(f"urn:gradwire:request:{kept}", reply.json()["instance"])


def test_body_that_is_too_large_is_refused_before_it_is_sent(proxy: Start):
    replica = Replica("answers")
    address = proxy(replica).base_url
    connection = HTTPConnection(address.host, address.port, timeout=10)
    connection.request("POST", "/v1/gradient", headers={"Content-Length": str((64 << 20) + 1)})
    reply = connection.getresponse()
    assert reply.status == 413
    assert reply.headers["Content-Type"] == MEDIA_TYPE
    assert json.loads(reply.read())["code"] == "body_too_large"
    connection.close()
    assert replica.asked == []


def test_replicas_figures_are_not_published(proxy: Start):
    replica = Replica("answers")
    reply = proxy(replica).get("/metrics")
    assert (reply.status_code, reply.json()["code"]) == (404, "not_found")
    assert replica.asked == []


def test_problems_read_as_the_service_writes_them(repository: Path):
    text = (repository / "deploy/nginx/gradwire.conf").read_text()
    problems = [
        (int(status), json.loads(document.replace("\\'", "'")))
        for status, document in re.findall(r"return (\d+) '(.*)';", text)
    ]
    assert len(problems) == text.count("application/problem+json")
    for status, problem in problems:
        kind = KINDS[problem["code"]]
        assert (status, problem["status"], problem["title"]) == (kind.status, *kind)
        assert problem["type"] == f"urn:gradwire:problem:{problem['code']}"


def test_limits_agree_with_the_services(repository: Path):
    fields = Settings.model_fields
    proxy = (repository / "deploy/nginx/gradwire.conf").read_text()
    upstream = (repository / "deploy/nginx/upstream.conf").read_text()

    def setting(text: str, name: str) -> int:
        found = re.search(rf"^ +{name} (\d+)[sm];", text, flags=re.MULTILINE)
        assert found is not None, name
        return int(found[1])

    assert setting(proxy, "client_max_body_size") << 20 == fields["max_body_bytes"].default
    assert setting(proxy, "proxy_read_timeout") * 1000 > fields["max_timeout_ms"].default
    assert setting(upstream, "keepalive_timeout") < fields["keep_alive_seconds"].default
