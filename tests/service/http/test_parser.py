"""The result of parsing does not depend on how the bytes are divided into reads."""

import asyncio
import re
import weakref

import uvicorn
from gradwire_service.http.connection import HttpConnection
from gradwire_service.http.limiter import ConnectionLimiter
from gradwire_service.settings import Settings
from gradwire_service.telemetry import (
    Metrics,
    ProblemMiddleware,
    RequestMiddleware,
    RequestRecorder,
)
from hypothesis import given
from hypothesis import strategies as st
from uvicorn.server import ServerState

from tests.effort import examples

HEAD = b"POST /echo HTTP/1.1\r\nHost: service\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


class Written(asyncio.Transport):
    """A transport without a peer, which records what is written."""

    def __init__(self):
        super().__init__()
        self.written = b""
        self.ended = self.closed = False

    def write(self, data):
        assert not self.ended
        assert not self.closed
        self.written += bytes(data)

    def writelines(self, pieces):
        self.write(b"".join(map(bytes, pieces)))

    def can_write_eof(self):
        return True

    def write_eof(self):
        self.ended = True

    def close(self):
        self.closed = True

    abort = close

    def is_closing(self):
        return self.closed

    def get_write_buffer_size(self):
        return 0

    def pause_reading(self):
        pass

    resume_reading = pause_reading


async def echo(scope, receive, send):
    body = b""
    while (message := await receive())["type"] == "http.request":
        body += message["body"]
        if not message["more_body"]:
            length = (b"content-length", b"%d" % len(body))
            await send({"type": "http.response.start", "status": 200, "headers": [length]})
            await send({"type": "http.response.body", "body": body})
            return


async def answered(pieces):
    """The transport after the pieces were read one by one."""
    recorder = RequestRecorder(Metrics())
    app = RequestMiddleware(ProblemMiddleware(echo, recorder.metrics), recorder)
    config = uvicorn.Config(app, log_config=None, access_log=False, ws="none")
    config.load()
    limiter, state = ConnectionLimiter(Settings(), recorder), ServerState()
    connection = HttpConnection(config, state, {}, limiter=limiter)
    transport = Written()
    connection.connection_made(transport)
    for piece in pieces:
        if transport.closed:
            break
        connection.data_received(piece)
        await asyncio.sleep(0)
    for _ in range(40):
        await asyncio.sleep(0)
    connection.connection_lost(None)
    for _ in range(3):
        await asyncio.sleep(0)
    assert not state.tasks
    assert (len(limiter), limiter.arriving_bytes) == (0, 0)
    gone = weakref.ref(connection)
    del connection
    assert gone() is None  # without the garbage collector, which runs rarely
    return transport


#: Without what looks like an answer, as answers are counted.
bodies = st.binary(max_size=40).filter(lambda body: b"HTTP" not in body)


@st.composite
def sound(draw):
    """A request and its body."""
    kind = draw(st.sampled_from(["length", "chunks", "none"]))
    upgrade = draw(st.sampled_from([b"", b"Connection: upgrade\r\nUpgrade: h2c\r\n"]))
    if kind == "length":
        body = draw(bodies)
        return HEAD + upgrade + b"Content-Length: %d\r\n\r\n" % len(body) + body, body
    if kind == "chunks":
        chunks = draw(st.lists(bodies.filter(bool), max_size=4))
        sizes = [b"%x%b\r\n%b\r\n" % (len(c), draw(EXTENSIONS), c) for c in chunks]
        head = HEAD + upgrade + CHUNKED[len(HEAD) :]
        return head + b"".join(sizes) + b"0\r\n" + draw(TRAILERS) + b"\r\n", b"".join(chunks)
    return b"\r\n" + HEAD.replace(b"POST", b"GET") + upgrade + b"\r\n", b""


EXTENSIONS = st.sampled_from([b"", b";a", b";a=b", b';a="b"'])
TRAILERS = st.sampled_from([b"", b"A: b\r\n", b"Host: other\r\nA: b\r\n"])
BROKEN = [
    b"nonsense\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    HEAD + b"Content-Length: +1\r\n\r\n",
    HEAD + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    HEAD + b"A: b\r\n c\r\n\r\n",
    CHUNKED + b"x\r\n",
    CHUNKED + b"1\r\nab\r\n",
    CHUNKED + b"2\r\nab\r\n-1\r\n",
    b"GET /%zz HTTP/1.1\r\nHost: service\r\n\r\n",
    b"GET /../ HTTP/1.1\r\nHost: service\r\n\r\n",
]


@examples(200)
@given(
    st.lists(sound(), max_size=4),
    st.sampled_from([b"", *BROKEN]),
    st.lists(st.integers(1, 700), max_size=12) | st.just([*range(1, 700)]),
)
def test_the_result_does_not_depend_on_where_reads_end(requests, broken, cuts):
    sent = b"".join(request for request, _ in requests) + broken
    marks = sorted({cut for cut in cuts if cut < len(sent)})
    ends = zip([0, *marks], [*marks, len(sent)], strict=True)
    transport = asyncio.run(answered([sent[start:end] for start, end in ends]))
    found = [int(status) for status in re.findall(rb"HTTP/1\.1 (\d+) ", transport.written)]
    assert found == [200] * len(requests) + [400] * bool(broken)
    assert transport.ended == bool(broken)
    good = transport.written.partition(b"HTTP/1.1 400")[0]
    echoed = [part.partition(b"\r\n\r\n")[2] for part in good.split(b"HTTP/1.1 200 OK\r\n")[1:]]
    assert echoed == [body for _, body in requests]
    assert (b"malformed_request" in transport.written) == bool(broken)
