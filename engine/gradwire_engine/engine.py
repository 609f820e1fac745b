"""The engine's front door: parse programs, answer queries, keep what was compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradwire_engine.answer import Limits, Query
from gradwire_engine.batched_call import BatchedCall
from gradwire_engine.cache import Cache, Programs
from gradwire_engine.call import Call
from gradwire_engine.collection import collection_held
from gradwire_engine.frontends.graph import parse_graph
from gradwire_engine.program import Program
from gradwire_engine.recording import Recording, Watching


class Engine:
    """Answers queries about programs. Thread-safe; one compilation per key at a time."""

    def __init__(self, limits: Limits | None = None, cache_bytes: int = 256 << 20) -> None:
        self.limits = limits or Limits()
        self._cache = Cache(cache_bytes)
        self._programs = Programs()

    def parse(self, source: str | Mapping[str, Any] | Program) -> Program:
        """The program that source text or a graph denotes; texts seen before are remembered.

        What is a program already is given back.
        """
        if isinstance(source, Program):
            return source
        if not isinstance(source, str):
            with collection_held:
                return parse_graph(source)
        return self._programs.find(source)

    def call(
        self, program: Program, variables: Mapping[str, Any], query: Query, vectors: Any = None
    ) -> Call:
        """``query`` about ``program`` at ``variables``, neither compiled nor run yet.

        ``vectors`` are what derivatives are multiplied by: the target's output gradients in its
        structure, None for ones, or tangents in that of the sources.
        """
        kind = BatchedCall if query.batch else Call
        return kind(self._cache, self.limits, program, variables, query, vectors)

    def recording(
        self,
        program: Program,
        variables: Mapping[str, Any],
        *,
        watch: Sequence[str] = (),
        watch_accessed: bool = True,
        promotion: str = "numpy",
        exact: bool = False,
    ) -> Recording:
        """``program`` to be run at ``variables`` and asked about later, neither compiled nor run.

        Watched are the trainable variables, unless ``watch_accessed`` is false, and the variables
        and intermediates that ``watch`` names. Only what is watched, or computed from it, is a
        source. It is ``exact`` as a query is, and so are all answers about it.
        """
        watching = Watching(tuple(watch), watch_accessed)
        given = self._cache, self.limits, program, variables, promotion, watching
        return Recording(*given, exact=exact)
