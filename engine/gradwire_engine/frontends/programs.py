"""Programs that are kept between requests, by their text."""

from __future__ import annotations

from collections import OrderedDict

from gradwire_engine.answer import Poll
from gradwire_engine.frontends.text import parse_text
from gradwire_engine.gc_pause import gc_paused
from gradwire_engine.program import Program
from gradwire_engine.shared_budget import BudgetShare, SharedBudget

#: Bytes of a program beside its text, and for each of its nodes.
_PROGRAM_BYTES, _NODE_BYTES = 1500, 240


class Programs(BudgetShare):
    """Programs by their source text, in a shared budget of bytes; the oldest is dropped first."""

    def __init__(self, budget: SharedBudget) -> None:
        super().__init__(budget)
        self._programs: OrderedDict[str, Program] = OrderedDict()

    def __len__(self) -> int:
        return len(self._programs)

    def __contains__(self, text: str) -> bool:
        return text in self._programs

    def drop_oldest(self) -> int:
        return _counted(*self._programs.popitem(last=False))

    def find(self, text: str, poll: Poll) -> Program:
        """The program of ``text``, parsed where it is new."""
        program = self._programs.get(text)
        if program is None:
            with gc_paused:
                program = parse_text(text, poll)
            with self.budget.lock:
                if text not in self._programs:
                    self._programs[text] = program
                    self.take(_counted(text, program))
        return program


def _counted(text: str, program: Program) -> int:
    return _PROGRAM_BYTES + len(text) + _NODE_BYTES * len(program.positions)
