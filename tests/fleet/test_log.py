"""Whether or not anyone reads the log, requests are answered and the service can exit."""

import json
import os
import signal
import sys

import pytest

from tests.fleet import asks, load
from tests.fleet.fleets import Replica

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

#: Enough requests for their lines to exceed the size of a pipe.
CLIENTS, EACH = 4, 100
PIPE_BYTES = 1 << 16


class Unread(Replica):
    """A server whose log is a pipe."""

    def log(self, most=4000):
        return ""


async def test_an_unread_log_does_not_block_requests(tmp_path, tell):
    pipe = tmp_path / "unread.log"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    server = Unread("unread", tmp_path, {"GRADWIRE_LOG_LEVEL": "info"}, apart=True)
    try:
        await server.start().listening()
        answers = await load.closed(server.port, [asks.smooth(10, 1)], clients=CLIENTS, each=EACH)
        tell("answers", answers)
        assert answers.failures == {}
        server.send(signal.SIGTERM)
        assert await server.ended() == 0
        written = os.read(reader, 1 << 20)
    finally:
        server.stop()
        os.close(reader)
    assert len(answers.all) == CLIENTS * EACH
    assert PIPE_BYTES / 2 < len(written) <= PIPE_BYTES


async def test_a_log_that_is_read_has_a_line_for_each_request(tmp_path):
    settings = {
        "GRADWIRE_LOG_LEVEL": "info",
        "GRADWIRE_LOG_FORMAT": "json",
        "GRADWIRE_PROCESSES": "0",
    }
    server = Replica("read", tmp_path, settings)
    try:
        await server.start().listening()
        await load.closed(server.port, [asks.smooth(10, 1)], clients=CLIENTS, each=EACH)
        server.send(signal.SIGTERM)
        assert await server.ended() == 0
        events = [json.loads(line) for line in server.log(1 << 30).splitlines()]
    finally:
        server.stop()
    asked = [event for event in events if event["event"] == "request"]
    answered = [event for event in asked if event["route"] == "/v1/gradient"]
    assert len(answered) == CLIENTS * EACH
    assert len({event["request_id"] for event in answered}) == CLIENTS * EACH
