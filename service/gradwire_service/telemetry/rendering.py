"""Log lines: a time, a level, an event and its fields, without values.

Including those logged through the standard library: by uvicorn, asyncio, warnings.
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

#: The frames of a longer stack that are logged.
_FIRST_FRAMES, _LAST_FRAMES = 10, 40
_MOST_CAUSES = 5
#: Fields that repeat the event in colours.
_DUPLICATES = ("color_message",)
_WORDS = re.compile(r"[\w ']*")


def renderer(log_format: LogFormat, *, colors: bool = False) -> Render:
    """Renders an event as a line."""
    if log_format == "json":
        return lambda event: orjson.dumps(event, default=_named_type) + b"\n"
    console = structlog.dev.ConsoleRenderer(colors=colors, timestamp_key="time", sort_keys=False)
    return lambda event: f"{console(None, '', event)}\n".encode("utf-8", "replace")


def formatter(render: Render, *, messages: bool) -> logging.Formatter:
    """Formats records of the standard library; ``messages``: exceptions with their messages."""

    def without_values(_: Any, __: str, event: Event) -> Event:
        return _cleaned(event, messages=messages)

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
    """``text`` on one line and without control characters."""
    if text.isprintable():
        return text
    return "".join(
        [c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text]
    )


def stack_of(error: BaseException, *, messages: bool) -> str:
    """The stack of an error and its causes: types and places, no locals.

    Its messages may quote values, so they are left out unless asked for.
    """
    lines = []
    for cause in _causes(error):
        name = f"{type(cause).__module__}.{type(cause).__qualname__}".removeprefix("builtins.")
        lines.append(f"{name}: {printable(str(cause))}" if messages else name)
        lines += _frames(cause.__traceback__)
        if isinstance(cause, RemoteError) and cause.trace is not None:
            lines += [f"  in another process: {line}" for line in cause.trace.splitlines()]
    return "\n".join(lines)


def _cleaned(event: Event, *, messages: bool) -> Event:
    """The event with its fields in order, one-line texts and an error without values."""
    error = event.pop("exc_info", None)
    if isinstance(error, tuple):
        error = error[1]
    for name in _DUPLICATES:
        event.pop(name, None)
    if event.get("logger") == "uvicorn.error":  # its name for all that is not access
        event["logger"] = "uvicorn"
    if str(event.get("logger", "")).startswith("asyncio"):
        # After the first words come tasks and callbacks, with values.
        found = _WORDS.match(str(event["event"]))
        event["event"] = found.group() if found else "asyncio"
    first = {name: event.pop(name) for name in ("time", "level", "event")}
    cleaned: Event = {
        name: printable(field) if isinstance(field, str) else field
        for name, field in (*first.items(), *event.items())
    }
    if isinstance(error, BaseException):
        cleaned["exception"] = stack_of(error, messages=messages)
    return cleaned


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
