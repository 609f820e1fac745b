"""``client.tapes``: tapes that the service stores."""

from __future__ import annotations

from typing import Any, Unpack

from gradwire.call import Call
from gradwire.endpoints import Program, TapeOptions
from gradwire.keywords import with_keywords
from gradwire.methods import AwaitingResource, BlockingResource, sent
from gradwire.results import Recording, recording
from gradwire.tapes import (
    AsyncStoredTape,
    AsyncTape,
    Recorded,
    StoredTape,
    Tape,
    TapeBeingMade,
    known_by,
    path_of,
    record,
)
from gradwire.trees import Variables
from gradwire.usage import public


class TapeMethods:
    """Tapes are stored under ids that cannot be guessed, until they are used or expire."""

    @sent
    def get(self, tape: str | Recorded[Any]) -> Call[Recording]:
        """The recorded instructions of a tape, and the memory of their values; as ``tape.show``.

        >>> with client.tapes.create("x**2", {"x": 3.0}) as tape:
        ...     [instruction.op for instruction in client.tapes.get(tape.id).instructions]
        ['input', 'constant', 'power']
        """
        return Call("GET", _path(tape), None, recording)

    @sent
    def delete(self, tape: str | Recorded[Any]) -> Call[None]:
        """Delete a tape now, before it expires; as ``tape.delete``.

        >>> client.tapes.delete(client.tapes.create("x**2", {"x": 3.0}))
        """
        return Call("DELETE", _path(tape), None, lambda _: None)


class Tapes(TapeMethods, BlockingResource):
    """The tapes of a ``Client``."""

    @with_keywords
    @public
    def create(
        self, program: Program, variables: Variables | None = None, **options: Unpack[TapeOptions]
    ) -> Tape:
        r"""Run a program and keep its values on the service, for derivatives later.

        It answers once, unless it is ``persistent``; an answer that is lost counts.
        Sources are the trainable variables, or none without ``watch_accessed_variables``, and what
        ``watch`` names, intermediates too.

        >>> with client.tapes.create("h = x**2\nsum(h)", {"x": [1.0, 2.0]}, watch=["h"]) as tape:
        ...     tape.gradient(sources=["x", "h"]).gradients
        [array([2., 4.]), array([1., 1.])]
        """
        tape: Tape = self.run(record(Tape, self._client, program, variables, options))
        return tape

    def open(self, tape: str) -> StoredTape:
        """A tape by its id, which another process may have made; nothing is sent.

        Answers are nested as the service nests them: mappings and lists.

        >>> tape = client.tapes.create("x**2", {"x": 3.0}, persistent=True)
        >>> client.tapes.open(tape.id).gradient().gradients
        {'x': array(6.)}
        """
        return StoredTape(tape, self._client, known_by(tape))


class AsyncTapes(TapeMethods, AwaitingResource):
    """The tapes of an ``AsyncClient``."""

    @with_keywords
    @public
    def create(
        self, program: Program, variables: Variables | None = None, **options: Unpack[TapeOptions]
    ) -> TapeBeingMade:
        """As ``Tapes.create``, to be awaited or entered.

        >>> async with client.tapes.create("x**2", {"x": 3.0}) as tape:
        ...     answer = await tape.gradient()
        """
        call = record(AsyncTape, self._client, program, variables, options)
        return TapeBeingMade(self.run(call))

    def open(self, tape: str) -> AsyncStoredTape:
        """As ``Tapes.open``; its methods are awaited."""
        return AsyncStoredTape(tape, self._client, known_by(tape))


def _path(tape: str | Recorded[Any]) -> str:
    return path_of(tape.id if isinstance(tape, Recorded) else tape)
