"""One replica: an event loop and worker processes on a few cores, and a cache of programs."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Generator, Mapping
from typing import Any

import numpy as np
import simpy

from scaling.times import STAGES, Stage

Steps = Generator[simpy.Event, Any, None]
#: Draws are made so many at a time.
_DRAWN = 4096


class Costs:
    """Draws the CPU seconds of requests from what was measured, by the stage of their program."""

    def __init__(self, stages: Mapping[str, Stage], random: np.random.Generator) -> None:
        self._stages = [stages[name] for name in STAGES]
        self._random = random
        self._drawn: list[list[tuple[float, float]]] = [[] for _ in STAGES]

    def draw(self, stage: int) -> tuple[float, float]:
        """Seconds of the event loop, and of worker processes."""
        drawn = self._drawn[stage]
        if not drawn:
            front, workers = self._stages[stage]
            which = self._random.integers(len(front), size=_DRAWN)
            drawn += zip(front[which].tolist(), workers[which].tolist(), strict=True)
        return drawn.pop()


class Cache:
    """The programs that a replica knows, in so many bytes; those used longest ago give way.

    ``kept_bytes`` are those of a program after its first request, and after its second one.
    """

    def __init__(self, nbytes: int, kept_bytes: tuple[int, int]) -> None:
        self._left = nbytes
        self._bytes = (0, *kept_bytes)
        self._stages: OrderedDict[int, int] = OrderedDict()

    def use(self, program: int) -> int:
        """The stage of a request for this program, which is known from now on."""
        stages, nbytes = self._stages, self._bytes
        stage = stages.get(program, 0)
        now = stages[program] = min(stage + 1, len(STAGES) - 1)
        stages.move_to_end(program)
        self._left -= nbytes[now] - nbytes[stage]
        while self._left < 0:
            _, oldest = stages.popitem(last=False)
            self._left += nbytes[oldest]
        return stage


class Replica:
    """A queue for the event loop, whose work goes before that of worker processes on the cores."""

    def __init__(self, env: simpy.Environment, cores: int, costs: Costs, cache: Cache) -> None:
        self._env = env
        self._costs = costs
        self._loop = simpy.Resource(env)
        self._cores = simpy.PreemptiveResource(env, cores)
        self.cache = cache
        self.in_progress = 0
        #: CPU seconds so far: of the event loop, and of all.
        self.loop_seconds = self.busy_seconds = 0.0

    def serve(self, stage: int) -> Steps:
        """Answer a request for a program that is at this stage."""
        front, workers = self._costs.draw(stage)
        self.loop_seconds += front
        self.busy_seconds += front + workers
        with self._loop.request() as turn:
            yield turn
            yield from self._compute(front, priority=0)
        if workers:
            yield from self._compute(workers, priority=1)

    def _compute(self, seconds: float, priority: int) -> Steps:
        env = self._env
        while seconds > 0:
            with self._cores.request(priority) as core:
                began = math.inf  # it may be preempted at the moment it gets the core
                try:
                    yield core
                    began = env.now
                    yield env.timeout(seconds)
                except simpy.Interrupt:
                    seconds -= max(env.now - began, 0.0)
                else:
                    return
