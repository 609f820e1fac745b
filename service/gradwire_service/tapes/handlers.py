"""Tapes: programs recorded once, then differentiated by any number of queries."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from gradwire_engine import Query
from gradwire_engine.answer import Kind
from gradwire_engine.compile.recorded import Listed

from gradwire_service.problems import node_document
from gradwire_service.references import ReferenceResolver
from gradwire_service.store import Key
from gradwire_service.tapes.stored import Recipe, Tape, Tapes
from gradwire_service.tasks.request import COMPILE, PARSE, REPLAY, Request, rfc3339
from gradwire_service.wire import replies
from gradwire_service.wire.envelope import read_envelope, read_tape
from gradwire_service.wire.shared import Body

#: Maximum instructions shown of a tape.
_MOST_SHOWN = 10_000


class TapeHandlers:
    """Handlers of tasks on tapes."""

    def __init__(self, tapes: Tapes, resolver: ReferenceResolver) -> None:
        self._tapes = tapes
        self._resolver = resolver

    def create(self, request: Request) -> list[Body]:
        """Record a program, run it, and store the tape."""
        # An immutable copy, which is stored: reading a writable body may move its bytes.
        body = request.body = bytes(request.plain_body)
        document = request.document
        with request.phase(PARSE):
            envelope = read_tape(document, self._resolver.references(request))
            recording = self._tapes.recording(request.owner, envelope)
        with request.phase(COMPILE):
            recording.compile(request.deadline)
        with request.phase(REPLAY):
            recording.run(request.deadline)
            answer = recording.call(Query("evaluate")).replay(request.deadline)
        program = recording.program.id
        recipe = Recipe(request.format.media_type, body, envelope.persistent, program)
        key, expires_at = self._tapes.add(request.owner, recipe, recording)
        request.set_location(f"/v1/tapes/{key.id}", new=True)
        request.outcome.home = key.id
        response = replies.evaluation(program, answer)
        response |= {
            "tape": key.id,
            "watched": recording.recorded.watched,
            "expires_at": rfc3339(expires_at),
        }
        return request.encode(response, envelope.encoding)

    def ask(self, request: Request, token: str, kind: Kind) -> list[Body]:
        """Answer a query of a tape."""
        by = _fingerprint(request, kind)
        document = request.document
        with request.phase(PARSE):
            envelope = read_envelope(
                document, kind, self._resolver.references(request), of_tape=True
            )
        tape = self._find(request, token, by)
        with request.phase(COMPILE):
            call = tape.recording.call(envelope.query, envelope.vectors)
            cached = call.compiled
            call.compile(request.deadline)
        with request.phase(REPLAY):
            answer = call.replay(request.deadline)
        response = replies.derivative(tape.recording.program.id, answer)
        reply = request.encode(response, envelope.encoding)
        self._tapes.use(tape, by)
        outcome = request.outcome
        outcome.kept, outcome.cached = tape.kept, cached
        outcome.nonfinite = tuple(answer.nonfinite)
        return reply

    def show(self, request: Request, token: str) -> list[Body]:
        """Show a tape."""
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
        """Delete a tape."""
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


def _fingerprint(request: Request, kind: Kind) -> str:
    """The fingerprint of a query with an idempotency key, else an empty string.

    Call it before the body is parsed. Source: draft-ietf-httpapi-idempotency-key-header.
    """
    key = request.headers.get(b"idempotency-key")
    if not key:
        return ""
    fingerprint = sha256(b"%s %d " % (kind.encode(), len(key)) + key)
    fingerprint.update(request.plain_body)
    return fingerprint.hexdigest()


def _shown(listed: Sequence[Listed]) -> list[dict[str, Any]]:
    """The documents of instructions, with loop bodies nested."""
    shown: list[dict[str, Any]] = []
    for slot, (op, args, kind, node, body) in enumerate(listed):
        instruction = {
            "slot": slot,
            "op": op,
            "args": args,
            "type": kind,
            "node": node_document(node),
        }
        shown.append(instruction | {"body": _shown(body)} if body else instruction)
    return shown
