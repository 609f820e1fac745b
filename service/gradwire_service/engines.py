"""The engine of each owner: shared, or with API keys one per tenant."""

from __future__ import annotations

from gradwire_engine import Engine
from gradwire_engine.answer import Limits
from gradwire_engine.backends.base import Backend
from gradwire_engine.memory import limit_buffers
from gradwire_engine.shared_budget import SharedBudget

from gradwire_service.settings import Settings


class Engines:
    """The engine; ``isolated``, each owner has separate caches of parsed and compiled programs.

    Then the duration of a first call does not reveal which programs others use, and owners do not
    share batches. Only for as few owners as there are tenants: each keeps a little memory for ever.
    """

    def __init__(self, engine: Engine, *, isolated: bool = False) -> None:
        self._engine = engine
        #: Whether owners are tenants with separate caches.
        self.isolated = isolated

    @property
    def limits(self) -> Limits:
        return self._engine.limits

    @property
    def budget(self) -> SharedBudget:
        """The memory that all their caches may take."""
        return self._engine.budget

    def of(self, owner: str) -> Engine:
        """The engine of an owner."""
        return self._engine.apart(owner) if self.isolated else self._engine


def open_engines(settings: Settings, *, isolated: bool, backend: Backend | None = None) -> Engines:
    """Create the engines with the limits in the settings; that of buffers is the process's.

    They compute with ``backend``, by default with NumPy.
    """
    limit_buffers(settings.buffer_bytes)
    limits = Limits(
        array_bytes=settings.max_array_bytes,
        total_bytes=settings.max_total_bytes,
        answer_bytes=settings.max_answer_bytes,
        instructions=settings.max_instructions,
        flops=settings.max_flops,
        threads=settings.block_threads,
    )
    engine = Engine(limits=limits, cache_bytes=settings.cache_bytes, backend=backend)
    return Engines(engine, isolated=isolated)
