"""Writers of summaries, and the condition under which they write."""

from __future__ import annotations

import contextlib
import importlib
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Self

from gradwire.tf.arguments import only
from gradwire.tf.conversion import convert_to_tensor
from gradwire.tf.gfile import local
from gradwire.tf.tensors import Tensor

__all__ = [
    "SummaryWriter", "create_file_writer", "create_noop_writer", "flush", "record_if",
    "should_record_summaries",
]  # fmt: skip


class _State(threading.local):
    """The default writer, the step and the condition of this thread."""

    def __init__(self) -> None:
        self.writer: SummaryWriter | None = None
        self.step: Any = None
        self.condition: bool | Callable[[], Any] | Tensor = True


state: _State = _State()


class SummaryWriter:
    """Writes summaries to one file, or nowhere.

    Raises:
        RuntimeError: where it is used after ``close``.
    """

    def __init__(self, file: Any = None) -> None:
        self._file: Any = file
        self._closed: bool = False
        if file is not None:  # what is not written yet at the end is written then
            self._close_file: Any = weakref.finalize(self, file.close)

    @contextlib.contextmanager
    def as_default(self, step: Any = None) -> Iterator[Self]:
        """A context in which this is the default writer, maybe with a step."""
        self._check_open()
        before = state.writer, state.step
        state.writer = self
        if step is not None:
            state.step = step
        try:
            yield self
        finally:
            self.flush()
            state.writer = before[0]
            if step is not None:
                state.step = before[1]

    def set_as_default(self, step: Any = None) -> None:
        """Make this the default writer, maybe with a step."""
        self._check_open()
        state.writer = self
        if step is not None:
            state.step = step

    def init(self) -> None:
        """Nothing: a writer writes from the beginning."""

    def add(self, event: Any) -> None:
        """Write an event of TensorBoard's."""
        self._check_open()
        if self._file is not None:
            self._file.add_event(event)

    @property
    def is_writing(self) -> bool:
        """True if there is a file."""
        return self._file is not None

    def flush(self) -> None:
        """Have what was recorded reach the file."""
        if self._file is not None and not self._closed:
            self._file.flush()

    def close(self) -> None:
        """Have it reach the file, which is closed."""
        if self._file is not None and not self._closed:
            self._close_file()
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError(f"SummaryWriter {self!r} is already closed")


def create_file_writer(
    logdir: Any,
    max_queue: int | None = None,
    flush_millis: int | None = None,
    filename_suffix: str | None = None,
    name: str | None = None,
    experimental_trackable: bool = False,
    experimental_mesh: Any = None,
) -> SummaryWriter:
    """A writer of a new file in a folder; without ``tensorboard``, of none, which is warned of."""
    only(
        "create_file_writer",
        experimental_trackable=(experimental_trackable, False),
        experimental_mesh=(experimental_mesh, None),
    )
    try:
        files: Any = importlib.import_module("tensorboard.summary.writer.event_file_writer")
    except ImportError:
        warnings.warn(
            "tf.summary writes nothing without TensorBoard: pip install tensorboard", stacklevel=2
        )
        return SummaryWriter()
    return SummaryWriter(
        files.EventFileWriter(
            local(logdir),
            max_queue_size=10 if max_queue is None else max_queue,
            flush_secs=120 if flush_millis is None else flush_millis / 1000,
            filename_suffix=".v2" if filename_suffix is None else filename_suffix,
        )
    )


def create_noop_writer() -> SummaryWriter:
    """A writer that writes nothing."""
    return SummaryWriter()


def flush(writer: SummaryWriter | None = None, name: str | None = None) -> None:
    """Have what a writer recorded reach its file; the default writer's, without one."""
    chosen = state.writer if writer is None else writer
    if chosen is not None:
        chosen.flush()


@contextlib.contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """A context in which summaries are written where a condition, maybe a function, holds."""
    before = state.condition
    state.condition = condition
    try:
        yield
    finally:
        state.condition = before


def should_record_summaries() -> Tensor:
    """True if there is a default writer, and the condition holds."""
    return convert_to_tensor(records())


def records() -> bool:
    """The same as a truth value."""
    if state.writer is None:
        return False
    condition = state.condition
    return bool(condition() if callable(condition) else condition)
