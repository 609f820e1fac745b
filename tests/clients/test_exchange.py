import email.utils
import json
import zlib
from typing import Any

import gradwire
import httpx
import msgpack
import pytest
from gradwire.call import Call, Reply
from gradwire.exchange import Exchange
from gradwire.options import ClientOptions

from tests.clock import Clock

REQUEST = httpx.Request("POST", "http://service/v1/evaluate")


def read(reply: Reply) -> Any:
    return reply.document["outputs"]


def exchange(max_retries: int = 2, **how: Any) -> Exchange[Any]:
    call = Call("POST", "/v1/evaluate", {"program": "y = q(x)"}, read, "y = q(x)")
    return Exchange(call, ClientOptions("http://service", None, 60.0, max_retries), **how)


def answer(status: int, document: Any = None, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    content = document if isinstance(document, bytes) else json.dumps(document).encode()
    return httpx.Response(status, headers=named, content=content, request=REQUEST)


def test_a_successful_response_ends_the_exchange():
    one = exchange()
    assert (one.method, one.url) == ("POST", "http://service/v1/evaluate")
    assert msgpack.unpackb(one.content) == {"program": "y = q(x)"}
    one.receive(answer(200, {"outputs": 3}))
    assert one.done
    assert one.result() == 3


def test_attempts_share_an_idempotency_key_and_calls_do_not():
    one, other = exchange(), exchange()
    first = dict(one.headers)
    one.receive(answer(503))
    assert one.headers == first
    assert one.headers["Idempotency-Key"] != other.headers["Idempotency-Key"]


def test_a_clients_home_is_that_of_all_its_requests():
    options = ClientOptions("http://service", None, 60.0, 2, home="there")
    for method, path, text in (("POST", "/v1/evaluate", "x"), ("GET", "/v1/tensors/r", None)):
        sent = Exchange(Call(method, path, None, read, text), options)
        assert sent.headers["Gradwire-Program"] == "there"


def test_the_routing_header_depends_on_the_start_of_the_program():
    def named(text: str | None) -> str | None:
        call = Call("POST", "/v1/evaluate", {}, read, text)
        return Exchange(call, ClientOptions("http://service", None, 60.0, 2)).headers.get(
            "Gradwire-Program"
        )

    assert named("y = x") == f"{zlib.crc32(b'y = x'):08x}"
    assert named("y = x") != named("y = z")
    assert named("x" * 10_000) == named("x" * 10_001)
    assert named(None) is None


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_temporary_errors_are_retried(status):
    one = exchange()
    one.receive(answer(status))
    assert not one.done
    one.receive(answer(200, {"outputs": 3}))
    assert one.result() == 3


@pytest.mark.parametrize(
    "failure",
    [
        httpx.ConnectError("refused"),
        httpx.ConnectTimeout("slow"),
        httpx.ReadError("reset"),
        httpx.RemoteProtocolError("disconnected"),
    ],
    ids=repr,
)
def test_lost_connections_are_retried(failure):
    one = exchange(max_retries=1)
    one.fail(failure)
    assert not one.done
    one.fail(failure)
    with pytest.raises(gradwire.TransportError, match="http://service") as caught:
        one.result()
    assert caught.value.__cause__ is failure


@pytest.mark.parametrize("failure", [httpx.ReadTimeout("slow"), httpx.PoolTimeout("")], ids=repr)
def test_timeouts_are_not_retried(failure):
    one = exchange()
    one.fail(failure)
    with pytest.raises(gradwire.RequestTimeout):
        one.result()


@pytest.mark.parametrize("status", [400, 404, 409, 413, 422, 500, 501])
def test_permanent_errors_are_not_retried(status):
    one = exchange()
    one.receive(answer(status))
    assert one.done


def test_deadline_exceeded_is_not_retried():
    one = exchange()
    one.receive(answer(504, {"code": "deadline_exceeded", "detail": "10000 ms have passed"}))
    with pytest.raises(gradwire.DeadlineExceeded, match="10000 ms have passed"):
        one.result()


def test_the_last_error_is_raised():
    one = exchange(max_retries=1)
    one.receive(answer(502))
    one.receive(answer(503, {"code": "overloaded", "detail": "the queue is full"}))
    with pytest.raises(gradwire.Overloaded, match="the queue is full"):
        one.result()


def test_delays_between_retries_grow_with_jitter():
    for _ in range(100):
        one = exchange(max_retries=3)
        for longest in (0.5, 1.0, 2.0):
            one.receive(answer(502))
            assert longest / 2 <= one.delay_seconds <= longest


def test_delays_are_limited():
    one = exchange(max_retries=30)
    for _ in range(30):
        one.receive(answer(502))
    assert one.delay_seconds <= 8.0


def test_retry_after_is_the_minimum_delay():
    one = exchange()
    one.receive(answer(503, Retry_After="3"))
    assert 3.0 <= one.delay_seconds <= 3.5


def test_retry_after_may_be_a_date():
    now = Clock(1e9)
    one = exchange(now=now)
    one.receive(answer(429, Retry_After=email.utils.formatdate(now() + 20, usegmt=True)))
    assert 20.0 <= one.delay_seconds <= 20.5


@pytest.mark.parametrize("header", ["soon", "-1", ""])
def test_an_invalid_retry_after_is_ignored(header):
    one = exchange()
    one.receive(answer(503, Retry_After=header))
    assert one.delay_seconds <= 0.5


def test_a_retry_after_of_minutes_is_not_retried():
    one = exchange()
    one.receive(answer(503, Retry_After="3600"))
    with pytest.raises(gradwire.Unavailable) as caught:
        one.result()
    assert caught.value.retry_after_seconds == 3600.0


def test_a_problem_becomes_the_error_of_its_code():
    one = exchange()
    document = {
        "code": "unknown_op",
        "detail": "there is no operation q",
        "hint": "did you mean qr?",
        "pointer": "/program",
        "node": {"op": "q", "line": 1, "column": 5},
        "status": 422,
    }
    one.receive(answer(422, document, X_Request_ID="a1-2"))
    with pytest.raises(gradwire.UnknownOperation) as caught:
        one.result()
    error = caught.value
    assert (error.status, error.code, error.request_id) == (422, "unknown_op", "a1-2")
    assert (error.hint, error.pointer) == ("did you mean qr?", "/program")
    assert error.node == gradwire.Node(op="q", line=1, column=5)
    assert error.problem == document
    assert error.raw is not None
    assert error.raw.json() == document
    assert "  line 1: y = q(x)\n              ^" in str(error)


@pytest.mark.parametrize("body", [b"<html>Bad Gateway</html>", b"", b"[1]"])
def test_a_proxys_response_becomes_the_error_of_its_status(body):
    one = exchange(max_retries=0)
    one.receive(answer(502, body))
    message = r"http://service/v1/evaluate answered 502 \(Bad Gateway\)"
    with pytest.raises(gradwire.ServerError, match=message):
        one.result()


def test_an_unknown_status_is_an_error_too():
    one = exchange(max_retries=0)
    one.receive(answer(599, b""))
    with pytest.raises(gradwire.ServerError, match=r"answered 599 \(unknown status\)"):
        one.result()


@pytest.mark.parametrize("body", [b"<html>Welcome</html>", b"{}", b"3"])
def test_a_successful_response_of_another_service_is_an_error(body):
    one = exchange()
    one.receive(answer(200, body))
    with pytest.raises(gradwire.MalformedReply, match="answered 200 with a document of"):
        one.result()


def test_an_unfinished_exchange_has_no_result():
    with pytest.raises(RuntimeError, match="the exchange is not done"):
        exchange().result()
