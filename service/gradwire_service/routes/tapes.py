"""``/v1/tapes``: programs run once, then asked for derivatives of all kinds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from fastapi import APIRouter, Request
from gradwire_engine import Query
from gradwire_engine.answer import Kind
from gradwire_engine.recording import Listed
from starlette.responses import Response
from starlette.types import Receive

from gradwire_service import documents
from gradwire_service.capacity import Capacity
from gradwire_service.library import Library
from gradwire_service.parts import Parts
from gradwire_service.problems import node_document
from gradwire_service.routes.exchange import COMPILE, PARSE, REPLAY, Reply, when
from gradwire_service.routes.resources import Desk, ResourceExchange
from gradwire_service.store import Key
from gradwire_service.tapes import Recipe, Tape, Tapes
from gradwire_service.wire import replies
from gradwire_service.wire.body import Body
from gradwire_service.wire.envelope import read_envelope, read_tape

#: Instructions that a tape is shown with; the rest are only counted.
_MOST_SHOWN = 10_000


class Asked(NamedTuple):
    """How a question was answered: from kept values, by a cached executable, with what lapses."""

    kept: bool
    cached: bool
    nonfinite: Collection[str]


class TapeExchange(ResourceExchange):
    """One request about tapes, with what there is to count once a question is answered."""

    asked: Asked | None = None

    async def receive(self, receive: Receive, capacity: Capacity) -> None:
        """Read the body; of a short one also the document, which may tell how long to wait."""
        await super().receive(receive, capacity)
        if 0 < len(self.body) <= self._settings.inline_body_bytes:
            self.fix_body()
            _ = self.document

    def fix_body(self) -> bytes:
        """The body as it is to be kept: what can be written to may be moved about when read."""
        self.body = bytes(self.body)
        return self.body

    def repeatable(self, kind: Kind) -> str:
        """What this question has in common with its repetitions; nothing, if it has no key.

        To be asked for before the body is read. Source: draft-ietf-httpapi-idempotency-key-header.
        """
        key = self._header(b"idempotency-key")
        if not key:
            return ""
        asked = sha256(b"%s %d " % (kind.encode(), len(key)) + key)
        asked.update(self.body)
        return asked.hexdigest()


class Answering:
    """What the routes do, each in a thread."""

    def __init__(self, tapes: Tapes, library: Library) -> None:
        self._tapes = tapes
        self._library = library

    def create(self, x: TapeExchange) -> list[Body]:
        """Record a program, run it, and keep both."""
        body, document = x.fix_body(), x.document
        with x.phase(PARSE):
            asked = read_tape(document, self._library.references(x))
            recording = self._tapes.recording(x.owner, asked)
        with x.phase(COMPILE):
            recording.compile(x.deadline)
            x.deadline.held_bytes = recording.peak_bytes
        with x.phase(REPLAY):
            recording.run(x.deadline)
            answer = recording.call(Query("evaluate")).replay(x.deadline)
        program = recording.program.id
        recipe = Recipe(x.format.media_type, body, asked.persistent, program)
        key, expires_at = self._tapes.add(x.owner, recipe, recording)
        x.made(f"/v1/tapes/{key.id}", new=True)
        told = replies.evaluation(program, answer)
        told |= {
            "tape": key.id,
            "watched": recording.recorded.watched,
            "expires_at": when(expires_at),
        }
        return x.written(told, asked.encoding)

    def ask(self, x: TapeExchange, token: str, kind: Kind) -> list[Body]:
        """Answer a question about what was recorded."""
        by = x.repeatable(kind)
        document = x.document
        with x.phase(PARSE):
            asked = read_envelope(document, kind, self._library.references(x), of_tape=True)
        tape = self._find(x, token, by)
        with x.phase(COMPILE):
            call = tape.recording.call(asked.query, asked.vectors)
            cached = call.compiled
            call.compile(x.deadline)
            x.deadline.held_bytes += call.peak_bytes
        with x.phase(REPLAY):
            answer = call.replay(x.deadline)
        told = replies.derivative(tape.recording.program.id, answer)
        reply = x.written(told, asked.encoding)
        self._tapes.use(tape, by)
        x.asked = Asked(tape.kept, cached, answer.nonfinite)
        return reply

    def show(self, x: TapeExchange, token: str) -> list[Body]:
        """What was recorded."""
        tape = self._find(x, token)
        recorded = tape.recording.recorded
        return x.written(
            {
                "tape": token,
                "program": tape.recording.program.id,
                "persistent": tape.recipe.persistent,
                "watched": recorded.watched,
                "expires_at": when(tape.expires_at),
                "memory_bytes": recorded.nbytes,
                "length": len(recorded.instructions),
                "instructions": _shown(recorded.listed(_MOST_SHOWN)),
            }
        )

    def remove(self, x: TapeExchange, token: str) -> list[Body]:
        """Forget a tape."""
        self._tapes.remove(Key("tapes", x.owner, token))
        return []

    def _find(self, x: TapeExchange, token: str, by: str = "") -> Tape:
        with x.phase(COMPILE):
            tape = self._tapes.find(Key("tapes", x.owner, token), by)
            tape.recording.compile(x.deadline)
            x.deadline.held_bytes = tape.recording.peak_bytes
        if not tape.kept:
            with x.phase(REPLAY):
                tape.recording.run(x.deadline)
            self._tapes.keep(tape.key, tape.recipe, tape.recording)
        return tape


def router(parts: Parts) -> APIRouter:
    """The routes of tapes."""
    routes = APIRouter(prefix="/v1/tapes", tags=["tapes"])
    engines, store, library, capacity, metrics, settings, _ = parts
    tapes = Tapes(engines, store, library, settings.tape_values_bytes)
    answering = Answering(tapes, library)
    desk = Desk(capacity, settings)

    async def answered(
        request: Request, work: Callable[[TapeExchange], list[Body]], status: int = 200
    ) -> Reply:
        x = TapeExchange(request.scope, settings)
        x.status = status
        reply = await desk.answer(x, request, work)
        if x.asked is not None:
            metrics.asked_tape(kept=x.asked.kept)
            metrics.computed(x.seconds, cached=x.asked.cached)
            metrics.nonfinite(x.asked.nonfinite)
        return reply

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


def _shown(listed: Sequence[Listed]) -> list[dict[str, Any]]:
    """Instructions as they are told, those of a loop's body within it."""
    shown: list[dict[str, Any]] = []
    for slot, (op, args, kind, node, body) in enumerate(listed):
        told = {"slot": slot, "op": op, "args": args, "type": kind, "node": node_document(node)}
        shown.append(told | {"body": _shown(body)} if body else told)
    return shown
