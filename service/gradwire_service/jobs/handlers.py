"""Shows jobs, and the answers that they have left."""

from __future__ import annotations

from functools import partial
from typing import Any

import orjson

from gradwire_service.jobs import Job, Jobs, StoredJob, Unknown
from gradwire_service.store import Key, Store
from gradwire_service.tasks.pages import page
from gradwire_service.tasks.request import Request, rfc3339
from gradwire_service.wire.arrays_in import dtype_named, raw_array
from gradwire_service.wire.codec import DOCUMENTS
from gradwire_service.wire.digests import digest_of
from gradwire_service.wire.peek import waiting_of
from gradwire_service.wire.shared import Body


class JobHandlers:
    """Handlers of tasks on jobs."""

    def __init__(self, store: Store) -> None:
        self._jobs = Jobs(store)

    def show(self, request: Request, id: str) -> list[Body]:
        """Show a job, with its result if it has one."""
        stored = self._jobs.find(Key("jobs", request.owner, id))
        result = self._answer(stored) if stored.job.state == "succeeded" else None
        return request.encode(document_of(stored) | {"result": result})

    def answer(self, request: Request, id: str) -> list[Body]:
        """The answer of a job that has succeeded, as its own request would have got it."""
        return request.encode(self._answer(self._jobs.find(Key("jobs", request.owner, id))))

    def all(self, request: Request, after: str, limit: str) -> list[Body]:
        """List a page of the owner's jobs, without results."""
        first = partial(self._jobs.listed, request.owner, after)
        return request.encode(page("jobs", limit, first, document_of))

    def digest(self, request: Request, kind: str) -> list[Body]:
        """The digest of a request for an optimisation of a ``kind``.

        Raises: ``RequestError`` (malformed_body, body_too_large) for what cannot be decompressed.
        """
        body, form = request.plain_body, request.format
        return [digest_of(kind, form.reply_type.decode(), form.reader, body).encode()]

    def waiting(self, request: Request, _: str) -> list[Body]:
        """The fields ``background`` and ``wait_ms`` of a request for an optimisation, as JSON.

        Raises: ``RequestError`` (malformed_body, body_too_large) for what cannot be decompressed.
        """
        return [orjson.dumps(waiting_of(request.plain_body, request.format.reader))]

    def _answer(self, stored: StoredJob) -> Any:
        """The document of an answer, to be written in any format.

        Raises: ``Unknown``.
        """
        part = self._jobs.find_part(stored.key, "answer")
        if part is None:  # it is being deleted
            raise Unknown
        return _with_arrays(DOCUMENTS.reads[part.head].read(part.content))


def document_of(stored: StoredJob) -> dict[str, Any]:
    """The document of a job, without its result."""
    job: Job = stored.job
    return {
        "id": stored.key.id,
        "kind": job.kind,
        "state": job.state,
        "created_at": rfc3339(job.created_at),
        "started_at": None if job.started_at is None else rfc3339(job.started_at),
        "finished_at": None if job.finished_at is None else rfc3339(job.finished_at),
        "expires_at": rfc3339(stored.expires_at),
        "resumed": job.resumed,
        "progress": job.progress,
        "problem": job.problem,
    }


def _with_arrays(document: Any) -> Any:
    """A document that was read from MessagePack, with arrays where it has their bytes."""
    if isinstance(document, list):
        return [_with_arrays(item) for item in document]
    if not isinstance(document, dict):
        return document
    if isinstance(document.get("data"), bytes | memoryview):
        dtype = dtype_named(document["dtype"])
        assert dtype is not None
        return raw_array(document["data"], "data", dtype, document["shape"])
    return {name: _with_arrays(item) for name, item in document.items()}
