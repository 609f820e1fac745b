"""Keras's bar of progress."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from gradwire.tf.keras.configurable import configurable

__all__ = ["Progbar"]


@configurable
class Progbar:
    """A bar of the steps so far, the time that is left, and figures.

    ``verbose`` 1 draws it after each update, but not more often than every ``interval`` seconds; 2
    prints a line at the end. Figures are averaged over steps, except ``stateful_metrics``.
    """

    target: int | None
    width: int = 20
    verbose: int = 1
    interval: float = 0.05
    stateful_metrics: Any = None
    stateless_metrics: Any = None
    unit_name: str = "step"

    def __post_init__(self) -> None:
        if self.stateful_metrics is not None and self.stateless_metrics is not None:
            raise ValueError("pass `stateful_metrics` or `stateless_metrics`, not both")
        #: For each figure, what it comes to so far and for how many steps.
        self._values: dict[str, tuple[Any, int]] = {}
        self._seen: int = 0
        self._start: float = time.time()
        self._shown: float = 0.0

    def update(self, current: int, values: Any = None, finalize: bool | None = None) -> None:
        """Show that so many steps have been made, with figures ``[(name, value), …]``."""
        last = (
            (self.target is not None and current >= self.target) if finalize is None else finalize
        )
        steps = max(current - self._seen, 1)
        for name, value in values or ():
            if not self._is_averaged(name) or last:
                self._values[name] = (value, 1)
            else:
                total, count = self._values.get(name, (0.0, 0))
                self._values[name] = (total + value * steps, count + steps)
        self._seen = current
        now = time.time()
        if self.verbose == 1 and (last or now - self._shown >= self.interval):
            sys.stdout.write(f"\r{self._line(current, now, last)}{chr(10) if last else ''}")
            sys.stdout.flush()
            self._shown = now
        elif self.verbose == 2 and last and self.target:
            sys.stdout.write(f"{self._line(current, now, last)}\n")

    def add(self, n: int, values: Any = None) -> None:
        """Show that so many more steps have been made."""
        self.update(self._seen + n, values)

    def _is_averaged(self, name: str) -> bool:
        if self.stateless_metrics is not None:
            return name in self.stateless_metrics
        return name not in (self.stateful_metrics or ())

    def _line(self, current: int, now: float, last: bool) -> str:
        each = (now - self._start) / max(current, 1)
        if self.target:
            done = int(self.width * min(current / self.target, 1.0))
            count = f"{current:{len(str(self.target))}d}/{self.target}"
            bar = f"{count} {'━' * done}{'─' * (self.width - done)}" if self.verbose == 1 else count
        else:
            bar = f"{current:7d}/Unknown"
        left = each * (self.target - current) if self.target and not last else now - self._start
        figures = [f"{name}: {_shown(*value)}" for name, value in self._values.items()]
        return " - ".join([f"{bar} {left:.0f}s {_duration(each)}/{self.unit_name}", *figures])


def _shown(total: Any, count: int) -> str:
    mean = float(np.mean(total)) / max(1, count)
    return f"{mean:.4f}" if abs(mean) > 1e-3 else f"{mean:.4e}"


def _duration(seconds: float) -> str:
    if seconds >= 1 or seconds == 0:
        return f"{seconds:.0f}s"
    return f"{seconds * 1e3:.0f}ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f}us"
