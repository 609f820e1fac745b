"""Rounds of all tools on a workload, each in its own process on one core, and the report."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from statistics import median
from typing import NamedTuple

from measure import Figures, interleave, median_ratio, shown, table

from peers.interpreters import environment, installed, interpreter
from peers.tools import MODULES, asked
from peers.workloads import WORKLOADS, Workload

#: XLA's default emitters take minutes to compile workloads unrolled into single numbers.
UNROLLED = "--xla_cpu_use_fusion_emitters=false"
#: The minimum duration of a tool's round, and the maximum of its first calls.
_ROUND, _FIRSTS = 20.0, 3000.0
#: The maximum peak memory of Gradwire, relative to NumPy by hand.
_MOST_MEMORY = 1.2


class Figure(NamedTuple):
    """The cost of a tool: milliseconds of rounds and first calls, peak megabytes."""

    warm: Figures
    first: float
    peak: float


def report(*, quick: bool) -> list[str]:
    """Tables: value and gradient relative to NumPy by hand, then first calls and memory."""
    missing = sorted({module for module in MODULES.values() if not installed(module)})
    tools = ["numpy", "gradwire", *(tool for tool in MODULES if MODULES[tool] not in missing)]
    found = {
        row.what: _measured(row, [tool for tool in tools if asked(tool, row)], 3 if quick else 11)
        for row in WORKLOADS.values()
    }
    skipped = f"; not installed: {', '.join(missing)}" if missing else ""
    return [
        table(
            f"Value and gradient, times NumPy by hand{skipped}",
            ["", "by hand, ms", *tools[1:], "bar", ""],
            [_ratios(row, found[row.what], tools) for row in WORKLOADS.values()],
        ),
        table(
            "First call, ms, from the text to the answer",
            ["", *tools[1:], "bar", ""],
            [_firsts(row, found[row.what], tools[1:]) for row in WORKLOADS.values()],
        ),
        table(
            "Peak memory beyond the inputs, MB, first calls included",
            ["", *tools, "bar", ""],
            [_peaks(what, figures, tools) for what, figures in found.items()],
        ),
    ]


def _ratios(row: Workload, found: dict[str, Figure], tools: list[str]) -> list[str]:
    """The bar is for machine code, where it is installed."""
    hand = found["numpy"].warm
    ratios = _cells(found, tools[1:], lambda figure: median_ratio(figure.warm, hand))
    ours = median_ratio(found.get("machine code", found["gradwire"]).warm, hand)
    verdict = "ok" if ours <= row.bar else "over"
    return [row.what, shown(median(hand)), *ratios, f"<= {row.bar:g}", verdict]


def _firsts(row: Workload, found: dict[str, Figure], tools: list[str]) -> list[str]:
    """The bar is the row's own, or a tenth of JAX's time if that is less."""
    compiled = [found[tool].first / 10 for tool in ("jax",) if tool in found]
    bar = min(row.first_bar, *compiled) if compiled else row.first_bar
    verdict = "ok" if found["gradwire"].first <= bar else "over"
    return [row.what, *_cells(found, tools, lambda f: f.first), f"<= {shown(bar)}", verdict]


def _peaks(what: str, found: dict[str, Figure], tools: list[str]) -> list[str]:
    bar = _MOST_MEMORY * found["numpy"].peak
    verdict = "ok" if found["gradwire"].peak <= bar else "over"
    return [what, *_cells(found, tools, lambda f: f.peak), f"<= {shown(bar)}", verdict]


def _cells(
    found: dict[str, Figure], tools: list[str], figure: Callable[[Figure], float]
) -> list[str]:
    return [shown(figure(found[tool])) if tool in found else "-" for tool in tools]


def _measured(row: Workload, tools: list[str], rounds: int) -> dict[str, Figure]:
    with ExitStack() as stack:
        asks = {tool: stack.enter_context(_asking(tool, row)) for tool in tools}
        firsts = {tool: _first(ask) for tool, ask in asks.items()}
        times = {tool: _times(ask) for tool, ask in asks.items()}
        warm = interleave(
            rounds, *[lambda _, ask=ask, n=times[tool]: ask(n) for tool, ask in asks.items()]
        )
        peaks = {tool: ask(None) for tool, ask in asks.items()}
    return {
        tool: Figure(figures, firsts[tool], peaks[tool])
        for tool, figures in zip(tools, warm, strict=True)
    }


def _first(ask: Callable[[int | None], float]) -> float:
    """The median of three first calls, or a single one if it takes seconds."""
    spent = [ask(0)]
    while len(spent) < 3 and sum(spent) < _FIRSTS:
        spent.append(ask(0))
    return median(spent)


def _times(ask: Callable[[int | None], float]) -> int:
    """The number of runs in a round."""
    ask(2)
    return max(1, int(_ROUND / ask(3)))


@contextmanager
def _asking(tool: str, row: Workload) -> Iterator[Callable[[int | None], float]]:
    """A worker that takes numbers of runs; None ends it."""
    with subprocess.Popen(
        [interpreter(MODULES.get(tool, "gradwire")), "-m", "peers.worker", tool, row.what],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=_environment(tool),
    ) as worker:
        assert worker.stdin is not None
        assert worker.stdout is not None
        questions, answers = worker.stdin, worker.stdout

        def ask(times: int | None) -> float:
            if times is None:
                questions.close()
            else:
                questions.write(f"{times}\n")
                questions.flush()
            return float(json.loads(answers.readline()))

        yield ask


def _environment(tool: str) -> dict[str, str]:
    return environment(XLA_FLAGS=UNROLLED) if tool == "jax unrolled" else environment()
