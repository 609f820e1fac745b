"""What compiling gives: an executable, and the structures that its outputs fill."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

import numpy as np

from gradwire_engine.answer import Answer, Limits, Notice, Poll, Unconnected
from gradwire_engine.backends.base import Backend, Executable
from gradwire_engine.backends.staged import StagedExecutable
from gradwire_engine.locks import locked
from gradwire_engine.ops.composites import Composite
from gradwire_engine.ops.constants import Copy, Guard
from gradwire_engine.optimize.residents import parted
from gradwire_engine.optimize.resume import Known
from gradwire_engine.optimize.simplify import optimize
from gradwire_engine.polling import polled
from gradwire_engine.tape import Tape

#: What an instruction of a tape takes that is only kept.
_BYTES_PER_INSTRUCTION = 300
#: Sets of residents for which a tape is kept in two parts.
_MOST_PARTED = 8


@dataclass(frozen=True, slots=True)
class Summed:
    """Slices of one index are to be added up: the parts as variables, then as outputs' numbers.

    How many that leaves depends on values, which no shape on a tape does.
    """

    parts: Mapping[str, Any]

    def fill(self, outputs: Sequence[Any]) -> dict[str, Any]:
        """The arrays, each index once, in rising order."""
        found = {name: outputs[number] for name, number in self.parts.items()}
        indices, places = np.unique(found["indices"], return_inverse=True)
        totals = np.zeros((indices.size, *found["values"].shape[1:]), found["values"].dtype)
        np.add.at(totals, places.ravel(), found["values"])
        return {**found, "indices": indices[:, None], "values": totals}


class Template:
    """A nested structure whose integer leaves number outputs; None leaves stay None."""

    def __init__(self, nested: Any) -> None:
        #: From outputs to the structure with arrays for numbers.
        self.fill = _filler(nested)


def _filler(nested: Any) -> Callable[[Sequence[Any]], Any]:
    """What fills a structure, whose nesting is looked at beforehand, not at every replay."""
    if nested is None:
        return lambda outputs: None
    if isinstance(nested, int):
        return itemgetter(nested)
    if isinstance(nested, Summed):
        return nested.fill
    if isinstance(nested, Composite):
        values = _filler(nested["values"])
        return lambda outputs: nested.of(values=values(outputs))
    if isinstance(nested, dict):
        items = [(key, _filler(item)) for key, item in nested.items()]
        return lambda outputs: {key: fill(outputs) for key, fill in items}
    kind = type(nested)
    if kind is list and len(nested) > 1 and all(type(item) is int for item in nested):
        pick = itemgetter(*nested)
        return lambda outputs: [*pick(outputs)]
    parts = [_filler(item) for item in nested]
    if kind is list and len(parts) == 1:
        (only,) = parts
        return lambda outputs: [only(outputs)]
    return lambda outputs: kind([fill(outputs) for fill in parts])


@dataclass(frozen=True, slots=True)
class Compiled:
    """An executable with what turns its outputs into an answer."""

    executable: Executable
    backend: Backend
    value: Template
    outputs: Template | None
    derivatives: Mapping[str, Template]
    updates: Mapping[str, int]
    unconnected: Mapping[str, Unconnected]
    warnings: Sequence[Notice]
    #: What was recorded, before any of it was made cheaper.
    plain: Tape
    #: Of many examples at once: the output that tells which of them decide as recorded.
    decided: int | None = None
    #: Of what resumes a recording: the values of it that follow the inputs.
    known: Sequence[Known] = ()
    #: What its parts are allowed; none where it is not to be parted.
    limits: Limits | None = None
    #: Whether expressions of one structure were put together: ``plain`` does not tell them apart.
    rolled: bool = False
    #: The same in two parts, by the residents that the first depends on; None where that is no use.
    parted: dict[frozenset[int], StagedExecutable | None] = field(default_factory=dict)
    _exact: list[Compiled] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def nbytes(self) -> int:
        """Approximate memory that all of it takes."""
        plain = _BYTES_PER_INSTRUCTION * len(self.plain.instructions)
        parts = sum([both.nbytes for both in [*self.parted.values()] if both is not None])
        exact = sum([made.nbytes for made in self._exact]) if self.rolled else plain
        return self.executable.nbytes + parts + plain + exact

    def answer(self, outputs: Sequence[Any]) -> Answer:
        """What the executable gave as an answer."""
        derivatives = {}
        for name, nested in self.derivatives.items():  # in less time than a comprehension
            derivatives[name] = nested.fill(outputs)
        updates = {path: outputs[n] for path, n in self.updates.items()} if self.updates else {}
        value, further = self.value.fill(outputs), self.outputs and self.outputs.fill(outputs)
        return Answer(value, further, derivatives, self.unconnected, updates, self.warnings, {})

    def knows(self, residents: frozenset[int]) -> bool:
        """Whether nothing is to be compiled where these residents came before."""
        return self.limits is None or not residents or residents in self.parted

    def part(self, residents: frozenset[int], poll: Poll) -> None:
        """Part it for ``residents``, of which products are then taken to cost nothing."""
        with locked(self._lock, poll):
            if self.limits is None or self.knows(residents):
                return
            limits, exact = self.limits, self.executable.exact
            tape = self.executable.tape
            if not exact:
                tape = optimize(self.plain, self.backend, poll, residents=residents)
            parts, both = parted(tape, residents, limits.kept_bytes, poll), None
            if parts is not None:
                prelude, remainder = (
                    self.backend.compile(part, poll, exact=exact, threads=limits.threads)
                    for part in parts[:2]
                )
                both = StagedExecutable(self.executable, prelude, remainder, parts[2])
            if len(self.parted) == _MOST_PARTED:
                del self.parted[next(iter(self.parted))]
            self.parted[residents] = both if both is not None and both.within(limits) else None

    def exactly(self, poll: Poll, record: Callable[[], Compiled]) -> Compiled:
        """The same by the operations as the program names them, made when it is first asked for.

        ``record`` records the program anew, where expressions were put together.
        """
        if not self._exact:
            if self.rolled:
                made = replace(record(), limits=None)
            else:
                tape = optimize(self.plain, self.backend, poll, exact=True)
                made = self._by(self.backend.compile(tape, poll, exact=True))
            self._exact.append(made)
        return self._exact[0]

    def unguarded(self, poll: Poll) -> Compiled:
        """The same without guards: for the very values it was recorded with."""
        tape, exact = self.executable.tape, self.executable.exact
        made = polled(tape.instructions, poll)
        bare = [i._replace(op=Copy()) if isinstance(i.op, Guard) else i for i in made]
        unguarded = replace(tape, instructions=tuple(bare))
        return self._by(self.backend.compile(unguarded, poll, exact=exact))

    def _by(self, executable: Executable) -> Compiled:
        """The same by another executable, which is not parted."""
        return replace(self, executable=executable, limits=None, parted={}, _exact=[])
