"""A cheap load generator that checks every response.

Requests are bytes made beforehand, and answers are parsed once for each body that comes.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from math import ceil
from typing import Any, NamedTuple

_MOST_BYTES = 1 << 26
_MOST_BODIES = 10_000


class Ask:
    """A request, and a check of its response."""

    def __init__(
        self,
        name: str,
        path: str,
        document: Any = None,
        right: Callable[[Any], bool] = bool,
        *,
        method: str = "POST",
        headers: Sequence[tuple[str, str]] = (),
    ) -> None:
        body = b"" if document is None else json.dumps(document).encode()
        head = [f"{method} {path} HTTP/1.1", "Host: gradwire", f"Content-Length: {len(body)}"]
        head += ["Content-Type: application/json"] if body else []
        head += [f"{field}: {value}" for field, value in headers]
        self.name = name
        self.sent = "\r\n".join([*head, "", ""]).encode() + body
        self._right = right
        self._judged: dict[bytes, bool] = {}

    def is_answered_by(self, body: bytes) -> bool:
        """True if ``body`` is the right response. Raises: ``ValueError`` if it is not JSON."""
        judged = self._judged.get(body)
        if judged is None:
            document = json.loads(body) if body else None
            try:
                judged = bool(self._right(document))
            except (ValueError, TypeError, KeyError):
                judged = False
            if len(self._judged) < _MOST_BODIES:
                self._judged[body] = judged
        return judged


class Answer(NamedTuple):
    """The outcome of one request, which started at the time ``at``.

    Without a status, ``failure`` says why; for a status other than 2xx, ``code`` is the error code.
    """

    ask: str
    at: float
    seconds: float
    status: int = 0
    right: bool = False
    code: str | None = None
    retry_after: str | None = None
    failure: str | None = None
    body: bytes = b""

    @property
    def outcome(self) -> str:
        """``right``, ``WRONG``, the error code, or the reason why there is no response."""
        return self.failure or self.code or ("right" if self.right else "WRONG")


@dataclass
class Answers:
    """All responses to a load."""

    all: list[Answer] = field(default_factory=list)
    #: The duration of the load, until the last response.
    seconds: float = 0.0
    #: The maximum delay of the generator, if requests had scheduled times.
    late_seconds: float = 0.0
    #: The number of connections open at once.
    connections: int = 0

    @property
    def good(self) -> list[Answer]:
        return [answer for answer in self.all if answer.right and answer.status < 300]

    @property
    def wrong(self) -> list[Answer]:
        """Successful responses with a wrong result, which must never occur."""
        return [answer for answer in self.all if 200 <= answer.status < 300 and not answer.right]

    @property
    def refused(self) -> list[Answer]:
        return [answer for answer in self.all if answer.status >= 300]

    @property
    def lost(self) -> list[Answer]:
        """Requests without a response."""
        return [answer for answer in self.all if not answer.status]

    @property
    def failures(self) -> Counter[str]:
        """The number of requests without the right response, by outcome."""
        return Counter(answer.outcome for answer in self.all if answer.outcome != "right")

    def percentile(self, share: float, among: Sequence[Answer] | None = None) -> float:
        """The time within which this share of the good responses (or of ``among``) arrived."""
        answers = self.good if among is None else among
        return percentile(share, [answer.seconds for answer in answers])

    def told(self) -> str:
        """The figures on one line."""
        outcomes = Counter(answer.outcome for answer in self.all)
        counted = ", ".join(f"{times} {outcome}" for outcome, times in outcomes.most_common())
        p50, p99 = (1000 * self.percentile(share) for share in (0.5, 0.99))
        rate = len(self.good) / self.seconds if self.seconds else 0.0
        late = f", sent up to {self.late_seconds:.2f} s late" if self.late_seconds > 0.1 else ""
        return f"{counted}; {rate:.0f}/s, p50 {p50:.1f} ms, p99 {p99:.1f} ms{late}"


def percentile(share: float, seconds: Sequence[float]) -> float:
    """The smallest value that at least this share of the values does not exceed; 0 if none."""
    return sorted(seconds)[max(ceil(share * len(seconds)), 1) - 1] if seconds else 0.0


class Connection:
    """One connection, which is opened again if it was closed."""

    def __init__(self, port: int, patience: float | None = None) -> None:
        self._port = port
        self._patience = patience
        self._open: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, ask: Ask) -> Answer:
        """Send once, and read the response."""
        clock = time.perf_counter
        start = clock()
        failure = "timeout"
        try:
            async with asyncio.timeout(self._patience):
                failure = "refused"
                if self._open is not None and self._open[0].at_eof():
                    self.close()  # idle for longer than the server keeps connections
                if self._open is None:
                    self._open = await asyncio.open_connection(
                        "127.0.0.1", self._port, limit=_MOST_BYTES
                    )
                failure = "cut"
                status, headers, body = await _exchange(self._open, ask.sent)
                answer = _answer(ask, start, clock() - start, status, headers, body)
        except TimeoutError:
            failure = "timeout"
        except (OSError, EOFError):
            pass
        except (ValueError, KeyError, asyncio.LimitOverrunError):
            failure = "malformed"
        else:
            if headers.get("connection") == "close":
                self.close()
            return answer
        self.close()
        return Answer(ask.name, start, clock() - start, failure=failure)

    def close(self) -> None:
        """Abort the connection immediately."""
        if self._open is not None:
            self._open[1].transport.abort()
            self._open = None


@asynccontextmanager
async def unread(port: int, asks: Sequence[Ask]) -> AsyncIterator[None]:
    """Send requests on connections that read nothing, and abort them all at the end."""
    writers: list[asyncio.StreamWriter] = []
    try:
        for ask in asks:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writers.append(writer)
            writer.write(ask.sent)
            await writer.drain()
        yield
    finally:
        for writer in writers:
            writer.transport.abort()


async def closed(
    port: int,
    asks: Sequence[Ask],
    *,
    clients: int,
    seconds: float = 0.0,
    each: int = 0,
    patience: float | None = None,
    seed: int = 0,
    until: asyncio.Event | None = None,
    pause: float = 0.0,
    into: Answers | None = None,
) -> Answers:
    """A closed load: clients that each send a request after the previous response and a pause.

    They run for ``seconds``, ``each`` times, or ``until`` an event. Their responses are added
    ``into`` the answers, as they come.
    """
    answers = Answers() if into is None else into
    answers.connections = clients
    start = time.perf_counter()

    async def client(number: int) -> None:
        choose = random.Random(f"{seed} {number}")
        connection = Connection(port, patience)
        times = 0
        while not (
            (each and times == each)
            or (seconds and time.perf_counter() - start > seconds)
            or (until is not None and until.is_set())
        ):
            times += 1
            answers.all.append(await connection.ask(choose.choice(asks)))
            if pause:
                await asyncio.sleep(pause)
        connection.close()

    await asyncio.gather(*(client(number) for number in range(clients)))
    answers.seconds = time.perf_counter() - start
    return answers


async def opened(
    port: int,
    asks: Sequence[Ask],
    *,
    rate: float,
    seconds: float,
    patience: float | None = None,
    seed: int = 0,
    until: asyncio.Event | None = None,
) -> Answers:
    """An open load: ``rate`` requests a second, whether or not earlier ones are answered.

    It runs for ``seconds`` at most, or ``until`` an event.
    If the generator is late, it reports the delay.
    """
    answers = Answers()
    choose = random.Random(seed)
    idle: list[Connection] = []
    asking: set[asyncio.Task[None]] = set()
    start = time.perf_counter()

    async def one(due: float) -> None:
        connection = idle.pop() if idle else Connection(port, patience)
        answers.late_seconds = max(answers.late_seconds, time.perf_counter() - due)
        answers.all.append(await connection.ask(choose.choice(asks)))
        idle.append(connection)

    for number in range(round(rate * seconds)):
        due = start + number / rate
        await asyncio.sleep(max(due - time.perf_counter(), 0))
        if until is not None and until.is_set():
            break
        task = asyncio.create_task(one(due))
        asking.add(task)
        task.add_done_callback(asking.discard)
    await asyncio.gather(*asking)
    for connection in idle:
        connection.close()
    answers.connections = len(idle)
    answers.seconds = time.perf_counter() - start
    return answers


async def _exchange(
    opened: tuple[asyncio.StreamReader, asyncio.StreamWriter], sent: bytes
) -> tuple[int, dict[str, str], bytes]:
    """Write a request and read a response.

    Raises: ``ValueError``, ``KeyError`` or ``LimitOverrunError`` if it is not HTTP.
    """
    reader, writer = opened
    writer.write(sent)
    await writer.drain()
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head[:-4].split("\r\n")
    protocol, status, _ = first.split(" ", 2)
    if protocol != "HTTP/1.1":
        raise ValueError(f"not HTTP: {first!r}")
    headers = {
        name.strip().lower(): value.strip()
        for name, _, value in (line.partition(":") for line in lines)
    }
    if headers.get("transfer-encoding") == "chunked":
        return int(status), headers, await _chunks(reader)
    length = 0 if status == "204" else int(headers["content-length"])
    return int(status), headers, await reader.readexactly(length)


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = bytearray()
    while length := int(await reader.readuntil(b"\r\n"), 16):
        body += await reader.readexactly(length)
        await reader.readexactly(2)
    await reader.readexactly(2)
    return bytes(body)


def _answer(
    ask: Ask, start: float, seconds: float, status: int, headers: dict[str, str], body: bytes
) -> Answer:
    if status < 300:
        return Answer(ask.name, start, seconds, status, ask.is_answered_by(body))
    code = None
    if headers.get("content-type") == "application/problem+json":
        with suppress(ValueError):
            code = json.loads(body).get("code")
    retry_after = headers.get("retry-after")
    return Answer(
        ask.name, start, seconds, status, code=code or "untyped", retry_after=retry_after, body=body
    )
