"""The log: lines are queued, and a thread renders and writes them in batches.

So no request waits for the reader of the log. ``logging.handlers.QueueListener`` makes a record of
each line and wakes its thread for each: it costs a request ten times as much.
"""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from typing import TextIO, TypeAlias

from gradwire_service.settings import Settings
from gradwire_service.telemetry.rendering import Render, formatter, renderer

logger = logging.getLogger("gradwire")

#: A line, or a function by which the thread makes it.
Line: TypeAlias = bytes | Callable[[Render], bytes]

#: Time that lines gather before they are written; a warning is written at once.
GATHER_SECONDS = 0.05
#: The longest queue; further lines are dropped and counted.
MOST_WAITING = 20_000
_CLOSE_SECONDS = 2.0


class Log:
    """Takes lines from any thread without blocking; a thread of its own writes them."""

    def __init__(
        self, write: Callable[[bytes], None], render: Render, most_waiting: int = MOST_WAITING
    ) -> None:
        self._write = write
        self._render = render
        self._most_waiting = most_waiting
        self._lines = SimpleQueue[Line | None]()  # None is the end
        self._dropped = 0
        self._hurry = threading.Event()
        self._thread = threading.Thread(target=self._run, name="gradwire-log", daemon=True)
        self._thread.start()

    def put(self, line: Line, *, at_once: bool = False) -> None:
        """Queue a line, to be written soon or at once."""
        if self._lines.qsize() >= self._most_waiting:
            self._dropped += 1
            return
        self._lines.put(line)
        if at_once:
            self._hurry.set()

    def close(self) -> None:
        """Write the queued lines, unless that takes too long."""
        self._lines.put(None)
        self._hurry.set()
        self._thread.join(_CLOSE_SECONDS)

    def _run(self) -> None:
        closed = False
        while not closed:
            lines = [self._lines.get()]
            self._hurry.wait(GATHER_SECONDS)
            self._hurry.clear()
            lines += [self._lines.get() for _ in range(self._lines.qsize())]
            closed = None in lines
            self._write_all([line for line in lines if line is not None])

    def _write_all(self, lines: list[Line]) -> None:
        rendered = [line if isinstance(line, bytes) else line(self._render) for line in lines]
        with suppress(OSError):  # the reader is gone, and there is nowhere to report it
            self._write(b"".join(rendered))
        dropped, self._dropped = self._dropped, 0
        if dropped:
            logger.warning("log lines dropped: the log queue was full", extra={"lines": dropped})


class _Handler(logging.Handler):
    """Queues records of the standard library as lines."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Render a record now, since what it refers to may change, and queue it."""
        line = self.format(record).encode("utf-8", "replace") + b"\n"
        self._log.put(line, at_once=record.levelno >= logging.WARNING)


@contextmanager
def logging_to(stream: TextIO, settings: Settings) -> Iterator[Log]:
    """Log everything to ``stream`` until the end of the context, as the settings say."""
    # Unbuffered: what a reader that is gone did not take must not block the exit.
    sink = getattr(stream.buffer, "raw", stream.buffer)

    def write(lines: bytes) -> None:
        rest = memoryview(lines)
        while rest:
            rest = rest[sink.write(rest) :]

    render = renderer(settings.log_format, colors=stream.isatty())
    log = Log(write, render)
    handler = _Handler(log)
    handler.setFormatter(formatter(render, messages=settings.log_level == "debug"))
    root = logging.getLogger()
    before = root.level, root.handlers[:], warnings.showwarning, threading.excepthook
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())
    warnings.showwarning = _warn
    threading.excepthook = _log_failure
    try:
        yield log
    finally:
        root.level, root.handlers[:], warnings.showwarning, threading.excepthook = before
        log.close()


def _warn(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Log a warning; the text of one about a program is left out, for it quotes the program."""
    text = "about a program" if filename.startswith("<") else str(message)
    place = f"{filename}:{lineno}"
    logger.warning(text, extra={"category": category.__name__, "place": place})


def _log_failure(failure: threading.ExceptHookArgs) -> None:
    """Log the error that ended a thread."""
    if failure.exc_value is not None:
        logger.error("a thread failed", exc_info=failure.exc_value)
