"""The progress of jobs while it comes: a figure in notebooks, a bar in terminals."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from gradwire.display.curves import curves
from gradwire.display.figures import digits
from gradwire.display.html import Markup, card_of, element
from gradwire.optimization.handles import JobProgress
from gradwire.progress import bar, ignore

#: The least time between two drawings of a figure.
REDRAWN_AFTER_SECONDS = 0.5
#: Points of a figure; of more, every second one is dropped.
MOST_POINTS = 500


@contextmanager
def following(
    kind: str, total: int | None, wanted: bool | None
) -> Iterator[Callable[[JobProgress], Any]]:
    """Show each progress; without ``wanted``, where a notebook or a terminal with tqdm does."""
    if wanted is not False and _is_notebook():
        yield LiveFigure(kind, total).update
        return
    shown = bar(wanted, total=total, desc=kind, unit=" iterations")
    if shown is None:
        yield ignore
        return

    def advance(progress: JobProgress) -> None:
        shown.set_postfix_str(summary(progress), refresh=False)
        shown.update(progress.iteration - shown.n)

    with shown:
        yield advance


def summary(progress: JobProgress) -> str:
    """The value and the gradient in a few digits."""
    named = {"value": progress.value, "gradient": progress.gradient_norm}
    return ", ".join(f"{name} {digits(n)}" for name, n in named.items() if n is not None)


class LiveFigure:
    """A figure of a notebook that is drawn again as progress comes."""

    def __init__(
        self, kind: str, total: int | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._kind = kind
        self._total = total
        self._points: list[JobProgress] = []
        self._handle: Any = None
        self._drawn_at = -REDRAWN_AFTER_SECONDS

    def update(self, progress: JobProgress) -> None:
        """Add a progress, and draw the figure if it is time."""
        self._points.append(progress)
        if len(self._points) > MOST_POINTS:
            del self._points[1::2]
        now = self._clock()
        if now - self._drawn_at < REDRAWN_AFTER_SECONDS:
            return
        self._drawn_at = now
        ipython: Any = import_module("IPython.display")  # which runs this notebook
        shown = ipython.HTML(self.html())
        if self._handle is None:
            self._handle = ipython.display(shown, display_id=True)
        else:
            self._handle.update(shown)

    def html(self) -> str:
        """The figure: how far it is, and the curves until now."""
        last = self._points[-1]
        of = "" if self._total is None else f" of {self._total:,}"
        rate = "" if last.rate is None else f", {digits(last.rate)} per second"
        left = "" if last.seconds_left is None else f", {digits(last.seconds_left, 2)} s left"
        title = element("b", self._kind)
        about = f"iteration {last.iteration:,}{of}: {summary(last)}{rate}{left}"
        return card_of(element("div", title, " ", about), self._curves())

    def _curves(self) -> Markup:
        iterations = [each.iteration for each in self._points]
        values = [_number(each.value) for each in self._points]
        norms = [_number(each.gradient_norm) for each in self._points]
        return curves(iterations, [("value", values), ("gradient", norms)])


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def _is_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")
