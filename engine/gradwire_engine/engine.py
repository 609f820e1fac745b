"""The engine's front door: parse programs, answer queries, keep what was compiled."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

from gradwire_engine.answer import Limits, Poll, Promotion, Query
from gradwire_engine.backends.base import Backend
from gradwire_engine.backends.reference.backend import REFERENCE
from gradwire_engine.backends.walk.backend import NUMPY_BACKEND
from gradwire_engine.compile.names import Watching
from gradwire_engine.frontends.graph import parse_graph
from gradwire_engine.frontends.programs import Programs
from gradwire_engine.gc_pause import gc_paused
from gradwire_engine.polling import no_deadline
from gradwire_engine.program import Program
from gradwire_engine.queries import Call, Recording
from gradwire_engine.queries.batch import ask
from gradwire_engine.queries.cache import Cache
from gradwire_engine.queries.call import Context
from gradwire_engine.shared_budget import SharedBudget

#: The backends, by name.
BACKENDS: Mapping[str, Backend] = {backend.name: backend for backend in (NUMPY_BACKEND, REFERENCE)}


class Engine:
    """Answers queries about programs. Thread-safe; one compilation per key at a time."""

    #: The default backend.
    backend: ClassVar[Backend] = BACKENDS["numpy"]

    def __init__(
        self,
        limits: Limits | None = None,
        cache_bytes: int = 256 << 20,
        backend: Backend | None = None,
    ) -> None:
        limits = limits or Limits()
        self.limits = replace(limits, kept_bytes=min(limits.kept_bytes, cache_bytes // 2))
        budget = SharedBudget(cache_bytes)
        self._context = Context(Cache(budget), self.limits, (backend or self.backend).apart())
        self._programs = Programs(budget)
        self._lock = threading.Lock()
        self._apart: dict[str, Self] = {}

    @property
    def budget(self) -> SharedBudget:
        """The memory that all caches may take, for others to share."""
        return self._context.cache.budget

    def apart(self, whose: str) -> Self:
        """An engine like this one that keeps apart what it parsed and compiled, in the same budget.

        So the time of its answers reveals nothing of what others asked, nor does it lose anything
        to one who has more. Each is kept as long as this one is.
        """
        engine = self._apart.get(whose)
        if engine is None:
            with self._lock:
                engine = self._apart.get(whose)
                if engine is None:
                    engine = copy(self)
                    cache = Cache(self._context.cache.budget)
                    backend = self._context.backend.apart(whose)
                    engine._context = Context(cache, self.limits, backend)
                    engine._programs = Programs(self._programs.budget)
                    self._apart[whose] = engine
        return engine

    def parse(self, source: str | Mapping[str, Any] | Program, poll: Poll = no_deadline) -> Program:
        """The program that source text or a graph denotes; texts seen before are remembered.

        What is a program already is given back. ``poll`` is called while it is read.
        """
        if isinstance(source, Program):
            return source
        if not isinstance(source, str):
            with gc_paused:
                program = parse_graph(source, poll)
        else:
            program = self._programs.find(source, poll)
        program.identified(poll)
        return program

    def remembers(self, text: str) -> bool:
        """True if a program of this text need not be parsed again."""
        return text in self._programs

    def call(
        self, program: Program, variables: Mapping[str, Any], query: Query, vectors: Any = None
    ) -> Call:
        """``query`` about ``program`` at ``variables``, neither compiled nor run yet.

        ``vectors`` are what derivatives are multiplied by: the target's output gradients in its
        structure, None for ones, or tangents in that of the sources.
        """
        return ask(self._context, program, variables, query, vectors)

    def recording(
        self,
        program: Program,
        variables: Mapping[str, Any],
        *,
        watch: Sequence[str] = (),
        watch_accessed: bool = True,
        promotion: Promotion = "numpy",
        exact: bool = False,
    ) -> Recording:
        """``program`` to be run at ``variables`` and asked about later, neither compiled nor run.

        Watched are the trainable variables, unless ``watch_accessed`` is false, and the variables
        and intermediates that ``watch`` names. Only what is watched, or computed from it, is a
        source. It is ``exact`` as a query is, and so are all answers about it.
        """
        watching = Watching(tuple(watch), watch_accessed)
        query = Query("evaluate", promotion=promotion, exact=exact)
        return Recording(self._context, program, variables, watching, query)
