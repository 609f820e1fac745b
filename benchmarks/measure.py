"""Shared by all benchmarks: interleaved rounds, medians and tables."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

Figures = list[float]


def interleave(rounds: int, *measurements: Callable[[int], float]) -> list[Figures]:
    """One figure of each measurement per round: A B, then B A, and so on.

    A temporary slowdown of the machine then affects all of them equally. No figure has a collection
    of what another has left.
    """
    figures: list[Figures] = [[] for _ in measurements]
    pairs = list(zip(figures, measurements, strict=True))
    was_frozen = gc.get_freeze_count() > 0  # a part cannot be unfrozen
    gc.collect()
    gc.freeze()  # a million objects of libraries, which would take most of the time
    try:
        for number in range(rounds):
            for found, measurement in pairs if number % 2 == 0 else reversed(pairs):
                gc.collect()
                found.append(measurement(number))
    finally:
        if not was_frozen:
            gc.unfreeze()
    return figures


def median_ratio(figures: Figures, references: Figures) -> float:
    """The median of the ratios of each round, which slow drifts of the machine do not change."""
    return median(a / b for a, b in zip(figures, references, strict=True))


@dataclass(frozen=True)
class Row:
    """A figure and its reference; the bar applies to the ratio or to the figure itself.

    A bar is a maximum, a floor a minimum.
    """

    what: str
    figure: float
    reference: float
    ratio: float
    unit: str
    figure_bar: float | None = None
    ratio_bar: float | None = None
    ratio_floor: float | None = None

    @classmethod
    def of(
        cls,
        what: str,
        figures: Figures,
        references: Figures,
        unit: str,
        *,
        figure_bar: float | None = None,
        ratio_bar: float | None = None,
        ratio_floor: float | None = None,
    ) -> Row:
        """The row with the medians over the rounds of a figure and its reference."""
        ratio = median_ratio(figures, references)
        medians = median(figures), median(references)
        return cls(what, *medians, ratio, unit, figure_bar, ratio_bar, ratio_floor)

    @property
    def bar(self) -> str:
        """The bar as text, or ``-`` if the row is only for information."""
        if self.figure_bar is not None:
            return f"<= {self.figure_bar:g} {self.unit}"
        if self.ratio_floor is not None:
            return f"ratio >= {self.ratio_floor:g}"
        return "-" if self.ratio_bar is None else f"ratio <= {self.ratio_bar:g}"

    @property
    def verdict(self) -> str:
        """``ok``, ``over``, ``under``, or nothing without a bar."""
        if self.figure_bar is not None:
            return "ok" if self.figure <= self.figure_bar else "over"
        if self.ratio_bar is not None:
            return "ok" if self.ratio <= self.ratio_bar else "over"
        if self.ratio_floor is not None:
            return "ok" if self.ratio >= self.ratio_floor else "under"
        return ""

    def cells(self) -> list[str]:
        """The cells of the row as text."""
        figure, reference = shown(self.figure), shown(self.reference)
        ratio = f"{self.ratio:.2f}"
        return [self.what, figure, reference, self.unit, ratio, self.bar, self.verdict]


def shown(number: float) -> str:
    """A number in about three digits."""
    if number != 0 and abs(number) < 0.095:
        return f"{number:.3f}"
    return f"{number:.2f}" if abs(number) < 10 else f"{number:,.1f}"


def compared(title: str, reference: str, rows: Sequence[Row]) -> str:
    """A table of rows, with ``reference`` as the heading of their references."""
    head = ["", "gradwire", reference, "unit", "ratio", "bar", ""]
    return table(title, head, [row.cells() for row in rows])


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Plain text in columns, the first flush left and the others flush right."""
    lines = [head, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    written = [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    return "\n".join([title, "", written[0], "-" * len(written[0]), *written[1:]])
