"""Tapes: programs run once, then asked for derivatives of all kinds."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from gradwire_engine import Query
from gradwire_engine.answer import Kind
from gradwire_engine.recording import Listed

from gradwire_service.problems import node_document
from gradwire_service.references import ReferenceResolver
from gradwire_service.store import Key
from gradwire_service.tapes import Recipe, Tape, Tapes
from gradwire_service.wire import replies
from gradwire_service.wire.envelope import read_envelope, read_tape
from gradwire_service.wire.shared import Body
from gradwire_service.work.request import COMPILE, PARSE, REPLAY, Request, rfc3339

#: Instructions that a tape is shown with; the rest are only counted.
_MOST_SHOWN = 10_000


class TapeHandlers:
    """What is done about tapes."""

    def __init__(self, tapes: Tapes, resolver: ReferenceResolver) -> None:
        self._tapes = tapes
        self._resolver = resolver

    def create(self, request: Request) -> list[Body]:
        """Record a program, run it, and keep both."""
        # As it is kept: what can be written to may be moved about when it is read.
        body = request.body = bytes(request.plain_body)
        document = request.document
        with request.phase(PARSE):
            asked = read_tape(document, self._resolver.references(request))
            recording = self._tapes.recording(request.owner, asked)
        with request.phase(COMPILE):
            recording.compile(request.deadline)
        with request.phase(REPLAY):
            recording.run(request.deadline)
            answer = recording.call(Query("evaluate")).replay(request.deadline)
        program = recording.program.id
        recipe = Recipe(request.format.media_type, body, asked.persistent, program)
        key, expires_at = self._tapes.add(request.owner, recipe, recording)
        request.set_location(f"/v1/tapes/{key.id}", new=True)
        request.outcome.home = key.id
        told = replies.evaluation(program, answer)
        told |= {
            "tape": key.id,
            "watched": recording.recorded.watched,
            "expires_at": rfc3339(expires_at),
        }
        return request.encode(told, asked.encoding)

    def ask(self, request: Request, token: str, kind: Kind) -> list[Body]:
        """Answer a question about what was recorded."""
        by = _repeatable(request, kind)
        document = request.document
        with request.phase(PARSE):
            asked = read_envelope(document, kind, self._resolver.references(request), of_tape=True)
        tape = self._find(request, token, by)
        with request.phase(COMPILE):
            call = tape.recording.call(asked.query, asked.vectors)
            cached = call.compiled
            call.compile(request.deadline)
        with request.phase(REPLAY):
            answer = call.replay(request.deadline)
        told = replies.derivative(tape.recording.program.id, answer)
        reply = request.encode(told, asked.encoding)
        self._tapes.use(tape, by)
        outcome = request.outcome
        outcome.kept, outcome.cached = tape.kept, cached
        outcome.nonfinite = tuple(answer.nonfinite)
        return reply

    def show(self, request: Request, token: str) -> list[Body]:
        """What was recorded."""
        tape = self._find(request, token)
        recorded = tape.recording.recorded
        return request.encode(
            {
                "tape": token,
                "program": tape.recording.program.id,
                "persistent": tape.recipe.persistent,
                "watched": recorded.watched,
                "expires_at": rfc3339(tape.expires_at),
                "memory_bytes": recorded.nbytes,
                "length": len(recorded.instructions),
                "instructions": _shown(recorded.listed(_MOST_SHOWN)),
            }
        )

    def remove(self, request: Request, token: str) -> list[Body]:
        """Forget a tape."""
        self._tapes.remove(Key("tapes", request.owner, token))
        request.outcome.status = 204
        return []

    def _find(self, request: Request, token: str, by: str = "") -> Tape:
        with request.phase(COMPILE):
            tape = self._tapes.find(Key("tapes", request.owner, token), by)
            tape.recording.compile(request.deadline)
        if not tape.kept:
            with request.phase(REPLAY):
                tape.recording.run(request.deadline)
            self._tapes.keep(tape.key, tape.recipe, tape.recording)
        return tape


def _repeatable(request: Request, kind: Kind) -> str:
    """What a question has in common with its repetitions; nothing, if it has no key.

    To be asked for before the body is read. Source: draft-ietf-httpapi-idempotency-key-header.
    """
    key = request.headers.get(b"idempotency-key")
    if not key:
        return ""
    asked = sha256(b"%s %d " % (kind.encode(), len(key)) + key)
    asked.update(request.plain_body)
    return asked.hexdigest()


def _shown(listed: Sequence[Listed]) -> list[dict[str, Any]]:
    """Instructions as they are told, those of a loop's body within it."""
    shown: list[dict[str, Any]] = []
    for slot, (op, args, kind, node, body) in enumerate(listed):
        told = {"slot": slot, "op": op, "args": args, "type": kind, "node": node_document(node)}
        shown.append(told | {"body": _shown(body)} if body else told)
    return shown
