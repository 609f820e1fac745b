"""Computations that are too long for the event loop: in a thread, or in a process."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from weakref import WeakKeyDictionary, WeakSet

from gradwire_engine.answer import Kind
from gradwire_engine.cache import Entry

from gradwire_service.access.keyring import Caller
from gradwire_service.parts import Parts
from gradwire_service.processes import Asked, Computed, Farm
from gradwire_service.routes.exchange import REPLAY, Exchange
from gradwire_service.routes.work import Work, shortness
from gradwire_service.wire.body import Body


class Elsewhere:
    """Where computations of one kind are done.

    A process knows only what it has compiled itself. So the first call of a program goes there,
    and later ones if they are long; what proves to be short is compiled here as well, the next
    time, and from then on is computed on the event loop.
    """

    def __init__(self, kind: Kind, parts: Parts) -> None:
        self._kind = kind
        self._library = parts.library
        self._threads = parts.capacity.threads
        self._farm = parts.farm
        self._most_bytes = parts.settings.process_body_bytes
        self._short = shortness(parts.settings)
        self._known_short = WeakSet[Entry]()
        #: The least that replays of what is known have taken.
        self._least_seconds = WeakKeyDictionary[Entry, float]()

    async def run(self, work: Work, x: Exchange, do: Callable[[], list[Body]]) -> list[Body]:
        """The answer to a request; ``do`` gives it in a thread."""
        farm, entry = self._farm, work.entry
        expected = None if entry is None else self._least_seconds.get(entry)
        if farm is not None and len(x.body) <= self._most_bytes and entry not in self._known_short:
            computed = await self._in_process(farm, x, expected)
            if entry is not None and self._is_short(computed):
                self._known_short.add(entry)
            pieces = work.answered_elsewhere(computed)
        else:
            pieces = await x.run(self._threads, do, expected)
        if work.entry is not None:
            least = self._least_seconds.get(work.entry, math.inf)
            self._least_seconds[work.entry] = min(least, x.seconds[REPLAY])
        return pieces

    async def _in_process(self, farm: Farm, x: Exchange, expected: float | None) -> Computed:
        caller = Caller(x.account.tenant or "", "", x.owner)
        asked = Asked(self._kind, x.essential_headers(), bytes(x.body), caller, x.deadline)
        lent, find = farm.lend(), self._library.finding(x)
        compute = partial(lent.compute, asked, find)
        return await x.run(farm.queue, compute, expected, lent.hold_up)

    def _is_short(self, computed: Computed) -> bool:
        short = self._short
        return computed.next_seconds < short.seconds and computed.next_bytes <= short.nbytes
