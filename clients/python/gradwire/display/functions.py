"""Recorded functions as cards of HTML: what was recorded of them, and its graph."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from gradwire.call import Steps
from gradwire.client import Client
from gradwire.display import messages
from gradwire.display.figures import numbers
from gradwire.display.markup import Markup, element, row
from gradwire.display.style import STYLE
from gradwire.errors import GradwireError
from gradwire.resources.drawings import Drawing, drawing
from gradwire.tracing.functions import Function
from gradwire.tracing.traced import TracedProgram
from gradwire.values import type_of

#: Recordings that are shown, the latest ones.
MOST_RECORDINGS = 4
#: Characters of a program's text that are shown.
MOST_TEXT = 4000
#: How long the service may take for a picture that nobody asked for.
PATIENCE_SECONDS = 5.0


def function_card(function: Function[..., Any]) -> str:
    """What was recorded of a function; the graph of the latest is drawn if a service can be had."""
    recorded = function.recordings
    told = f"recorded {len(recorded):,} times" if len(recorded) > 1 else "recorded once"
    head = row(
        "div",
        element("span", function.title, class_="gw-title"),
        element("span", _signature(function), class_="gw-type"),
        element("span", told if recorded else "not recorded yet", class_="gw-quiet"),
        class_="gw-head",
    )
    latest = recorded[-MOST_RECORDINGS:][::-1]
    parts = [_recording(traced, i == 0) for i, traced in enumerate(latest)]
    return str(element("div", STYLE, head, *parts, *_picture(function, latest[:1]), class_="gw"))


def _recording(traced: TracedProgram, is_open: bool) -> Markup:
    variables = traced.written.variables
    types = ", ".join(f"{name}: {_type(value)}" for name, value in variables.items())
    told = [messages.cut(types, 120) or "no variables"]
    if traced.guards:
        count = len(traced.guards)
        told.append(f"{count:,} decision{'s' if count > 1 else ''}")
    summary = element("summary", element("span", " · ".join(told), class_="gw-more"))
    text = traced.text if len(traced.text) <= MOST_TEXT else f"{traced.text[:MOST_TEXT]}\n…"
    body = element("div", element("pre", text))
    return element("details", summary, body, open="" if is_open else None)


def _picture(function: Function[..., Any], latest: list[TracedProgram]) -> Iterator[Markup]:
    client = function.client if latest else None
    if not isinstance(client, Client):  # a notebook does not await what it shows
        return
    brief = client.with_options(timeout=PATIENCE_SECONDS, max_retries=0)
    for traced in latest:
        try:
            yield Markup(brief.run(_drawing(traced)).image())
        except GradwireError as error:
            yield element("div", f"no picture: {error.args[0]}", class_="gw-quiet")


def _drawing(traced: TracedProgram) -> Steps[Drawing]:
    return drawing(traced.text, [traced.written.variables], traced.returned)


def _signature(function: Function[..., Any]) -> str:
    try:
        return str(inspect.signature(function))
    except (TypeError, ValueError):
        return ""


def _type(value: Any) -> str:
    return type_of(value) if numbers(value) is not None else type(value).__name__
