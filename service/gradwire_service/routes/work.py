"""One computation from the bytes of its request to the bytes of its response."""

from __future__ import annotations

from time import perf_counter

from gradwire_engine import Engine
from gradwire_engine.answer import Answer, Kind, Poll

from gradwire_service.capacity import Deadline
from gradwire_service.settings import Settings
from gradwire_service.wire import replies
from gradwire_service.wire.codec import Codec
from gradwire_service.wire.envelope import read_envelope


class Work:
    """Reads with ``prepare``, then computes and writes with ``finish``; no thread in between.

    ``finish`` may be stopped by its poll and called again: an evaluation changes nothing.
    """

    __slots__ = (
        "_as_bytes",
        "_call",
        "_codec",
        "_engine",
        "_program_id",
        "answer",
        "cached",
        "deadline",
        "seconds",
    )

    def __init__(self, engine: Engine, codec: Codec, settings: Settings) -> None:
        self._engine = engine
        self._codec = codec
        self.deadline = Deadline(settings.default_timeout_ms)
        self.seconds = [0.0, 0.0, 0.0, 0.0]

    def prepare(self, body: bytes, kind: Kind, reader: Codec, settings: Settings) -> None:
        """Read the request, parse its program and look its executables up."""
        start = perf_counter()
        asked = read_envelope(reader.read(body), kind)
        if asked.timeout_ms is not None:
            self.deadline.allow(min(asked.timeout_ms, settings.max_timeout_ms))
        program = self._engine.parse(asked.program)
        self._call = self._engine.call(program, asked.variables, asked.query, vectors=asked.vectors)
        self._program_id = program.id
        self._as_bytes = asked.as_bytes
        self.cached = self._call.compiled
        self.seconds[0] = perf_counter() - start

    def replay_seconds(self) -> float:
        """How long the replay will take; only what is compiled can tell."""
        return self._call.seconds

    def finish(self, kind: Kind, poll: Poll) -> bytes:
        """Compile what is not compiled, replay, and write the response."""
        start = perf_counter()
        self._call.compile(poll)
        compiled = perf_counter()
        self.answer: Answer = self._call.replay(poll)
        replayed = perf_counter()
        reply = replies.evaluation if kind == "evaluate" else replies.derivative
        document = reply(self._program_id, self.answer)
        body = self._codec.write(document, as_bytes=self._as_bytes)
        written = perf_counter()
        self.seconds[1:] = compiled - start, replayed - compiled, written - replayed
        return body
