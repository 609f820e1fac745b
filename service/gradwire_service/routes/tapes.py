"""``/v1/tapes``: programs run once, then asked for derivatives of all kinds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from time import perf_counter
from typing import Any, NamedTuple

from fastapi import APIRouter, Request
from gradwire_engine import Engine, Query
from gradwire_engine.answer import Kind
from gradwire_engine.recording import Listed
from starlette.responses import Response

from gradwire_service import documents
from gradwire_service.capacity import Capacity, Deadline
from gradwire_service.problems import node_document
from gradwire_service.settings import Settings
from gradwire_service.store import Key, Recipe, TapeStore
from gradwire_service.tapes import Tape, Tapes
from gradwire_service.telemetry import Metrics, server_timing
from gradwire_service.wire import replies
from gradwire_service.wire.body import read_body
from gradwire_service.wire.codec import reader_for, writer_for
from gradwire_service.wire.envelope import read_envelope, read_tape, read_timeout

_PARSE, _COMPILE, _REPLAY, _ENCODE = range(4)
#: Instructions that a tape is shown with; the rest are only counted.
_MOST_SHOWN = 10_000


class Asked(NamedTuple):
    """How a question was answered: from kept values, by a cached executable, with what lapses."""

    kept: bool
    cached: bool
    nonfinite: Collection[str]


class Exchange:
    """One request about tapes: its body and codecs, its deadline, and how long its phases took."""

    def __init__(self, request: Request, settings: Settings) -> None:
        header = dict(request.scope["headers"]).get
        self.reader = reader_for(header(b"content-type", b""), header(b"content-encoding", b""))
        self.writer = writer_for(header(b"accept", b""), self.reader)
        self.length = header(b"content-length", b"")
        #: Whose tapes: those who give the same key, or none. No store gets to see a key.
        self.owner = sha256(header(b"authorization", b"")).hexdigest()
        self.body = b""
        self.deadline = Deadline(settings.default_timeout_ms)
        self.seconds = [0.0, 0.0, 0.0, 0.0]
        #: What there is to count once a question is answered.
        self.asked: Asked | None = None
        self._most_ms = settings.max_timeout_ms

    @cached_property
    def document(self) -> Any:
        """What the body says; from now on the request has the time that it asks for."""
        with self.phase(_PARSE):
            document = self.reader.read(self.body)
            timeout_ms = read_timeout(document)
            if timeout_ms is not None:
                self.deadline.allow(min(timeout_ms, self._most_ms))
        return document

    @contextmanager
    def phase(self, number: int) -> Iterator[None]:
        """Count the time until the end as that phase's."""
        start = perf_counter()
        yield
        self.seconds[number] += perf_counter() - start

    def reply(self, document: dict[str, Any], *, as_bytes: bool = False) -> bytes:
        """Write the document of the answer."""
        with self.phase(_ENCODE):
            return self.writer.write(document, as_bytes=as_bytes)


class Answering:
    """What the routes do, each in a thread."""

    def __init__(self, tapes: Tapes) -> None:
        self._tapes = tapes

    def create(self, x: Exchange) -> bytes:
        """Record a program, run it, and keep both."""
        document = x.document
        with x.phase(_PARSE):
            asked = read_tape(document)
            recording = self._tapes.recording(asked)
        with x.phase(_COMPILE):
            recording.compile(x.deadline)
        with x.phase(_REPLAY):
            recording.run(x.deadline)
            answer = recording.call(Query("evaluate")).replay(x.deadline)
        recipe = Recipe(x.reader.media_type, x.body, asked.persistent)
        key, expires_at = self._tapes.add(x.owner, recipe, recording)
        told = replies.evaluation(recording.program.id, answer)
        told |= {
            "tape": key.token,
            "watched": recording.recorded.watched,
            "expires_at": _when(expires_at),
        }
        return x.reply(told, as_bytes=asked.as_bytes)

    def ask(self, x: Exchange, token: str, kind: Kind) -> bytes:
        """Answer a question about what was recorded."""
        document = x.document
        with x.phase(_PARSE):
            asked = read_envelope(document, kind, of_tape=True)
        tape = self._find(x, token)
        with x.phase(_COMPILE):
            call = tape.recording.call(asked.query, asked.vectors)
            cached = call.compiled
            call.compile(x.deadline)
        with x.phase(_REPLAY):
            answer = call.replay(x.deadline)
        told = replies.derivative(tape.recording.program.id, answer)
        reply = x.reply(told, as_bytes=asked.as_bytes)
        self._tapes.use(tape)
        x.asked = Asked(tape.kept, cached, answer.nonfinite)
        return reply

    def show(self, x: Exchange, token: str) -> bytes:
        """What was recorded."""
        tape = self._find(x, token)
        recorded = tape.recording.recorded
        return x.reply(
            {
                "tape": token,
                "program": tape.recording.program.id,
                "persistent": tape.recipe.persistent,
                "watched": recorded.watched,
                "expires_at": _when(tape.expires_at),
                "memory_bytes": recorded.nbytes,
                "length": len(recorded.instructions),
                "instructions": _shown(recorded.listed(_MOST_SHOWN)),
            }
        )

    def remove(self, x: Exchange, token: str) -> bytes:
        """Forget a tape."""
        self._tapes.remove(Key(x.owner, token))
        return b""

    def _find(self, x: Exchange, token: str) -> Tape:
        with x.phase(_COMPILE):
            tape = self._tapes.find(Key(x.owner, token))
            tape.recording.compile(x.deadline)
        if not tape.kept:
            with x.phase(_REPLAY):
                tape.recording.run(x.deadline)
            self._tapes.keep(tape.key, tape.recording)
        return tape


def router(
    *,
    engine: Engine,
    store: TapeStore,
    capacity: Capacity,
    metrics: Metrics,
    settings: Settings,
) -> APIRouter:
    """The routes of tapes."""
    routes = APIRouter(prefix="/v1/tapes", tags=["tapes"])
    answering = Answering(Tapes(engine, store, settings.tape_values_bytes))

    async def answered(
        request: Request, work: Callable[[Exchange], bytes], status: int = 200
    ) -> Response:
        x = Exchange(request, settings)
        capacity.enter()
        try:
            x.body = await read_body(request.receive, x.length, settings.max_body_bytes)
            if 0 < len(x.body) <= settings.inline_body_bytes:
                _ = x.document  # its time is that of waiting for a thread, too
            body = await capacity.run(lambda: work(x), x.deadline, len(x.body))
        finally:
            capacity.leave()
        if x.asked is not None:
            metrics.asked_tape(kept=x.asked.kept)
            metrics.computed(x.seconds, cached=x.asked.cached)
            for direction in x.asked.nonfinite:
                metrics.nonfinite(direction)
        headers = {"server-timing": server_timing(x.seconds)}
        if body:
            headers["content-type"] = x.writer.media_type
        return Response(body, status, headers)

    @routes.post("", **documents.TAPE_OPERATIONS["create"])
    async def create(request: Request) -> Response:
        return await answered(request, answering.create, 201)

    def asks(kind: Kind) -> None:
        @routes.post(f"/{{tape}}/{kind}", **documents.TAPE_OPERATIONS[kind])
        async def ask(request: Request, tape: str) -> Response:
            return await answered(request, lambda x: answering.ask(x, tape, kind))

    for kind in documents.TAPE_KINDS:
        asks(kind)

    @routes.get("/{tape}", **documents.TAPE_OPERATIONS["show"])
    async def show(request: Request, tape: str) -> Response:
        return await answered(request, lambda x: answering.show(x, tape))

    @routes.delete("/{tape}", **documents.TAPE_OPERATIONS["remove"])
    async def remove(request: Request, tape: str) -> Response:
        return await answered(request, lambda x: answering.remove(x, tape), 204)

    return routes


def _when(seconds: float) -> str:
    """A time as RFC 3339 writes it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _shown(listed: Sequence[Listed]) -> list[dict[str, Any]]:
    """Instructions as they are told, those of a loop's body within it."""
    shown: list[dict[str, Any]] = []
    for slot, (op, args, kind, node, body) in enumerate(listed):
        told = {"slot": slot, "op": op, "args": args, "type": kind, "node": node_document(node)}
        shown.append(told | {"body": _shown(body)} if body else told)
    return shown
