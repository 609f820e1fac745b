"""The client of the benchmarks reads replies of any length as they arrive."""

import json
import socket
import threading
from contextlib import closing

import pytest
from servers import BARE, Connection, http_request, running


@pytest.fixture
def served():
    """A connection and the socket at its other end."""
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        closing(Connection(listener.getsockname()[1])) as connection,
        listener.accept()[0] as other,
    ):
        yield connection, other


def reply(body, status=b"200 OK"):
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body)


def test_a_reply_may_arrive_in_any_pieces(served):
    connection, other = served
    whole = reply(b"first") + reply(b"")
    for length in range(1, len(whole) - len(reply(b""))):
        other.sendall(whole[length - 1 : length])
        assert connection.receive_some() is None
    other.sendall(b"t")
    assert connection.receive_some() == b"first"
    other.sendall(reply(b""))
    assert connection.receive_some() == b""


def test_long_replies_are_read_completely_and_in_order(served):
    connection, other = served
    bodies = [bytes([digit]) * length for digit, length in enumerate((10, 3_000_000, 7, 400_000))]
    for body in bodies:
        sender = threading.Thread(target=other.sendall, args=(reply(body),))
        sender.start()
        while (found := connection.receive_some()) is None:
            pass
        assert found == body
        sender.join()


def test_an_unsuccessful_reply_raises_an_error(served):
    connection, other = served
    other.sendall(reply(b"what is wrong", b"404 Not Found"))
    with pytest.raises(RuntimeError, match="what is wrong"):
        connection.receive_some()


def test_a_closed_connection_raises_an_error(served):
    connection, other = served
    other.shutdown(socket.SHUT_WR)
    with pytest.raises(ConnectionError):
        connection.receive_some()


def test_a_server_answers_until_stopped_and_reports_its_cpu_time():
    request = http_request("/v1/gradient", b'{"variables": {"x": [2, 1]}}')
    with running(BARE) as server, closing(Connection(server.port)) as connection:
        before = server.cpu_seconds()
        for _ in range(20):
            answer = json.loads(bytes(connection.exchange(request)))
            assert answer == {"value": 901.0, "gradients": {"x": [2402.0, -600.0]}}
        assert 0 < server.cpu_seconds() - before < 5
    with pytest.raises(ConnectionRefusedError):
        Connection(server.port)
