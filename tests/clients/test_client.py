import asyncio
import os
import pickle
import subprocess
import sys

import gradwire
import httpx
import msgpack
import numpy as np
import pytest

from tests.clock import ClockLoop, loop_clock

OUTPUTS = '{"outputs": 3.0, "program": "sha256:0"}'


def answer(status: int, body: str = "{}", **headers: str) -> bytes:
    """The bytes of a complete HTTP response."""
    named = "".join(f"{name.replace('_', '-')}: {text}\r\n" for name, text in headers.items())
    head = f"HTTP/1.1 {status} Scripted\r\nContent-Length: {len(body)}\r\n{named}\r\n"
    return (head + body).encode()


def evaluate_blocking(url, **options):
    with gradwire.Client(url, **options) as client:
        return client.evaluate("x", {"x": 3})


def evaluate_awaiting(url, **options):
    async def evaluate():
        async with gradwire.AsyncClient(url, **options) as client:
            return await client.evaluate("x", {"x": 3})

    return asyncio.run(evaluate())


@pytest.fixture(params=[evaluate_blocking, evaluate_awaiting], ids=["blocking", "awaiting"])
def evaluate(request):
    return request.param


def test_a_request_has_the_document_and_a_user_agent(script, evaluate):
    server = script(answer(200, OUTPUTS))
    assert evaluate(server.url + "/behind/a/proxy/", api_key="secret").outputs == 3.0
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    head = head.decode()
    assert head.startswith("POST /behind/a/proxy/v1/evaluate HTTP/1.1\r\n")
    assert "Authorization: Bearer secret" in head
    assert "User-Agent: gradwire-python/" in head
    assert "Content-Type: application/msgpack" in head
    assert "Accept: application/msgpack, application/problem+json" in head
    assert msgpack.unpackb(body) == {"program": "x", "variables": {"x": 3.0}}


def test_a_response_has_headers_and_timings(script, evaluate):
    timing = 'parse;dur=0.5, compile;dur="2";desc=new, cached'
    answered = evaluate(script(answer(200, OUTPUTS, X_Request_ID="a1-2", Server_Timing=timing)).url)
    assert answered.request_id == "a1-2"
    assert answered.timings == {"parse": 0.5, "compile": 2.0}
    assert answered.program == "sha256:0"
    assert answered.raw.status_code == 200
    assert answered.raw.json()["outputs"] == 3.0


def overloaded_at_first() -> httpx.MockTransport:
    """A service that asks for a pause of 20 seconds, and then answers."""
    busy = httpx.Response(503, headers={"Retry-After": "20"})
    answers = iter((busy, httpx.Response(200, text=OUTPUTS)))
    return httpx.MockTransport(lambda _: next(answers))


def test_requests_to_an_overloaded_service_are_retried(monkeypatch):
    pauses: list[float] = []
    monkeypatch.setattr(gradwire.Client, "_sleep", pauses.append)
    with (
        httpx.Client(transport=overloaded_at_first()) as http,
        gradwire.Client("http://service", http_client=http) as client,
    ):
        assert client.evaluate("x").outputs == 3.0
    (seconds,) = pauses
    assert 20.0 <= seconds <= 20.125


def test_an_asynchronous_client_waits_on_its_event_loop():
    async def evaluate() -> float:
        clock = loop_clock()
        began = clock()
        async with (
            httpx.AsyncClient(transport=overloaded_at_first()) as http,
            gradwire.AsyncClient("http://service", http_client=http) as client,
        ):
            assert (await client.evaluate("x")).outputs == 3.0
        return clock() - began

    with asyncio.Runner(loop_factory=ClockLoop) as runner:
        assert 20.0 <= runner.run(evaluate()) <= 20.125


def test_dropped_connections_are_retried(script, evaluate):
    server = script(None, None, answer(200, OUTPUTS))
    assert evaluate(server.url).outputs == 3.0
    assert server.connections == 3
    assert server.requests[0] == server.requests[2]


def test_the_number_of_retries_is_limited(script, evaluate):
    server = script(None, None, None)
    with pytest.raises(gradwire.TransportError, match=server.url):
        evaluate(server.url)
    assert len(server.requests) == 3


def test_retries_can_be_disabled(script, evaluate):
    server = script(answer(502, "<html>"))
    with pytest.raises(gradwire.ServerError, match=r"answered 502 \(Bad Gateway\)"):
        evaluate(server.url, max_retries=0)


def test_the_client_keeps_its_timeout(script, evaluate):
    with pytest.raises(gradwire.RequestTimeout):
        evaluate(script(...).url, timeout=0.05)


def test_an_unreachable_service_is_a_transport_error(evaluate):
    with pytest.raises(
        gradwire.TransportError, match=r"no Gradwire service at http://127\.0\.0\.1:1 "
    ):
        evaluate("http://127.0.0.1:1", max_retries=0)


def test_an_undecodable_response_is_a_transport_error(script, evaluate):
    with pytest.raises(gradwire.TransportError):
        evaluate(script(answer(200, "not gzip at all", Content_Encoding="gzip")).url)


def test_a_large_body_is_sent_completely(service_url):
    x = np.random.default_rng(0).normal(size=500_000)  # larger than the buffers of a connection
    with gradwire.Client(service_url) as client:
        answer = client.evaluate("x[::-1]", {"x": x})
        np.testing.assert_array_equal(answer.outputs, x[::-1])
        assert len(answer.raw.request.content) > x.nbytes


async def test_a_large_body_is_sent_completely_by_the_async_client(service_url):
    x = np.random.default_rng(0).normal(size=500_000)
    async with gradwire.AsyncClient(service_url) as client:
        np.testing.assert_array_equal((await client.evaluate("x + 1", {"x": x})).outputs, x + 1)


def test_connections_are_reused(script):
    server = script(*[answer(200, OUTPUTS)] * 3)
    with gradwire.Client(server.url) as client:
        for _ in range(3):
            client.evaluate("x")
    assert server.connections == 1


def test_the_environment_can_give_the_services_address(script, monkeypatch):
    server = script(answer(200, OUTPUTS))
    monkeypatch.setenv("GRADWIRE_URL", server.url)
    monkeypatch.setenv("GRADWIRE_API_KEY", "from the environment")
    with gradwire.Client() as client:
        assert repr(client) == f"Client({server.url!r})"
        client.evaluate("x")
    assert b"Authorization: Bearer from the environment" in server.requests[0]


def test_with_options_shares_the_connections(script):
    server = script(answer(200, OUTPUTS), ..., answer(502), answer(200, OUTPUTS))
    with gradwire.Client(server.url) as client:
        with client.with_options(max_retries=0) as other:
            other.evaluate("x")
        with pytest.raises(gradwire.RequestTimeout):
            client.with_options(timeout=0.05).evaluate("x")
        with pytest.raises(gradwire.ServerError):
            other.with_options(timeout=None).evaluate("x")
        assert client.evaluate("x").outputs == 3.0


def test_with_options_chooses_the_placement(script):
    server = script(*[answer(200, OUTPUTS)] * 3)
    with gradwire.Client(server.url) as client:
        placed = client.with_options(placement="gpu")
        for each in (
            client,
            placed.with_options(timeout=60.0),
            placed.with_options(placement="any"),
        ):
            each.evaluate("x")
    assert [b"Gradwire-Placement: gpu" in request for request in server.requests] == [
        *(False, True, False)
    ]


def test_a_given_http_client_is_used_and_left_open(script):
    server = script(*[answer(200, OUTPUTS)] * 2)
    with httpx.Client(base_url=server.url, headers={"X-Team": "gradients"}) as http:
        with gradwire.Client(http_client=http) as client:
            client.evaluate("x")
        with gradwire.Client(server.url, http_client=http) as client:
            client.evaluate("x")
    assert b"X-Team: gradients" in server.requests[0]


def test_many_requests_run_concurrently(script):
    server = script(*[answer(200, OUTPUTS)] * 8)

    async def gather():
        async with gradwire.AsyncClient(server.url) as client:
            return await asyncio.gather(*(client.evaluate("x") for _ in range(8)))

    assert [answered.outputs for answered in asyncio.run(gather())] == [3.0] * 8
    assert server.connections > 1


async def test_values_are_copied_when_the_method_is_called(service_url):
    x = np.zeros(3)
    async with gradwire.AsyncClient(service_url) as client:
        asked = client.evaluate("x", {"x": x})
        x += 1
        np.testing.assert_array_equal((await asked).outputs, np.zeros(3))


@pytest.mark.parametrize("kind", [gradwire.Client, gradwire.AsyncClient])
def test_pickling_a_client_keeps_its_options(kind, monkeypatch):
    monkeypatch.setenv("GRADWIRE_API_KEY", "known there, too")
    client = kind("http://service", timeout=7.0, max_retries=1, references=False, placement="gpu")
    sent = pickle.dumps(client)
    assert b"known there" not in sent
    again = pickle.loads(sent)
    assert again._options == client._options
    assert again._residents.most_bytes == 0
    own = pickle.loads(pickle.dumps(kind("http://service", api_key="own").with_options(timeout=1)))
    assert (own._options.api_key, own._options.timeout) == ("own", 1)


def test_clients_bound_to_this_process_cannot_be_pickled():
    with (
        httpx.Client() as http,
        pytest.raises(TypeError, match="with an http_client cannot be pickled"),
    ):
        pickle.dumps(gradwire.Client("http://service", http_client=http))
    with gradwire.Client.local() as client, pytest.raises(TypeError, match="in this process"):
        pickle.dumps(client)


FORKED = """
import os, sys
import gradwire

client = gradwire.Client(sys.argv[1])
client.evaluate("x", {"x": 0.0})  # a connection is open
child = os.fork()
own = -1.0 if child else 1.0
for i in range(50):
    assert client.evaluate("x", {"x": own * i}).outputs == own * i
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_forked_process_opens_its_own_connections(service_url):
    subprocess.run([sys.executable, "-c", FORKED, service_url], check=True)
