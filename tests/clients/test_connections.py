"""Plain connections, against a server whose bytes are written out; httpx's own are the oracle."""

import contextlib
import socket
import threading

import gradwire
import httpx
import pytest
from gradwire.connections import LONGEST_HEAD_BYTES, KeptConnections

from tests.clock import Clock

LIMITS = httpx.Limits(max_keepalive_connections=2, keepalive_expiry=30.0)
FULL = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole"


@pytest.fixture
def pool():
    with httpx.Client(transport=KeptConnections(LIMITS), timeout=None) as pool:
        yield pool


ANSWERS = {
    "a length": b"HTTP/1.1 200 OK\r\nX-One: 1\r\nContent-Length: 5\r\n\r\nwhole",
    "no body": b"HTTP/1.1 204 No Content\r\nX-One: \t1 \r\n\r\n",
    "no reason": b"HTTP/1.1 404 \r\nContent-Length: 0\r\n\r\n",
    "chunks": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"3\r\nwho\r\n0A;name=value\r\nle and all\r\n0\r\nX-Trailer: 1\r\n\r\n"
    ),
    "interim answers": (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + FULL
    ),
    "repeated headers": b"HTTP/1.1 200 OK\r\nA: 1\r\na: 2\r\nContent-Length: 0\r\n\r\n",
    "compressed": (
        b"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: 11\r\n\r\n"
        b"x\x9cK\xcb\xcf\x07\x00\x02\x82\x01E"
    ),
}


@pytest.mark.parametrize("reply", ANSWERS.values(), ids=ANSWERS)
def test_answers_are_read_as_httpx_reads_them_and_the_connection_stays(script, pool, reply):
    server = script(reply, FULL)
    found = pool.post(server.url, content=b"asked")
    assert pool.get(f"{server.url}/again?x=%20").content == b"whole"
    assert server.connections == 1
    assert server.requests[0].endswith(b"\r\n\r\nasked")
    assert server.requests[1].startswith(b"GET /again?x=%20 HTTP/1.1\r\n")
    expected = httpx.post(script(reply).url, content=b"asked")
    assert found.content == expected.content
    assert found.status_code == expected.status_code
    assert found.headers.multi_items() == expected.headers.multi_items()


@pytest.mark.parametrize(
    "reply",
    [
        FULL.replace(b"Content-Length", b"Connection: Keep-Alive, Close\r\nContent-Length"),
        FULL.replace(b"1.1", b"1.0"),
    ],
)
def test_a_connection_that_the_server_gives_up_is_not_used_again(script, pool, reply):
    server = script(reply, FULL)
    assert pool.get(server.url).content == b"whole"
    assert pool.get(server.url).content == b"whole"
    assert server.connections == 2


REFUSED = {
    "another protocol": b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
    "a status of four digits": b"HTTP/1.1 2000 OK\r\n\r\n",
    "a header without a colon": b"HTTP/1.1 200 OK\r\nContent-Length\r\n\r\n",
    "a folded header": b"HTTP/1.1 200 OK\r\nA: 1\r\n 2\r\nContent-Length: 0\r\n\r\n",
    "unequal lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "a negative length": b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
    "a length beside chunks": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n"
    ),
    "another encoding": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
    "an illegal size": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
    "a chunk that is too long": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n"
    ),
    "a head without end": b"HTTP/1.1 200 OK\r\nA: " + b"a" * LONGEST_HEAD_BYTES,
}


@pytest.mark.parametrize("reply", REFUSED.values(), ids=REFUSED)
def test_what_is_no_answer_is_an_error_of_the_protocol(script, pool, reply):
    server = script(reply, FULL)
    with pytest.raises(httpx.RemoteProtocolError):
        pool.get(server.url)
    assert pool.get(server.url).content == b"whole"  # on a new connection
    assert server.connections == 2


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-",
        FULL[:-1],
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nwho",
    ],
)
def test_an_answer_that_ends_early_is_an_error(pool, reply):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=_answer_once, args=(listening, reply))
        thread.start()
        with pytest.raises(httpx.RemoteProtocolError, match="closed the connection"):
            pool.get(f"http://127.0.0.1:{listening.getsockname()[1]}")
        thread.join()


def test_a_length_may_be_repeated(script, pool):
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nw"
    assert pool.get(script(reply).url).content == b"w"


def test_a_body_without_length_ends_with_the_connection(pool):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        reply = b"HTTP/1.1 200 OK\r\n\r\nall that there is"
        thread = threading.Thread(target=_answer_once, args=(listening, reply))
        thread.start()
        found = pool.get(f"http://127.0.0.1:{listening.getsockname()[1]}")
        thread.join()
    assert found.content == b"all that there is"


def _answer_once(listening, reply):
    connection, _ = listening.accept()
    with connection:
        connection.recv(1 << 16)
        connection.sendall(reply)


def test_an_answer_to_a_part_of_the_request_is_read(pool):
    refusal = b"HTTP/1.1 413 Too Large\r\nContent-Length: 5\r\n\r\nlarge"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=_answer_once, args=(listening, refusal))
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        with contextlib.suppress(httpx.NetworkError):  # if its reset overtakes its answer
            assert pool.post(url, content=bytes(1 << 26)).content == b"large"
        thread.join()


@pytest.mark.thorough
def test_a_connection_that_the_server_has_closed_meanwhile_is_replaced(script, pool):
    server = script(FULL, None, FULL)
    assert pool.get(server.url).content == b"whole"
    with pytest.raises(httpx.RemoteProtocolError):
        pool.get(server.url)
    assert pool.get(server.url).content == b"whole"
    assert server.connections == 2


def test_an_expired_connection_is_replaced(script):
    server, clock, connections = script(FULL, FULL, FULL), Clock(), []
    with httpx.Client(transport=KeptConnections(LIMITS, clock), timeout=None) as pool:
        for seconds in (0.0, 29.5, 30.0):  # since the request before
            clock.advance(seconds)
            assert pool.get(server.url).content == b"whole"
            connections.append(server.connections)
    assert connections == [1, 1, 2]


def test_an_answer_that_is_not_read_to_its_end_costs_its_connection(script, pool):
    server = script(FULL, FULL)
    with pool.stream("GET", server.url) as response:
        assert response.status_code == 200
    assert pool.get(server.url).content == b"whole"
    assert server.connections == 2


def test_waiting_too_long_is_a_timeout(script, pool):
    with pytest.raises(httpx.ReadTimeout):
        pool.get(script(...).url, timeout=httpx.Timeout(None, read=0.01))


def test_where_nobody_listens_there_is_no_connection(pool):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    with pytest.raises(httpx.ConnectError, match="refused"):
        pool.get(url)
    with pytest.raises(httpx.ConnectError):
        pool.get("http://nowhere.invalid")


@pytest.mark.parametrize("value", ["a\r\nInjected: 1", "a\nb", "a\rb", "a\0b"])
def test_a_header_is_one_line(script, pool, value):
    with pytest.raises(httpx.LocalProtocolError, match="line break"):
        pool.get(script().url, headers={"Named": value})


@pytest.mark.thorough
def test_threads_have_connections_of_their_own(service_url):
    with gradwire.Client(service_url) as client:
        found = {}

        def ask(number):
            answers = [
                client.evaluate("x + 1", {"x": float(number + i)}).outputs for i in range(50)
            ]
            found[number] = [answer - i - 1 for i, answer in enumerate(answers)]

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == {number: [number] * 50 for number in range(8)}


def test_a_closed_pool_keeps_nothing(script):
    server = script(FULL)
    transport = KeptConnections(LIMITS)
    response = httpx.Client(transport=transport).send(httpx.Request("GET", server.url), stream=True)
    transport.close()
    assert response.read() == b"whole"
    assert not any(transport._idle.values())
