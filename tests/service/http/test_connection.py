"""Requests and responses over sockets: their order, their limits, and how connections end."""

import json
import re
import select
import socket
import struct
from concurrent.futures import Future

import pytest
from gradwire_service.http import limiter
from gradwire_service.http.connection import LINGER_SECONDS, MAX_PIPELINED
from gradwire_service.http.limiter import MAX_RESERVED
from gradwire_service.problems import KINDS, MAX_BODY_BYTES, MEDIA_TYPE, RequestError

from tests.processes import until
from tests.service.http.conftest import LARGE, everything

NOTHING = b"GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n"
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
SLOW = b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n"
ECHO = b"POST /echo HTTP/1.1\r\nHost: a\r\n"
CHUNKED = ECHO + b"Transfer-Encoding: chunked\r\n\r\n"


def echo(body, *headers):
    lines = b"".join(header + b"\r\n" for header in headers)
    return ECHO + lines + b"Content-Length: %d\r\n\r\n" % len(body) + body


def received(connection, end):
    """All bytes until ``end``, in the parts in which they arrived."""
    parts: list[bytes] = []
    while not b"".join(parts).endswith(end):
        part = connection.recv(1 << 20)
        assert part, parts
        parts.append(part)
    return parts


def statuses(answer):
    return [int(found) for found in re.findall(rb"HTTP/1\.1 (\d+)", answer)]


def refused(code, answer):
    """The headers and document of an error response that closes the connection."""
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.decode("ascii").split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines[1:])
    assert headers["content-type"] == MEDIA_TYPE
    assert headers["connection"] == "close"
    assert headers["date"]
    assert int(headers["content-length"]) == len(body) < MAX_BODY_BYTES
    problem = json.loads(body)
    assert (problem["code"], statuses(answer)) == (code, [KINDS[code].status])
    assert problem["instance"].lower() == f"urn:gradwire:request:{headers['x-request-id']}"
    return headers, problem


def answered_late(served, sent, waiting):
    """The responses to what was sent, of which the first begins when so many others wait."""
    connection = served.connect()
    connection.sendall(sent)
    until(lambda: served.waiting == waiting)
    served.release()
    return everything(connection)


def test_every_kind_of_response_is_written(serving):
    connection = serving().connect()
    connection.sendall(NOTHING)
    assert b" 204 " in b"".join(received(connection, b"\r\n\r\n"))
    connection.sendall(b"HEAD /large HTTP/1.1\r\nHost: a\r\n\r\n")
    head = b"".join(received(connection, b"\r\n\r\n"))
    assert b"content-length: %d" % len(LARGE) in head
    assert b"date: " in head
    connection.sendall(b"HEAD /pieces HTTP/1.1\r\nHost: a\r\n\r\n")
    assert b" 200 " in b"".join(received(connection, b"\r\n\r\n"))
    connection.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
    body = b"".join(received(connection, LARGE[-256:])).partition(b"\r\n\r\n")[2]
    while len(body) < len(LARGE):
        body += connection.recv(1 << 20)
    assert body == LARGE
    connection.sendall(ECHO + b"Content-Length: 3\r\nExpect: 100-continue\r\n\r\n")
    received(connection, b"HTTP/1.1 100 Continue\r\n\r\n")
    connection.sendall(b"abc")
    assert len(received(connection, b"\r\n\r\nabc")) == 1
    connection.sendall(echo(b"x") + echo(b"y"))
    assert b"".join(received(connection, b"\r\n\r\ny")).count(b" 200 ") == 2
    connection.sendall(CHUNKED + b"2\r\nab\r\n1\r\nc\r\n0\r\nTrailer: one\r\n\r\n")
    received(connection, b"\r\n\r\nabc")


@pytest.mark.parametrize("head", [b"HTTP/1.0\r\n\r\n", b"HTTP/1.1\r\nHost: a\r\n\r\n"])
def test_a_response_without_content_length_closes_the_connection(serving, head):
    answer = serving().answer(b"GET /pieces " + head)
    assert answer.endswith(b"\r\n\r\nonetwothree")
    assert b"connection: close" in answer
    assert b"chunked" not in answer


def test_a_header_with_a_line_break_is_not_sent(serving):
    assert serving().answer(b"GET /broken HTTP/1.1\r\nHost: a\r\n\r\n") == b""


def test_connection_close_ends_the_connection(serving):
    served = serving()
    last = echo(b"a", b"Connection: close")
    answer = served.answer(last + echo(b"b"))
    assert statuses(answer) == [200]
    assert answer.endswith(b"a")
    assert served.asked == ["echo"]


def test_upgrade_requests_are_ignored(serving):
    upgrade = NOTHING[:-2] + b"Connection: upgrade\r\nUpgrade: h2c\r\n\r\n"
    answer = serving().answer(upgrade * 2 + echo(b"a", b"Connection: close"))
    assert statuses(answer) == [204, 204, 200]


def test_a_malformed_request_gets_a_problem_document(serving):
    served = serving()
    headers, problem = refused("malformed_request", served.answer(b"nonsense\r\n\r\n"))
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert "method" in problem["detail"]
    tls = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
    assert "TLS" in refused("malformed_request", served.answer(tls))[1]["detail"]
    named = b"GET / HTTP/1.1\r\nX-Request-ID: me.1\r\nHost: a\r\nHost: b\r\n\r\n"
    assert refused("malformed_request", served.answer(named))[0]["x-request-id"] == "me.1"
    last = served.recorded[-1]
    assert (last.request_id, last.method, last.status) == ("me.1", "GET", 400)
    assert (last.code, last.client) == ("malformed_request", "127.0.0.1")
    assert served.recorded[0].client == "127.0.0.1"
    labels = {"route": "none", "method": "GET", "status": "400"}
    registry = served.metrics.registry
    assert registry.get_sample_value("gradwire_requests_total", labels) == 1
    code = {"code": "malformed_request"}
    assert registry.get_sample_value("gradwire_problems_total", code) == 3


def test_error_responses_wait_for_earlier_responses(serving):
    served = serving()
    answer = answered_late(served, SLOW + echo(b"ab") + b"nonsense\r\n\r\n" + NOTHING, 2)
    assert statuses(answer) == [200, 200, 400]
    assert answer.index(b"slow") < answer.index(b"\r\n\r\nab") < answer.index(b"malformed_request")


def test_a_malformed_body_fails_its_request(serving):
    served = serving()
    for body in b"zz", b"1\r\nab\r\n", b"-1\r\n", b"f" * 17 + b"\r\n":
        refused("malformed_request", served.answer(CHUNKED + body))
    answer = answered_late(served, SLOW + CHUNKED + b"zz", 1)
    assert statuses(answer) == [200, 400]


def test_a_response_before_the_body_closes_the_connection(serving):
    unread = b"POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n"
    answer = serving().answer(unread, b"GET /")
    assert statuses(answer) == [204]
    assert b"connection: close" in answer


def test_an_early_response_reaches_a_client_that_is_still_sending(serving):
    connection = serving().connect()
    connection.sendall(b"POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 30000000\r\n\r\n")
    connection.sendall(bytes(30_000_000))
    assert statuses(everything(connection)) == [204]


def test_a_long_early_response_is_complete(serving):
    served = serving()
    client = served.connect()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
    client.sendall(b"POST /large HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n")
    until(lambda: served.connections and served.connections[0]._lingers)
    for _ in range(3):
        served.check(LINGER_SECONDS)
    assert everything(client).endswith(LARGE)


def test_a_client_that_goes_on_sending_after_its_last_response_is_cut(serving):
    served = serving()
    client = served.connect()
    client.sendall(b"POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n")
    assert statuses(everything(client)) == [204]
    served.check(LINGER_SECONDS * 0.99)
    assert len(served.limiter) == 1
    served.check(LINGER_SECONDS * 0.02)
    until(lambda: len(served.limiter) == 0)


def test_a_disconnect_is_reported_every_time(serving):
    served = serving()
    client = served.connect()
    client.sendall(b"GET /gone HTTP/1.1\r\nHost: a\r\n\r\n")
    until(lambda: served.server.server_state.tasks)
    client.close()
    until(lambda: not served.server.server_state.tasks)
    assert served.asked == ["http.request", "http.disconnect", "http.disconnect"]


def test_the_body_of_an_upgrade_request_is_not_parsed_as_a_request(serving):
    """As Java's client sends it over plain HTTP."""
    upgrade = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAA\r\n"
    served = serving()
    hidden = ECHO + upgrade + b"Content-Length: %d\r\n\r\n" % len(NOTHING) + NOTHING
    chunked = ECHO + upgrade + CHUNKED[len(ECHO) :] + b"1\r\na\r\n0\r\n\r\n"
    answer = served.answer(hidden + chunked + echo(b"b", b"Connection: close"))
    assert statuses(answer) == [200, 200, 200]
    assert NOTHING in answer
    assert served.asked == ["echo"] * 3


def test_trailers_are_not_added_to_the_headers(serving):
    trailers = b"0\r\nHost: b\r\nAuthorization: me\r\n\r\n"
    served = serving()
    answer = served.answer(CHUNKED + trailers + echo(b"a", b"Connection: close"))
    assert statuses(answer) == [200, 200]
    assert served.headers[0] == [(b"host", b"a"), (b"transfer-encoding", b"chunked")]


@pytest.mark.parametrize(
    ("code", "request_"),
    {
        "one header": ("headers_too_large", b"GET / HTTP/1.1\r\nHost: a\r\nA: " + b"b" * 4000),
        "all headers": ("headers_too_large", NOTHING[:-2] + b"A: bcd\r\n" * 300 + b"\r\n"),
        "their number": ("headers_too_large", NOTHING[:-2] + b"A:\r\n" * 200 + b"\r\n"),
        "the target": ("target_too_long", b"GET /" + b"a" * 600),
        "an expectation": ("expectation_failed", NOTHING[:-2] + b"Expect: more\r\n\r\n"),
        "a chunk's extension": ("malformed_request", CHUNKED + b"1;" + b"a" * 600_000),
        "trailers": ("malformed_request", CHUNKED + b"0\r\nA: " + b"b" * 600_000),
        "bodies": ("overloaded", ECHO + b"Content-Length: 9000000\r\n\r\n" + bytes(8_000_000)),
    }.values(),
)
def test_sizes_of_requests_are_limited(serving, code, request_):
    served = serving(
        max_head_bytes=2000, max_target_bytes=500, max_headers=150, max_arriving_bytes=4_000_000
    )
    parts = [request_[i : i + 3000] for i in range(0, min(len(request_), 9000), 3000)]
    refused(code, served.answer(*parts, request_[9000:]))
    assert served.limiter.arriving_bytes == 0
    assert statuses(served.answer(echo(b"a" * 100_000, b"Connection: close"))) == [200]


def test_pipelined_requests_are_limited(serving):
    sent = SLOW + NOTHING * (MAX_PIPELINED + 9)
    answer = answered_late(serving(), sent, MAX_PIPELINED + 1)
    assert statuses(answer) == [200, *[204] * MAX_PIPELINED, 503]
    assert b"retry-after: 1" in answer


def test_connections_are_limited(serving):
    served = serving(max_connections=2)
    first, second = served.connect(), served.connect()
    for connection in first, second:
        connection.sendall(ECHO)
    until(lambda: len(served.limiter) == 2 and not idle(served))
    assert refused("overloaded", served.answer(NOTHING))[0]["retry-after"] == "1"
    silent = [served.connect() for _ in range(MAX_RESERVED + 5)]
    for one in silent[:5]:  # those that came first
        assert not is_answered(one)
    for _ in range(3):
        assert statuses(served.answer(HEALTH)) == [200]
    refused("overloaded", served.answer(HEALTH.replace(b"/healthz", b"/slow")))
    for one in silent:
        one.close()
    first.close()
    until(lambda: len(served.limiter) == 1)
    assert statuses(served.answer(echo(b"a", b"Connection: close"))) == [200]


def test_the_address_with_most_connections_gives_one_to_another(serving):
    served = serving(max_connections=6, proxies=("127.0.0.9",))
    many = [served.connect() for _ in range(5)]
    for connection in many[:2]:
        connection.sendall(SLOW)
    for connection in many[2:]:
        connection.sendall(ECHO)
    until(lambda: len(served.limiter) == 5 and not idle(served))
    served.clock.advance(1)
    for _ in range(2):
        other = served.connect("127.0.0.2")
        other.sendall(echo(b"a") + SLOW)
        received(other, b"\r\n\r\na")
    assert [is_ended(connection) for connection in many].count(True) == 1
    assert not any(is_ended(connection) for connection in many[:2])  # what is computed goes on
    # Nobody has two more than this one would have: it is refused.
    third = served.connect("127.0.0.3")
    third.sendall(echo(b"b") + SLOW)
    received(third, b"\r\n\r\nb")
    refused("overloaded", served.answer(NOTHING))
    # A proxy has many clients.
    refused("overloaded", served.answer(NOTHING, source="127.0.0.9"))
    served.release()


def test_the_connection_idle_longest_is_closed_for_a_new_one(serving):
    served = serving(max_connections=3)
    used, unused, busy = served.connect(), served.connect(), served.connect()
    until(lambda: len(served.limiter) == 3)
    busy.sendall(SLOW[:-2])
    until(lambda: len(idle(served)) == 2)
    served.clock.advance(1)
    used.sendall(NOTHING)
    received(used, b"\r\n\r\n")
    until(lambda: len(idle(served)) == 2)
    served.clock.advance(2)
    for closed in unused, used:
        connection = served.connect()
        connection.sendall(echo(b"a"))
        received(connection, b"\r\n\r\na")
        assert everything(closed) == b""
    busy.sendall(b"\r\n")
    served.release()
    received(busy, b"\r\n\r\nslow")


def test_a_connection_that_has_just_come_is_not_closed_for_another(serving):
    """Its request may be on the way; the address that has most gives place to both."""
    served = serving(max_connections=4, proxies=())
    many = [served.connect() for _ in range(4)]
    for connection in many:
        connection.sendall(ECHO)
    until(lambda: len(served.limiter) == 4 and not idle(served))
    first = served.connect("127.0.0.2")
    until(lambda: len(idle(served)) == 1)
    served.clock.advance(1)
    second = served.connect("127.0.0.3")
    until(lambda: len(idle(served)) == 2)
    for connection in first, second:
        connection.sendall(echo(b"a"))
        received(connection, b"\r\n\r\na")
    assert [is_ended(connection) for connection in many].count(True) == 2


def idle(served):
    """The connections that wait for a request."""
    return [one for one in served.connections if one.idle_since is not None]


def is_ended(connection):
    if not select.select([connection], [], [], 0)[0]:
        return False
    try:
        return connection.recv(1, socket.MSG_PEEK) == b""
    except ConnectionResetError:
        return True


def is_answered(connection):
    try:
        return bool(everything(connection))
    except ConnectionResetError:
        return False


def sent_part(served, *pieces):
    """A connection that has sent these, and no more; the service has read all of it."""
    connection = served.connect()
    until(lambda: len(served.limiter) == 1)
    for piece in pieces:
        connection.sendall(piece)
    served.check()
    return connection


def ended(served, connection, seconds, piece=b""):
    """What a connection receives, which ends after so many seconds, with this sent in each."""
    for second in range(seconds):
        served.check(0.99 if second == 0 else 1)
        assert len(served.limiter) == 1, second
        assert not select.select([connection], [], [], 0)[0], second
        connection.sendall(piece)
    served.check(0.02)
    answer = everything(connection)
    connection.close()
    until(lambda: len(served.limiter) == 0)
    return answer


def test_slow_request_heads_time_out(serving):
    served = serving(header_timeout_seconds=5)
    assert ended(served, sent_part(served), 5) == b""
    refused("request_timeout", ended(served, sent_part(served, NOTHING[:20]), 5))
    byte_by_byte = sent_part(served, NOTHING[:-2] + b"A: ")
    refused("request_timeout", ended(served, byte_by_byte, 5, b"b"))
    second = sent_part(served, NOTHING)
    received(second, b"\r\n\r\n")
    second.sendall(NOTHING[:20])
    served.check()
    refused("request_timeout", ended(served, second, 5))


@pytest.mark.parametrize("bare", [b"", b"\r\n"])
def test_idle_connections_are_closed_after_a_while(serving, bare):
    served = serving(keep_alive_seconds=15)
    connection = sent_part(served, NOTHING)
    received(connection, b"\r\n\r\n")
    until(lambda: idle(served))
    assert ended(served, connection, 15, bare) == b""


def test_slow_request_bodies_time_out(serving):
    served = serving(body_timeout_seconds=5, min_bytes_per_second=1000)
    head = ECHO + b"Content-Length: 45000\r\n\r\n"
    refused("request_timeout", ended(served, sent_part(served, head), 5))
    refused("request_timeout", ended(served, sent_part(served, head + bytes(4000)), 5))
    refused("request_timeout", ended(served, sent_part(served, head), 5, b"a"))
    soon_enough = sent_part(served, head)
    for _ in range(45):
        soon_enough.sendall(bytes(1000))
        served.check(1)
    assert received(soon_enough, bytes(45_000))[0].startswith(b"HTTP/1.1 200 ")


def test_a_client_waiting_for_100_continue_does_not_time_out(serving):
    served = serving(body_timeout_seconds=5, header_timeout_seconds=5)
    continued = ECHO + b"Content-Length: 1\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
    connection = sent_part(served, SLOW * 3 + continued)
    for _ in range(9):
        served.check(4)
    served.release()
    received(connection, b"HTTP/1.1 100 Continue\r\n\r\n")
    connection.sendall(b"a")
    assert everything(connection).endswith(b"\r\n\r\na")


def test_a_head_behind_requests_in_progress_does_not_time_out(serving):
    served = serving(header_timeout_seconds=5)
    connection = sent_part(served, SLOW * 2 + NOTHING[:20])
    for _ in range(9):
        served.check(4)
    served.release()
    until(lambda: not served.waiting)
    connection.sendall(NOTHING[20:-2] + b"Connection: close\r\n\r\n")
    assert statuses(everything(connection)) == [200, 200, 204]


@pytest.mark.parametrize("more", [b"", b"Connection: close\r\n"])
def test_connections_of_slow_readers_are_closed(serving, more):
    served = serving(send_timeout_seconds=5)
    connection = served.connect()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\n" + more + b"\r\n")
    assert connection.recv(1)
    served.check()
    served.check(4.99)
    assert len(served.limiter) == 1

    def is_closed():
        """The kernel may still have taken some of it in the first windows."""
        served.check(5.01)
        return len(served.limiter) == 0

    until(is_closed)
    with pytest.raises(ConnectionError):
        everything(connection)


def test_unread_responses_are_limited_in_total(serving, monkeypatch):
    monkeypatch.setattr(limiter, "INTERVAL_SECONDS", 3600)
    served = serving(max_leaving_bytes=3 * len(LARGE))
    slow = [served.connect() for _ in range(6)]
    for connection in slow:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        assert connection.recv(1)
    for _ in range(3):
        served.check()
    until(lambda: len(served.limiter) <= 5)
    assert len(served.limiter) >= 3
    answer = served.answer(b"GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    assert answer.endswith(LARGE)


def test_an_answer_that_is_alone_may_be_larger_than_all_together(serving):
    served = serving(max_leaving_bytes=1000)
    connection = served.connect()
    connection.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    assert connection.recv(1) == b"H"
    for _ in range(3):
        served.check()
    assert everything(connection).endswith(LARGE)


def test_disconnected_clients_leave_no_state(serving):
    served = serving()
    sent = [b"", b"GET /", NOTHING, SLOW * 3, ECHO, CHUNKED + b"5\r\nab", SLOW + b"nonsense"]
    for number in range(70):
        connection = socket.create_connection(("127.0.0.1", served.port))
        connection.sendall(sent[number % len(sent)])
        if number % 2:  # a reset instead of an end
            linger = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        connection.close()
    served.release()
    until(lambda: len(served.limiter) == 0)
    until(lambda: not served.server.server_state.tasks)
    assert not served.server.server_state.connections
    assert served.limiter.arriving_bytes == 0


@pytest.mark.parametrize("loop", ["asyncio", "auto"])
def test_refusing_a_disconnected_client_logs_no_error(serving, loop, caplog):
    served = serving(loop)
    client = served.connect()
    client.sendall(b"GET /nothing HT")
    until(lambda: any(one._parser.head_since for one in served.connections))
    (held,) = served.connections
    found: Future[None] = Future()

    def refuse() -> None:
        """Before the event loop has noticed the disconnect."""
        client.close()
        select.select([held.transport.get_extra_info("socket")], [], [])  # until the kernel has
        held.refuse(RequestError("request_timeout", "the headers came too slowly"))
        found.set_result(None)

    held._loop.call_soon_threadsafe(refuse)
    found.result()
    until(lambda: len(served.limiter) == 0)
    assert b" 204 " in served.answer(NOTHING.replace(b"a\r\n", b"a\r\nConnection: close\r\n"))
    assert caplog.messages == []
