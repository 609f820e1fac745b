"""Log lines as they are rendered: a time, a level, an event and its fields, and no values.

Whatever logs through the standard library is rendered here too: uvicorn, asyncio, warnings.
"""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Callable, Iterator, MutableMapping
from types import TracebackType
from typing import Any, Literal, TypeAlias

import orjson
import structlog

from gradwire_service.problems import RemoteError

#: An event and its fields.
Event: TypeAlias = MutableMapping[str, Any]
Render: TypeAlias = Callable[[Event], bytes]
LogFormat: TypeAlias = Literal["json", "console"]

#: Of a longer stack the first and the last frames are told.
_FIRST_FRAMES, _LAST_FRAMES = 10, 40
_MOST_CAUSES = 5
#: Names among the fields that say the same in colours.
_SUPERFLUOUS = ("color_message",)
_WORDS = re.compile(r"[\w ']*")


def renderer(log_format: LogFormat, *, colors: bool = False) -> Render:
    """What makes a line of an event."""
    if log_format == "json":
        return lambda event: orjson.dumps(event, default=_named_type) + b"\n"
    console = structlog.dev.ConsoleRenderer(colors=colors, timestamp_key="time", sort_keys=False)
    return lambda event: f"{console(None, '', event)}\n".encode("utf-8", "replace")


def formatter(render: Render, *, messages: bool) -> logging.Formatter:
    """For records of the standard library; ``messages`` tells also what errors say."""

    def without_values(_: Any, __: str, event: Event) -> Event:
        return _told(event, messages=messages)

    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.stdlib.ExtraAdder(),
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
        ],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            without_values,
            lambda _, __, event: render(event).decode().removesuffix("\n"),
        ],
    )


def printable(text: str) -> str:
    """``text`` on one line and without what a terminal would obey."""
    if text.isprintable():
        return text
    return "".join(
        [c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text]
    )


def stack_of(error: BaseException, *, messages: bool) -> str:
    """Where an error was raised and what caused it: types and places, no locals.

    What it says is told only where ``messages`` are wanted, for it may quote a value.
    """
    told = []
    for cause in _causes(error):
        name = f"{type(cause).__module__}.{type(cause).__qualname__}".removeprefix("builtins.")
        told.append(f"{name}: {printable(str(cause))}" if messages else name)
        told += _frames(cause.__traceback__)
        if isinstance(cause, RemoteError) and cause.trace is not None:
            told += [f"  in another process: {line}" for line in cause.trace.splitlines()]
    return "\n".join(told)


def _told(event: Event, *, messages: bool) -> Event:
    """The event in one order, its texts on one line, its error without values."""
    error = event.pop("exc_info", None)
    if isinstance(error, tuple):
        error = error[1]
    for name in _SUPERFLUOUS:
        event.pop(name, None)
    if event.get("logger") == "uvicorn.error":  # which is not about errors
        event["logger"] = "uvicorn"
    if str(event.get("logger", "")).startswith("asyncio"):
        # Behind the first words come tasks and callbacks, with what they hold.
        found = _WORDS.match(str(event["event"]))
        event["event"] = found.group() if found else "asyncio"
    first = {name: event.pop(name) for name in ("time", "level", "event")}
    told: Event = {
        name: printable(field) if isinstance(field, str) else field
        for name, field in (*first.items(), *event.items())
    }
    if isinstance(error, BaseException):
        told["exception"] = stack_of(error, messages=messages)
    return told


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    for _ in range(_MOST_CAUSES):
        if cause is None:
            return
        yield cause
        implied = None if cause.__suppress_context__ else cause.__context__
        cause = cause.__cause__ or implied


def _frames(start: TracebackType | None) -> list[str]:
    frames = [
        f"  {frame.f_code.co_filename}:{line} {frame.f_code.co_qualname}"
        for frame, line in traceback.walk_tb(start)
    ]
    if len(frames) > _FIRST_FRAMES + _LAST_FRAMES:
        left_out = len(frames) - _FIRST_FRAMES - _LAST_FRAMES
        frames[_FIRST_FRAMES:-_LAST_FRAMES] = [f"  … {left_out} more"]
    return [printable(frame) for frame in frames]


def _named_type(value: object) -> str:
    return f"<{type(value).__qualname__}>"
