"""Recorded functions as reports: what was recorded of them, and the graph of the latest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradwire.client import Client
from gradwire.display.blocks import Block, Listing, Picture, Remarks, Title
from gradwire.display.figures import cut
from gradwire.display.reports import report
from gradwire.errors import GradwireError
from gradwire.resources.graphs import drawing
from gradwire.tracing.functions import Function
from gradwire.tracing.traced import TracedProgram
from gradwire.values import type_of

#: Recordings that are shown, the latest ones.
MOST_RECORDINGS = 4
#: The longest wait for the picture, which the user did not ask for.
PATIENCE_SECONDS = 5.0


@report.register(Function)
def _(function: Function[..., Any]) -> Iterator[Block]:
    """The recordings of a function; the latest program is drawn if a service answers."""
    recorded = function.recordings
    times = f"recorded {len(recorded):,} times" if len(recorded) > 1 else "recorded once"
    yield Title(function.title, times if recorded else "not recorded yet")
    for i, traced in enumerate(recorded[-MOST_RECORDINGS:][::-1]):
        yield Listing(_summary(traced), traced.text, is_open=i == 0)
    client = function.client if recorded else None
    if isinstance(client, Client):  # a notebook does not await what it shows
        yield _picture(client, recorded[-1])


def _summary(traced: TracedProgram) -> str:
    variables = traced.written.variables.items()
    types = cut(", ".join(f"{name}: {type_of(value)}" for name, value in variables), 120)
    count = len(traced.guards)
    decisions = f" · {count:,} decision{'s' if count > 1 else ''}" if count else ""
    return (types or "no variables") + decisions


def _picture(client: Client, traced: TracedProgram) -> Block:
    brief = client.with_options(timeout=PATIENCE_SECONDS, max_retries=0)
    try:
        drawn = brief.run(drawing(traced.text, [traced.written.variables], traced.returned))
    except GradwireError as error:
        return Remarks([f"no picture: {error.args[0]}"])
    return Picture(drawn.image())
