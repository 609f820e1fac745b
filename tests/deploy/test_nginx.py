"""The proxy: what it tries again, what it refuses and how, and what it lets go."""

import json
import os
import re
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from http.client import HTTPConnection
from itertools import count
from pathlib import Path

import httpx
import pytest
from gradwire_service.problems import KINDS, MEDIA_TYPE
from gradwire_service.settings import Settings

from tests.deploy.replicas import Replica, Start, accepts, asking
from tests.fleet.nginx import CONFIGURATION, NGINX, configure
from tests.fleet.processes import free_port
from tests.processes import until

REPEATABLE = [
    "/v1/evaluate",
    "/v1/gradient",
    "/v1/jacobian",
    "/v1/hessian",
    "/v1/jvp",
    "/v1/hvp",
    "/v1/check",
    "/v1/explain",
    "/v1/programs",
    "/v1/tapes",
    "/v1/tapes/{}/gradient",
]

#: If root starts nginx, its workers run as a user who may not read below a test's folder.
USER = " user root;" if os.geteuid() == 0 else ""

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")


def test_configuration_is_valid(tmp_path: Path):
    command = configure(tmp_path, [8000], free_port())
    found = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert "[warn]" not in found.stderr


@pytest.mark.parametrize("behaviour", ["hangs up", "refuses"])
def test_what_may_be_repeated_is_retried_on_another_replica(proxy: Start, behaviour: str):
    broken, sound = Replica(behaviour), Replica("answers")
    client = proxy(broken, sound)
    for path in REPEATABLE:
        broken.asked.clear()
        sound.asked.clear()
        for number in count():  # which of the two a path comes to first depends on their ports
            body = asking(f"x + {number}") + b" " * (400_000 * (number % 2))
            reply = client.post(path.format(number), content=body)
            assert reply.status_code == 200, path
            assert reply.content == body
            assert len(sound.asked) == number + 1
            if broken.asked and number >= 4:
                break


def test_attempts_bear_one_key(proxy: Start):
    broken, sound = Replica("hangs up"), Replica("answers")
    client = proxy(broken, sound)
    for number in count():
        client.post(f"/v1/tapes/{number}/gradient", content=b"{}")
        assert len(set(sound.keys)) == number + 1
        if broken.keys:
            break
    assert set(broken.keys) <= set(sound.keys)


def test_clients_own_key_is_kept(proxy: Start):
    replica = Replica("answers")
    headers = {"Idempotency-Key": '"mine"'}
    proxy(replica).post("/v1/tapes/t/gradient", content=b"{}", headers=headers)
    assert replica.keys == ['"mine"']


def test_stored_tensor_is_retried(proxy: Start):
    client = proxy(Replica("hangs up"), Replica("answers"))
    assert [client.put("/v1/tensors").status_code for _ in range(2)] == [200, 200]


def test_unknown_post_is_never_sent_twice(proxy: Start):
    broken, sound = Replica("hangs up"), Replica("answers")
    client = proxy(broken, sound)
    replies = [client.post("/v1/something", content=b"{}") for _ in range(2)]
    assert sorted(reply.status_code for reply in replies) == [200, 503]
    assert len(broken.asked) == len(sound.asked) == 1


@pytest.mark.parametrize("path", ["/v1/gradient", "/v1/tensors"])
def test_what_brought_two_replicas_down_is_asked_of_no_third(proxy: Start, path: str):
    replicas = [Replica("hangs up") for _ in range(4)]
    method = "PUT" if path == "/v1/tensors" else "POST"
    reply = proxy(*replicas).request(method, path, content=asking("x"))
    assert (reply.status_code, reply.json()["code"]) == (503, "overloaded")
    assert sorted(len(replica.asked) for replica in replicas) == [0, 0, 1, 1]


def test_the_last_replica_that_is_there_is_found(proxy: Start):
    sound = Replica("answers")
    client = proxy(Replica("is gone"), sound, Replica("is gone"))
    for number in range(16):
        assert client.post("/v1/gradient", content=asking(f"x + {number}")).status_code == 200
        assert client.get("/v1/limits").status_code == 200
    assert len(sound.asked) == 32


def test_without_any_replica_it_is_said_at_once(proxy: Start):
    client = proxy(*[Replica("is gone") for _ in range(3)])
    for reply in (client.post("/v1/gradient", content=asking("x")), client.get("/v1/limits")):
        assert (reply.status_code, reply.json()["code"]) == (503, "overloaded")
        assert reply.headers["Retry-After"] == "1"


def test_client_that_goes_away_takes_its_request_with_it(proxy: Start):
    replica = Replica("waits for the end")
    address = proxy(replica).base_url
    with socket.create_connection((address.host, address.port or 80)) as client:
        client.sendall(b"POST /v1/gradient HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
        until(lambda: bool(replica.asked))
    assert replica.left.wait()


def test_one_address_may_not_have_everything_under_way(proxy: Start):
    replica = Replica("holds")
    client = proxy(replica, limit_conn="addresses 2")
    with ThreadPoolExecutor(2) as pool:
        held = [pool.submit(client.post, "/v1/gradient", content=asking("x")) for _ in range(2)]
        try:
            until(lambda: len(replica.asked) == 2)
            refused = client.post("/v1/gradient", content=asking("x"))
        finally:
            replica.released.set()
        assert {reply.result().status_code for reply in held} == {200}
    assert (refused.status_code, refused.json()["code"]) == (503, "overloaded")
    assert refused.headers["Retry-After"] == "1"


def test_requests_of_a_frozen_replica_are_answered_by_another(proxy: Start):
    frozen, other = Replica("holds"), Replica("answers")
    client = proxy(frozen, other, attempt_seconds=1)
    with ThreadPoolExecutor(12) as pool:
        asks = [
            pool.submit(client.post, "/v1/gradient", content=asking(f"x + {number}"))
            for number in range(12)
        ]
        replies = [ask.result() for ask in asks]
        frozen.released.set()
    assert {reply.headers["Replica"] for reply in replies} == {str(other.port)}
    assert frozen.asked


@pytest.mark.parametrize(
    ("behaviour", "headers"),
    [("holds", {"Gradwire-Timeout-Ms": "60000"}), ("needs time", {}), ("holds", None)],
    ids=["by its header", "by a redirect", "of a tape"],
)
def test_nginx_waits_for_what_may_take_long(proxy: Start, behaviour: str, headers):
    replica = Replica(behaviour)
    client = proxy(replica, attempt_seconds=1)
    path = "/v1/tapes/t/gradient" if headers is None else "/v1/gradient"
    with ThreadPoolExecutor(1) as pool:
        long = pool.submit(client.post, path, content=asking("x"), headers=headers)
        until(lambda: len(replica.asked) == (2 if behaviour == "needs time" else 1))
        replica.behaviour = "holds"
        short = client.post("/v1/gradient", content=asking("x"))
        assert not long.done()
        replica.released.set()
        assert long.result().status_code == 200
    assert (short.status_code, short.json()["code"]) == (504, "deadline_exceeded")


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
    connection = HTTPConnection(address.host, address.port)
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


HOST = b"Host: x\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
MALFORMED = {
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "two hosts": b"GET / HTTP/1.1\r\n" + HOST + b"Host: y\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "CONNECT": b"CONNECT x:1 HTTP/1.1\r\n" + HOST + b"\r\n",
    "path above the root": b"GET /../x HTTP/1.1\r\n" + HOST + b"\r\n",
    "NUL in the path": b"GET /%00 HTTP/1.1\r\n" + HOST + b"\r\n",
    "NUL in a header": b"GET / HTTP/1.1\r\n" + HOST + b"A: \x00\r\n\r\n",
    "folded header": b"GET / HTTP/1.1\r\n" + HOST + b"A: b\r\n c\r\n\r\n",
    "long target": b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n" + HOST + b"\r\n",
    "long header": b"GET / HTTP/1.1\r\n" + HOST + b"A: " + b"a" * 9000 + b"\r\n\r\n",
    "long headers": b"GET / HTTP/1.1\r\n" + HOST + (b"A: " + b"a" * 900 + b"\r\n") * 50 + b"\r\n",
    "two lengths": HOST + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "one length twice": HOST + b"Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
    "list of lengths": HOST + b"Content-Length: 3, 3\r\n\r\nabc",
    "signed length": HOST + b"Content-Length: +3\r\n\r\nabc",
    "length before a colon": HOST + b"Content-Length : 3\r\n\r\nabc",
    "length and chunks": HOST + CHUNKED + b"Content-Length: 3\r\n\r\n0\r\n\r\n",
    "chunks twice": HOST + CHUNKED + CHUNKED + b"\r\n0\r\n\r\n",
    "other coding": HOST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "size of a chunk": HOST + CHUNKED + b"\r\nzz\r\n\r\n",
    "negative chunk": HOST + CHUNKED + b"\r\n-1\r\n\r\n",
    "chunk beyond all bounds": HOST + CHUNKED + b"\r\n" + b"f" * 17 + b"\r\n\r\n",
}


def test_what_is_ambiguous_or_no_http_is_refused_and_reaches_no_replica(proxy: Start):
    replica = Replica("answers")
    address = proxy(replica).base_url
    others = {
        "CONNECT": {"malformed_request", "method_not_allowed"},  # as nginx is old or new
        "long target": {"target_too_long"},
        "long header": {"headers_too_large"},
        "long headers": {"headers_too_large"},
    }
    for name, lines in MALFORMED.items():
        first = b"POST /v1/gradient HTTP/1.1\r\n" if lines.startswith(HOST) else b""
        with socket.create_connection((address.host, address.port or 80)) as client:
            client.sendall(first + lines)
            with client.makefile("rb") as answer:
                head, _, body = answer.read().partition(b"\r\n\r\n")
        code = json.loads(body)["code"]
        assert code in others.get(name, {"malformed_request"}), name
        assert head.startswith(b"HTTP/1.1 %d " % KINDS[code].status), name
        assert f"Content-Type: {MEDIA_TYPE}".encode() in head, name
        assert b"Connection: close" in head, name
    assert replica.asked == []


def test_no_page_of_nginx_is_shown(proxy: Start):
    client = proxy(Replica("answers"))
    for method, path, status in [
        ("TRACE", "/", 405),
        ("GET", "/metrics", 404),
        ("GET", "/problem/failed", 404),
    ]:
        reply = client.request(method, path)
        assert reply.status_code == status
        assert reply.headers["Content-Type"] == MEDIA_TYPE
        assert reply.json()["status"] == status


def test_problems_read_as_the_service_writes_them():
    text = (CONFIGURATION / "problems.conf").read_text()
    problems = [
        (int(status), json.loads(document.replace("\\'", "'")))
        for status, document in re.findall(r"return (\d+) '(.*)';", text)
    ]
    assert len(problems) == text.count("application/problem+json")
    for status, problem in problems:
        kind = KINDS[problem["code"]]
        assert (status, problem["status"], problem["title"]) == (kind.status, *kind)
        assert problem["type"] == f"urn:gradwire:problem:{problem['code']}"


def test_configuration_without_containers_starts_as_the_page_writes_it(tmp_path: Path):
    """Also with Debian's nginx, which knows no ``resolve``."""
    page = (CONFIGURATION.parents[1] / "docs/how-to/deployment.md").read_text()
    (commands,) = re.findall(r"^```sh\n(mkdir[^`]*^sed -i[^`]*)```$", page, re.MULTILINE)
    (run,) = re.findall(r"^```sh\n(mkdir\S* -p /var/lib[^`]*)```$", page, re.MULTILINE)
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/gradwire.env").write_text("GRADWIRE_MAX_BODY_BYTES=80MB\n")
    ports = [free_port() for _ in range(3)]
    replicas = [Replica("answers", port=port) for port in ports]
    listen = free_port()
    commands += run.replace("'daemon off;'", f"'daemon off;{USER}'")
    commands = commands.replace("sh /etc", "exec sh /etc")
    for name, here in {
        "/etc/gradwire": str(tmp_path / "etc"),
        "/var/lib": str(tmp_path),
        "/usr/sbin/nginx": NGINX,
        "127.0.0.1:8080": f"127.0.0.1:{listen}",
    }.items():
        assert name in commands
        commands = commands.replace(name, here)
    edited = "".join(f"; s/127.0.0.1:800{n}/127.0.0.1:{port}/" for n, port in enumerate(ports, 1))
    commands = commands.replace("800\\1/'", f"800\\1/{edited}'")
    assert NGINX is not None
    with ExitStack() as stack:
        for replica in replicas:
            stack.enter_context(replica.listening())
        root = CONFIGURATION.parents[1]
        nginx = stack.enter_context(subprocess.Popen(["sh", "-ec", commands], cwd=root))
        stack.callback(nginx.terminate)
        until(lambda: accepts(listen) or nginx.poll() is not None)
        assert nginx.poll() is None, "nginx did not start"
        with httpx.Client(base_url=f"http://127.0.0.1:{listen}", trust_env=False) as client:
            for number in range(24):
                placed = {"Gradwire-Placement": "gpu"} if number % 2 else {}
                body = asking(f"x + {number}")
                assert client.post("/v1/gradient", content=body, headers=placed).content == body
            for megabytes, status in ((79, 200), (81, 413)):
                reply = client.post("/v1/gradient", content=bytes(megabytes * 10**6))
                assert reply.status_code == status
    assert all(replica.asked for replica in replicas)


def limited(folder: Path, **settings: str) -> dict[str, str]:
    """The configuration as nginx is started with it where the service has these settings."""
    environment = {"PATH": os.environ["PATH"], **settings}
    script = CONFIGURATION / "limits.sh"
    subprocess.run(
        ["sh", str(script), str(folder), "true"],
        env=environment,
        check=True,
        stderr=subprocess.PIPE,
    )
    return {path.name: path.read_text() for path in folder.glob("*.conf")}


#: What the directives are by default, as bytes and seconds, in the order of the configuration.
LIMITS = {
    "client_max_body_size": [64 << 20],
    "proxy_read_timeout": [75, 11],
    "proxy_next_upstream_timeout": [10, 12],
}


@pytest.mark.parametrize(
    ("setting", "changed"),
    [
        ({"max_body_bytes": "200MiB"}, {"client_max_body_size": [200 << 20]}),
        ({"max_timeout_ms": "600500"}, {"proxy_read_timeout": [616, 11]}),
        ({"job_wait_ms": "120000"}, {"proxy_read_timeout": [135, 11]}),
        (
            {"default_timeout_ms": "30000"},
            {"proxy_read_timeout": [75, 31], "proxy_next_upstream_timeout": [10, 32]},
        ),
        ({"max_body_bytes": "", "max_timeout_ms": ""}, {}),
    ],
    ids=" ".join,
)
def test_limits_are_those_of_the_service(tmp_path: Path, setting: dict[str, str], changed):
    variables = {f"GRADWIRE_{name.upper()}": text for name, text in setting.items()}
    text = limited(tmp_path, **variables)["gradwire.conf"]
    read = Settings.model_validate({name: text for name, text in setting.items() if text})
    found = {
        name: [int(number) for number in re.findall(rf"^ +{name} (\d+)s?;", text, re.MULTILINE)]
        for name in LIMITS
    }
    assert found == {**LIMITS, **changed}
    assert found["client_max_body_size"] == [read.max_body_bytes]
    longest, attempt = (1000 * seconds for seconds in found["proxy_read_timeout"])
    assert longest > max(read.max_timeout_ms, read.job_wait_ms)
    assert longest > attempt > read.default_timeout_ms
    assert found["proxy_next_upstream_timeout"][1] * 1000 > attempt
    command = [*configure(tmp_path, [8000], free_port()), "-t"]
    text = text.replace("listen 8080;", f"listen 127.0.0.1:{free_port()};")
    (tmp_path / "gradwire.conf").write_text(text)
    assert subprocess.run(command, check=False).returncode == 0


SIZES = ["1000", "80MB", "80 mb", "80M", "1.5GiB", "2Gi", "3TiB", "64kB", "064MiB", " 64 MiB\t"]
SIZES += ["1.1MB", "1.125MiB", "64000000.0", "1000b"]


@pytest.mark.parametrize("text", SIZES)
def test_size_of_a_body_is_written_as_for_the_service(tmp_path: Path, text: str):
    told = limited(tmp_path, GRADWIRE_MAX_BODY_BYTES=text)
    size = Settings.model_validate({"max_body_bytes": text}).max_body_bytes
    assert f"client_max_body_size {size};" in told["gradwire.conf"]
    whole = size % (1 << 20) == 0
    written = f"{size >> 20} MiB" if whole else f"{size} bytes"
    assert f"bodies of up to {written}." in told["problems.conf"]


@pytest.mark.parametrize(
    "text", ["060000", "60_000", "60000.0", " 60000\n", "+60000", "60_000.0", " \t", "100008"]
)
def test_times_are_read_as_by_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
):
    """A leading zero is no octal number, and white space alone is the default."""
    names = "DEFAULT_TIMEOUT_MS", "MAX_TIMEOUT_MS", "JOB_WAIT_MS"
    variables = {f"GRADWIRE_{name}": text for name in names if text.strip() or name != names[0]}
    for name, given in variables.items():
        monkeypatch.setenv(name, given)
    settings = Settings()
    written = limited(tmp_path, **variables)["gradwire.conf"]
    longest, attempt = map(int, re.findall(r"^ +proxy_read_timeout (\d+)s;", written, re.MULTILINE))
    assert longest == -(-max(settings.max_timeout_ms, settings.job_wait_ms) // 1000) + 15
    assert attempt == -(-settings.default_timeout_ms // 1000) + 1


REFUSED = [
    ("MAX_BODY_BYTES", text) for text in ("many", "0", "-1", "0.1B", "64 bit", "6e7", "1PiB")
]
REFUSED += [("MAX_BODY_BYTES", text) for text in ("64_000", "0.1MiB", "64MB!", "64 000", "1;2")]
REFUSED += [("MAX_TIMEOUT_MS", text) for text in ("0", "1e5", "0x10", "60,000", "6 s", "60000.5")]
REFUSED += [("JOB_WAIT_MS", text) for text in ("-1", "60__000", "_1", "1_", "1.", "1+1")]


@pytest.mark.parametrize(("name", "text"), REFUSED)
def test_nginx_does_not_start_with_what_the_service_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
):
    monkeypatch.setenv(f"GRADWIRE_{name}", text)
    with pytest.raises(ValueError, match=name.lower()):
        Settings()
    with pytest.raises(subprocess.CalledProcessError) as refused:
        limited(tmp_path, **{f"GRADWIRE_{name}": text})
    assert refused.value.returncode == 2
    assert f"GRADWIRE_{name} must be a number".encode() in refused.value.stderr
    assert not [*tmp_path.glob("*.conf")]


def test_connections_to_replicas_end_before_they_do():
    upstream = (CONFIGURATION / "upstream.conf").read_text()
    (seconds,) = set(re.findall(r"^ +keepalive_timeout (\d+)s;", upstream, flags=re.MULTILINE))
    assert int(seconds) < Settings.model_fields["keep_alive_seconds"].default
