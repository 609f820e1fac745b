"""The log: lines are queued, and written many at a time by a thread.

So no request waits for whoever reads the log, and a line costs it little more than to be queued.
"""

from __future__ import annotations

import logging
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO, TypeAlias

from gradwire_service.settings import Settings
from gradwire_service.telemetry.lines import Render, formatter, renderer

logger = logging.getLogger("gradwire")

#: A line, or what makes one once the thread has come to it.
Line: TypeAlias = bytes | Callable[[Render], bytes]

#: How long lines gather before they are written, unless one is a warning.
GATHER_SECONDS = 0.05
#: Lines that wait at most; whoever reads the log more slowly misses some.
MOST_WAITING = 20_000
_CLOSE_SECONDS = 2.0


class Log:
    """Takes lines from any thread and never waits; ``write`` may."""

    def __init__(
        self, write: Callable[[bytes], None], render: Render, most_waiting: int = MOST_WAITING
    ) -> None:
        self._write = write
        self._render = render
        self._most_waiting = most_waiting
        self._lines = deque[Line]()
        self._missed = 0
        self._awake = False
        self._wake = threading.Event()
        self._hurry = threading.Event()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="gradwire-log", daemon=True)
        self._thread.start()

    def put(self, line: Line, *, at_once: bool = False) -> None:
        """Have a line written, soon or at once."""
        if len(self._lines) >= self._most_waiting:
            self._missed += 1
            return
        self._lines.append(line)
        if not self._awake:
            self._awake = True
            self._wake.set()
        if at_once:
            self._hurry.set()

    def close(self) -> None:
        """Write what waits; but wait no longer than a moment for that."""
        self._closing = True
        self._hurry.set()
        self._wake.set()
        self._thread.join(_CLOSE_SECONDS)

    def _run(self) -> None:
        while not self._closing or self._lines:
            self._wake.wait()
            self._hurry.wait(GATHER_SECONDS)
            self._hurry.clear()
            self._wake.clear()
            self._awake = False  # from here on, what is put wakes this thread again
            self._write_all()

    def _write_all(self) -> None:
        lines = [self._lines.popleft() for _ in range(len(self._lines))]
        rendered = [line if isinstance(line, bytes) else line(self._render) for line in lines]
        with suppress(OSError):  # nobody reads, and there is nowhere to say so
            self._write(b"".join(rendered))
        missed, self._missed = self._missed, 0
        if missed:
            logger.warning("log lines dropped: the log queue was full", extra={"lines": missed})


class _Handler(logging.Handler):
    """Queues the standard library's records as lines."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Render a record here, while all it refers to is as it was, and queue it."""
        line = self.format(record).encode("utf-8", "replace") + b"\n"
        self._log.put(line, at_once=record.levelno >= logging.WARNING)


@contextmanager
def logging_to(stream: TextIO, settings: Settings) -> Iterator[Log]:
    """Have everything logged to ``stream`` until the end, as the settings say."""
    # Past the buffer: what a reader that is gone did not take must not wait for the exit.
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
    threading.excepthook = _tell
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
    """Tell of a warning; but of one about the text of a program, not what it quotes."""
    text = "about a program" if filename.startswith("<") else str(message)
    place = f"{filename}:{lineno}"
    logger.warning(text, extra={"category": category.__name__, "place": place})


def _tell(ended: threading.ExceptHookArgs) -> None:
    """Tell of a thread that ended by an error."""
    if ended.exc_value is not None:
        logger.error("a thread failed", exc_info=ended.exc_value)
