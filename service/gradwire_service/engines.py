"""Whose engine answers: all owners', or with keys each tenant's own."""

from __future__ import annotations

from gradwire_engine import Engine
from gradwire_engine.answer import Limits

from gradwire_service.settings import Settings


class Engines:
    """The engine; ``isolated``, it keeps for each owner isolated what it parsed and compiled.

    Then the time of a first call tells nobody which programs others use, nor do calls of several
    owners share a replay. Only where owners are as few as tenants: each keeps a little for ever.
    """

    def __init__(self, engine: Engine, *, isolated: bool = False) -> None:
        self._engine = engine
        #: Whether there are several, so that owners are tenants.
        self.isolated = isolated

    @property
    def limits(self) -> Limits:
        return self._engine.limits

    def of(self, owner: str) -> Engine:
        """The engine that answers this owner."""
        return self._engine.apart(owner) if self.isolated else self._engine


def open_engines(settings: Settings, *, isolated: bool) -> Engines:
    """The engines within the settings' budgets."""
    limits = Limits(
        array_bytes=settings.max_array_bytes,
        total_bytes=settings.max_total_bytes,
        answer_bytes=settings.max_answer_bytes,
        instructions=settings.max_instructions,
        flops=settings.max_flops,
        threads=settings.block_threads,
    )
    return Engines(Engine(limits=limits, cache_bytes=settings.cache_bytes), isolated=isolated)
