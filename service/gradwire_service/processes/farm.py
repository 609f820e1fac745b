"""The processes that compute, lent to one request each."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from tempfile import gettempdir
from time import monotonic
from typing import Any, TypeAlias

from gradwire_engine.errors import DeadlineExceeded

from gradwire_service.capacity import Deadline, Queue
from gradwire_service.problems import Told
from gradwire_service.processes.messages import STOP, Asked, Computed, Failed, Learned, Lookup
from gradwire_service.settings import Settings
from gradwire_service.settings.starting import NotStarted
from gradwire_service.wire.references import Find

#: Processes are forked from one that has imported what they need, and nothing else: soon, and with
#: most of their memory in common.
_FORKING = get_context("forkserver")
_FORKING.set_forkserver_preload(["gradwire_service.worker"])
#: How often the deadline is looked at while a process computes.
_LOOK_SECONDS = 0.01
#: How long a process has to stop by itself before it is killed.
_STOP_SECONDS = 0.1

#: What a process does with its end of the pipe, until that ends: ``gradwire_service.worker.serve``.
Serve: TypeAlias = Callable[["Connection[Any, Any]", Settings, bool], None]


class Hand:
    """One process, and the pipe to it. Only for one thread at a time."""

    def __init__(self, serve: Serve, settings: Settings, *, apart: bool) -> None:
        self._connection, theirs = _FORKING.Pipe()
        #: Whether it owes an answer: what comes next through the pipe is that of another request.
        self._owes = False
        with theirs:
            self._process = _FORKING.Process(
                target=serve, args=(theirs, settings, apart), name="gradwire", daemon=True
            )
            self._process.start()

    @property
    def alive(self) -> bool:
        return self._process.is_alive()

    @property
    def ready(self) -> bool:
        """Whether it may be asked."""
        return not self._owes and self.alive

    def compute(self, asked: Asked, find: Find) -> Computed:
        """Have a request answered.

        Raises: ``Told``; ``DeadlineExceeded`` when its time is over, or its client gone; where the
        process ended, ``MemoryError`` if the system killed it, else ``RuntimeError``.
        """
        self._owes = True
        try:
            self._connection.send(asked)
            while True:
                try:
                    self._wait(asked.deadline)
                except DeadlineExceeded:
                    self._stop()
                    raise
                message = self._receive()
                if isinstance(message, Lookup):
                    self._connection.send(find(*message))
                elif isinstance(message, Learned):
                    asked.deadline.allow(message.allowed_ms)
                    asked.deadline.held_bytes = message.held_bytes
                elif isinstance(message, Failed):
                    raise Told(message.problem, message.trace)
                else:
                    assert isinstance(message, Computed)
                    return message
        except (EOFError, OSError) as error:
            self._process.join()
            status = self._process.exitcode
            kind = MemoryError if status == -signal.SIGKILL else RuntimeError
            raise kind(f"a process that computed ended with status {status}") from error

    def _receive(self) -> Any:
        """What the process says next."""
        message = self._connection.recv()
        if isinstance(message, Computed | Failed):
            self._owes = False
        return message

    def _wait(self, deadline: Deadline) -> None:
        """Until the process has said something."""
        while not self._connection.poll(_LOOK_SECONDS):
            deadline()

    def hold_up(self, held: bool) -> None:
        """Let the process stand still, or go on, wherever it is."""
        self._signal(signal.SIGSTOP if held else signal.SIGCONT)

    def close(self) -> None:
        """End the process."""
        self._connection.close()
        self._process.kill()
        self._process.join()

    def _stop(self) -> None:
        """Have the process stop what it does, and kill it if it cannot."""
        self._signal(STOP)
        end = monotonic() + _STOP_SECONDS
        try:
            while (left := end - monotonic()) > 0 and self._connection.poll(left):
                message = self._receive()
                if not self._owes:
                    return
                if isinstance(message, Lookup):
                    self._connection.send(None)
        except (EOFError, OSError):
            pass  # it has ended
        self.close()

    def _signal(self, number: int) -> None:
        assert self._process.pid is not None
        if self.alive:
            with suppress(ProcessLookupError):  # which has ended since
                os.kill(self._process.pid, number)


class NoFolder(NotStarted):
    """Processes need a folder for temporary files, and there is none."""


class Farm:
    """As many processes as are begun at once, of which some are kept; ``queue`` leads to them.

    Raises: ``NoFolder``.
    """

    def __init__(self, serve: Serve, settings: Settings, queue: Queue, *, apart: bool) -> None:
        try:
            gettempdir()
        except FileNotFoundError as error:
            raise NoFolder(
                "GRADWIRE_PROCESSES is set, and processes are reached by a socket in a folder for "
                f"temporary files: {error.strerror}; mount one at /tmp, or name one by TMPDIR"
            ) from None
        self.queue = queue
        self._serve = serve
        # What computes needs neither the store nor the keys.
        self._settings = settings.model_copy(update={"store": "memory:", "keys": None})
        self._apart = apart
        count = self._count = settings.processes + 1  # for who goes first while all are held up
        self._lock = threading.Lock()
        self._idle = [self._hand() for _ in range(count)]

    def lend(self) -> Lent:
        """A process for one request, taken when it is begun."""
        return Lent(self)

    def close(self) -> None:
        """End all processes; what they were lent for has ended."""
        with self._lock:
            idle, self._idle = self._idle, []
        for hand in idle:
            hand.close()

    def take(self) -> Hand:
        """A process; a new one where none is idle."""
        with self._lock:
            while self._idle:
                hand = self._idle.pop()
                if hand.ready:
                    return hand
        return self._hand()

    def give_back(self, hand: Hand) -> None:
        """Have a process wait for the next request, or end it where there are enough.

        One that was left within a request, since what it asked for could not be found, ends too.
        """
        with self._lock:
            if hand.ready and len(self._idle) < self._count:
                self._idle.append(hand)
                return
        hand.close()

    def _hand(self) -> Hand:
        return Hand(self._serve, self._settings, apart=self._apart)


class Lent:
    """A process for the time of one request."""

    def __init__(self, farm: Farm) -> None:
        self._farm = farm
        self._hand: Hand | None = None

    def compute(self, asked: Asked, find: Find) -> Computed:
        """As ``Hand.compute``, by a process that is taken for it."""
        hand = self._hand = self._farm.take()
        try:
            return hand.compute(asked, find)
        finally:
            self._hand = None
            self._farm.give_back(hand)

    def hold_up(self, held: bool) -> None:
        """Let the process stand still while others go first."""
        if self._hand is not None:
            self._hand.hold_up(held)
