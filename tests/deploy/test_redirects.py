"""Redirects: nginx sends requests on from a replica without a GPU to those with one."""

import gzip
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from gradwire_service.problems import MEDIA_TYPE

from tests.deploy.replicas import Replica, Start, asking
from tests.deploy.test_routing import MOST_ON_GPU
from tests.fleet.nginx import NGINX
from tests.processes import until

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")

#: More than nginx keeps in memory (client_body_buffer_size).
LARGE = asking("x") + b" " * 3_000_000


def chunks() -> Iterator[bytes]:
    yield asking("x")
    yield b" " * 400_000


@pytest.mark.parametrize(
    ("sent", "headers"),
    [
        (lambda: asking("x"), {}),
        (lambda: LARGE, {}),
        (chunks, {}),
        (lambda: gzip.compress(LARGE), {"Content-Encoding": "gzip"}),
    ],
    ids=["in memory", "on disk", "chunked", "compressed"],
)
def test_a_request_arrives_as_it_was_sent(proxy: Start, sent, headers):
    other, gpu = Replica("redirects"), Replica("answers")
    client = proxy(other, with_gpus=[gpu])
    for number in range(3):
        content: bytes | Iterable[bytes] = sent()
        reply = client.post("/v1/gradient?a=b", content=content, headers=headers)
        assert (reply.status_code, reply.headers["Replica"]) == (200, str(gpu.port))
        assert reply.content == (content if isinstance(content, bytes) else b"".join(sent()))
        assert "X-Accel-Redirect" not in reply.headers
        assert gpu.asked == ["POST /v1/gradient?a=b"] * (number + 1)
    assert gpu.keys == other.keys  # one key for both attempts
    assert (other.allowed, gpu.allowed) == (["@gpu @patient"] * 3, [None] * 3)


@pytest.mark.thorough
def test_programs_that_were_redirected_have_homes(proxy: Start):
    gpus = [Replica("answers"), Replica("answers")]
    client = proxy(Replica("redirects"), with_gpus=gpus)
    homes = set()
    for number in range(24):
        replies = [client.post("/v1/gradient", content=asking(f"x + {number}")) for _ in range(3)]
        (home,) = {reply.headers["Replica"] for reply in replies}
        homes.add(home)
    assert homes == {str(replica.port) for replica in gpus}


@pytest.mark.parametrize("placement", ["cpu", "gpu", "elsewhere"])
def test_clients_that_choose_are_not_redirected(proxy: Start, placement: str):
    other, gpu = Replica("answers"), Replica("answers")
    client = proxy(other, with_gpus=[gpu])
    headers = {"Gradwire-Placement": placement, "Gradwire-Redirect": "@gpu"}
    reply = client.post("/v1/gradient", content=asking("x"), headers=headers)
    asked = gpu if placement == "gpu" else other
    assert reply.headers["Replica"] == str(asked.port)
    assert asked.allowed == ["@patient"]
    assert len(other.asked) + len(gpu.asked) == 1


@pytest.mark.parametrize("named", ["@anywhere", "/metrics", "@gpu, @anywhere"])
def test_clients_name_no_location(proxy: Start, named: str):
    other, gpu = Replica("redirects"), Replica("answers")
    client = proxy(other, with_gpus=[gpu])
    headers = {"Gradwire-Redirect": named, "X-Accel-Redirect": named}
    reply = client.post("/v1/gradient", content=asking("x"), headers=headers)
    assert reply.headers["Replica"] == str(gpu.port)
    assert other.allowed == ["@gpu @patient"]


@pytest.mark.parametrize(
    "gpus",
    [
        [],
        [Replica("is gone")],
        [Replica("is gone"), Replica("is gone")],
        [Replica("refuses")],
        [Replica("refuses"), Replica("refuses")],
    ],
    ids=["none", "gone", "both gone", "refusing", "both refusing"],
)
def test_without_a_gpu_the_others_compute(proxy: Start, gpus: list[Replica]):
    others = [Replica("redirects"), Replica("redirects")]
    client = proxy(*others, with_gpus=gpus)
    for number in range(8):
        body = asking(f"x + {number}") + b" " * (400_000 * (number % 2))
        reply = client.post("/v1/gradient", content=body)
        assert (reply.status_code, reply.content) == (200, body)
        assert reply.headers["Replica"] in {str(replica.port) for replica in others}
    allowed = [each for replica in others for each in replica.allowed]
    assert (allowed.count("@gpu @patient"), allowed.count(None)) == (8, 8)


def test_gpus_that_are_busy_leave_the_rest_to_the_others(proxy: Start):
    other, gpu = Replica("redirects"), Replica("holds")
    client = proxy(other, with_gpus=[gpu])
    with ThreadPoolExecutor(MOST_ON_GPU) as pool:
        for _ in range(MOST_ON_GPU):
            pool.submit(client.post, "/v1/gradient", content=asking("x"))
        try:
            until(lambda: len(gpu.asked) == MOST_ON_GPU)
            reply = client.post("/v1/gradient", content=asking("x"))
            assert reply.headers["Replica"] == str(other.port)
        finally:
            gpu.released.set()


def test_what_a_gpus_replica_lost_is_not_computed_by_the_others(proxy: Start):
    other, gpus = Replica("redirects"), [Replica("hangs up"), Replica("hangs up")]
    reply = proxy(other, with_gpus=gpus).post("/v1/gradient", content=asking("x"))
    assert (reply.status_code, reply.json()["code"]) == (503, "overloaded")
    assert [len(replica.asked) for replica in (other, *gpus)] == [1, 1, 1]


def test_a_gpus_replica_that_is_late_is_a_problem(proxy: Start):
    other, gpu = Replica("redirects"), Replica("holds")
    client = proxy(other, with_gpus=[gpu], gpu_seconds=1)
    try:
        reply = client.post("/v1/gradient", content=asking("x"))
    finally:
        gpu.released.set()
    assert (reply.status_code, reply.json()["code"]) == (504, "deadline_exceeded")
    assert reply.headers["Content-Type"] == MEDIA_TYPE
    assert (len(other.asked), len(gpu.asked)) == (1, 1)


def test_what_may_not_be_repeated_is_not_repeated_by_a_redirect(proxy: Start):
    """A replica that redirects has computed nothing; one that failed may have."""
    broken, gpu = Replica("hangs up"), Replica("answers")
    reply = proxy(broken, with_gpus=[gpu]).post("/v1/minimize", content=asking("x"))
    assert (reply.status_code, gpu.asked) == (503, [])


def test_answers_after_a_redirect_keep_the_connection(proxy: Start):
    client = proxy(Replica("redirects"), with_gpus=[Replica("answers")])
    with httpx.Client(base_url=client.base_url, trust_env=False) as one:
        ports = set()
        for _ in range(3):
            reply = one.post("/v1/gradient", content=LARGE)
            ports.add(reply.extensions["network_stream"].get_extra_info("client_addr"))
    assert len(ports) == 1
