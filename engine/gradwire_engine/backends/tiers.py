"""Replays of a recorded path, from the first to the hundredth: all tiers and their state.

A path has several tapes, of which ``Tiers`` keeps the executables:

- *optimised*, by which every replay begins
- *staged* instead, where residents recur: what depends on these alone is computed once
- *exact*, where an answer is not finite, or fails: the operations as the program names them
- *unguarded*, where a guard fails for the very values that it was recorded for
"""

from __future__ import annotations

import threading
from dataclasses import replace

from gradwire_engine.answer import Limits, Poll
from gradwire_engine.backends.base import Backend, Executable
from gradwire_engine.backends.staged import StagedExecutable, staged
from gradwire_engine.locks import locked
from gradwire_engine.ops.constants import Copy, Guard
from gradwire_engine.optimize.simplify import optimize
from gradwire_engine.polling import polled
from gradwire_engine.tape import Tape

#: Bytes of an instruction of a tape that is only kept.
_BYTES_PER_INSTRUCTION = 300
#: Sets of residents for which a path is staged.
_MOST_STAGED = 8


class Tiers:
    """The executables of one recorded path: each but the first is made when it is needed."""

    def __init__(
        self,
        executable: Executable,
        plain: Tape,
        backend: Backend,
        limits: Limits | None = None,
    ) -> None:
        #: The optimised one.
        self.executable = executable
        #: By the residents that the first stage depends on; None where that is no use.
        self.staged: dict[frozenset[int], StagedExecutable | None] = {}
        self._exact = executable if executable.exact else None
        #: The tape as it was recorded, before any of it was made cheaper.
        self._plain = plain
        self._backend = backend
        #: The limits of its stages; none where it is not to be staged.
        self._limits = limits
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """Approximate memory that all of them take."""
        plain = _BYTES_PER_INSTRUCTION * len(self._plain.instructions)
        stages = sum([both.nbytes for both in [*self.staged.values()] if both is not None])
        return self.executable.nbytes + stages + 2 * plain  # one is made exact

    def knows(self, residents: frozenset[int]) -> bool:
        """True if nothing is to be compiled where these residents came before."""
        return self._limits is None or not residents or residents in self.staged

    def stage(self, residents: frozenset[int], poll: Poll) -> None:
        """Stage the path for ``residents``, of which products are then taken to cost nothing."""
        with locked(self._lock, poll):
            if self._limits is None or self.knows(residents):
                return
            whole, backend = self.executable, self._backend
            tape = whole.tape
            if not whole.exact:
                tape = optimize(self._plain, backend, poll, residents=residents)
            both = staged(backend, whole, residents, self._limits, poll, tape)
            if len(self.staged) == _MOST_STAGED:
                del self.staged[next(iter(self.staged))]
            self.staged[residents] = both

    def exact(self, poll: Poll) -> Executable:
        """By the operations as the program names them."""
        with locked(self._lock, poll):
            if self._exact is None:
                tape = optimize(self._plain, self._backend, poll, exact=True)
                self._exact = self._backend.compile(tape, poll, exact=True)
            return self._exact

    def unguarded(self, poll: Poll) -> Executable:
        """Without guards: for the very values that the path was recorded with."""
        tape, exact = self.executable.tape, self.executable.exact
        made = polled(tape.instructions, poll)
        bare = [i._replace(op=Copy()) if isinstance(i.op, Guard) else i for i in made]
        return self._backend.compile(replace(tape, instructions=tuple(bare)), poll, exact=exact)
