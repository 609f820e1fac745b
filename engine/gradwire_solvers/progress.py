"""The course of a run: its iterations counted, timed, reported, and kept as a history."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import isfinite
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from gradwire_engine.answer import Array, Poll

from gradwire_solvers.checkpoint import Checkpoint, Evaluations
from gradwire_solvers.objective import Notes

#: Seconds from any moment on.
Clock: TypeAlias = Callable[[], float]
#: The most entries of a history.
MOST_ENTRIES = 1000


class Progress(NamedTuple):
    """An iteration: its number, value, and the largest element of its gradient.

    ``seconds`` is the time since the run's start, ``rate`` iterations per second, and
    ``seconds_left`` the time until the most iterations, or the most seconds, where these are known.
    """

    iteration: int
    value: float
    gradient_norm: float
    seconds: float
    rate: float
    seconds_left: float | None


#: Called after each iteration, with a function that makes a checkpoint of it.
Report: TypeAlias = Callable[[Progress, Callable[[], Checkpoint]], None]


class Stopped(Exception):
    """The run cannot go on, and ends at its best point; the message says why."""


class OutOfTime(Stopped):
    """The run has taken as many seconds as it may."""


class History:
    """Entries of iterations at equal distances, so many that few are left out."""

    fields = ("iteration", "value", "gradient_norm", "seconds")

    def __init__(self, earlier: Mapping[str, Array] | None = None) -> None:
        self._entries: list[tuple[float, ...]] = []
        self._distance = 1
        if earlier:
            columns = [earlier[name].tolist() for name in self.fields]
            self._distance = int(earlier["distance"])
            entries = list(zip(*columns, strict=True))
            self._entries = [entry for entry in entries if entry[0] % self._distance == 0]
        self._last: tuple[float, ...] | None = None

    def add(self, iteration: int, value: float, gradient_norm: float, seconds: float) -> None:
        """Add an iteration."""
        self._last = iteration, value, gradient_norm, seconds
        if iteration % self._distance == 0:
            self._entries.append(self._last)
            if len(self._entries) >= MOST_ENTRIES:
                self._distance *= 2
                self._entries = [e for e in self._entries if e[0] % self._distance == 0]

    def columns(self) -> dict[str, Array]:
        """The entries by field, the last iteration among them."""
        entries = [*self._entries]
        if self._last is not None and (not entries or entries[-1] is not self._last):
            entries.append(self._last)
        table = np.array(entries, np.float64).reshape(-1, len(self.fields))
        columns = dict(zip(self.fields, table.T.copy(), strict=True))
        columns["iteration"] = columns["iteration"].astype(np.int64)
        return columns

    def kept(self) -> dict[str, Array]:
        """The arrays that a history goes on from."""
        return self.columns() | {"distance": np.array(self._distance)}


class Best(NamedTuple):
    """The point that a run ends at when it is stopped."""

    x: Array
    value: float
    gradient_norm: float


class Monitor:
    """Sees all iterations of a run, and stops it when its time has passed, or it cannot go on.

    ``keeps_least`` says that the best point is that of the least value, else the latest.
    """

    def __init__(
        self,
        report: Report,
        clock: Clock,
        poll: Poll,
        max_seconds: float | None,
        resume: Checkpoint | None,
        *,
        keeps_least: bool,
    ) -> None:
        self._report, self._clock, self._poll = report, clock, poll
        self._max_seconds, self._keeps_least = max_seconds, keeps_least
        self.evaluations = Evaluations() if resume is None else replace(resume.evaluations)
        self.history = History(None if resume is None else resume.history)
        #: Iterations before this process went on with the run, and now.
        self.earlier = self.iterations = 0 if resume is None else resume.iterations
        self._earlier_seconds = 0.0 if resume is None else resume.seconds
        self._began = clock()
        self.most_iterations: int | None = None
        self.best: Best | None = None
        #: What was to be known of the start.
        self.notes = Notes()

    @property
    def seconds(self) -> float:
        """The time since the run's start, without that between a checkpoint and its resumption."""
        return self._earlier_seconds + self._clock() - self._began

    def look(self) -> None:
        """Called before each evaluation.

        Raises: ``OutOfTime`` after that time, once the start is evaluated; what the poll does.
        """
        self._poll()
        limit = self._max_seconds
        if limit is not None and self.best is not None and self.seconds >= limit:
            raise OutOfTime(f"stopped after {limit:g} seconds")

    def begin(self, x: Array, value: float, gradient_norm: float, notes: Notes) -> None:
        """The point that the run starts from, or goes on from."""
        self.notes = notes
        self.best = Best(x.copy(), value, gradient_norm)
        if not self.earlier:
            self.history.add(0, value, gradient_norm, self.seconds)

    def has_better(self, value: float) -> bool:
        """True if a point before had less than this value, and that is what counts."""
        return self._keeps_least and self.best is not None and self.best.value < value

    def step(
        self, x: Array, value: float, gradient_norm: float, state: Mapping[str, Any] | None = None
    ) -> None:
        """An iteration has reached ``x``; ``state`` is what the method needs to go on from it.

        Raises: ``Stopped`` where something is not finite; what ``report`` does.
        """
        if not (isfinite(value) and isfinite(gradient_norm)):
            what = "derivative" if isfinite(value) else "value"
            raise Stopped(f"the {what} is not finite after {self.iterations} iterations")
        self.iterations += 1
        seconds = self.seconds
        self.history.add(self.iterations, value, gradient_norm, seconds)
        best = self.best
        if best is None or not self._keeps_least or not best.value < value:
            self.best = Best(x.copy(), value, gradient_norm)
        progress = self._progress(value, gradient_norm, seconds)
        self._report(progress, lambda: self._checkpoint(x, seconds, state or {}))

    def left(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Options, those that limit a run less what it has done before."""
        counts = self.evaluations.value
        done = {"maxiter": self.iterations, "maxfun": counts, "maxfev": counts, "max_nfev": counts}
        if self.iterations:
            limits = {name: max(options[name] - done[name], 1) for name in done if name in options}
            options = {**options, **limits}
        return dict(options)

    def _progress(self, value: float, gradient_norm: float, seconds: float) -> Progress:
        taken = seconds - self._earlier_seconds
        rate = (self.iterations - self.earlier) / taken if taken > 0 else 0.0
        left: list[float] = []
        if self.most_iterations is not None and rate:
            left.append(max(self.most_iterations - self.iterations, 0) / rate)
        if self._max_seconds is not None:
            left.append(max(self._max_seconds - seconds, 0.0))
        return Progress(
            self.iterations, value, gradient_norm, seconds, rate, min(left) if left else None
        )

    def _checkpoint(self, x: Array, seconds: float, state: Mapping[str, Any]) -> Checkpoint:
        counts, history = replace(self.evaluations), self.history.kept()
        return Checkpoint(x.copy(), self.iterations, counts, seconds, history, dict(state))
