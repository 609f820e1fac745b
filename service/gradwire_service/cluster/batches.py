"""Long queries about many examples, whose pieces workers answer side by side."""

from __future__ import annotations

from typing import Any, NamedTuple
from uuid import uuid4

from gradwire_engine import Program
from gradwire_engine.answer import Answer, Limits, Poll, Query
from gradwire_engine.queries import Call
from gradwire_engine.queries.batch import BatchCall
from gradwire_engine.queries.stacking import merged

from gradwire_service.cluster.connection import ClusterConnection
from gradwire_service.cluster.parts import VERSION, check_version, engine_of, poll_of_task
from gradwire_service.cluster.reporting import reported

#: Shorter ones are answered sooner here: workers have other programs compiled.
LEAST_SECONDS = 2.0
#: Inputs and answers go through the scheduler at about this rate.
_BYTES_PER_SECOND = 100e6
#: So many pieces for each thread even out how fast the workers are.
_PIECES_PER_THREAD = 2


class Asked(NamedTuple):
    """The program, query and limits that all pieces have in common."""

    program: Program
    query: Query
    limits: Limits
    #: The tenant of the program, where tenants are isolated.
    owner: str | None
    version: str = VERSION


def is_divided(call: Call) -> bool:
    """True if dividing a compiled query saves time: it takes long, and moves little."""
    if not isinstance(call, BatchCall) or call.query.kind == "check":
        return False
    moved_seconds = (call.input_bytes + call.answer_bytes) / _BYTES_PER_SECOND
    return call.seconds >= LEAST_SECONDS and 2 * moved_seconds <= call.seconds


def answered(
    connection: ClusterConnection, call: Call, limits: Limits, owner: str | None, poll: Poll
) -> Answer:
    """The answer to a query that is divided.

    Raises: ``RequestError`` (cluster_unavailable, worker_crashed); ``RemoteError``; errors of the
    engine, where answers of examples differ in structure.
    """
    from dask import delayed

    assert isinstance(call, BatchCall)
    client = connection.client(poll)
    count = connection.capacity(client, poll).threads * _PIECES_PER_THREAD
    query, pieces = call.divided(count)
    run = uuid4().hex
    asked = delayed(
        Asked(call.program, query, limits, owner), f"gradwire-query-{run}", traverse=False
    )
    answer = delayed(answer_piece, traverse=False)
    tasks = [
        answer(
            asked,
            delayed(piece.variables, f"gradwire-variables-{run}-{number}", traverse=False),
            delayed(piece.vectors, f"gradwire-vectors-{run}-{number}", traverse=False),
            dask_key_name=f"gradwire-answer-{run}-{number}",
        )
        for number, piece in enumerate(pieces)
    ]
    answers = connection.compute(client, delayed(list)(tasks), poll)
    return merged([(piece.took, one) for piece, one in zip(pieces, answers, strict=True)])


@reported
def answer_piece(asked: Asked, variables: dict[str, Any], vectors: Any) -> Answer:
    """The answer of some examples. Runs on a worker.

    Raises: ``RemoteError``, ``Abandoned``.
    """
    check_version(asked.version)
    engine = engine_of(asked.limits, asked.owner)
    return engine.call(asked.program, variables, asked.query, vectors).replay(poll_of_task())
