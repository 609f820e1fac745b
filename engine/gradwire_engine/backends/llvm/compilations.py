"""Executables that wait for machine code, and the thread that has it compiled.

Tenants take turns, and of one's executables the one goes first that has spent most on NumPy.
"""

from __future__ import annotations

import logging
import threading
from typing import Protocol
from weakref import ref

from gradwire_engine.backends.llvm.compiler import Postponed

logger = logging.getLogger("gradwire")


class Waiting(Protocol):
    """A kernel to be compiled."""

    @property
    def whose(self) -> str:
        """The tenant."""
        ...

    @property
    def spent(self) -> float:
        """Seconds of replays so far, as predicted."""
        ...

    def compile_kernels(self) -> None:
        """Have its kernels compiled.

        Raises: ``Postponed``, and what compiling raises.
        """
        ...


class Compilations:
    """Has compiled what is still there when its turn comes."""

    def __init__(self) -> None:
        #: By tenants, in the order of their turns.
        self._waiting: dict[str, list[ref[Waiting]]] = {}
        #: Tenants who have compiled as much as they may for now.
        self._held: set[str] = set()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def put(self, executable: Waiting) -> None:
        """Have one compiled."""
        with self._changed:
            self._waiting.setdefault(executable.whose, []).append(ref(executable))
            self._changed.notify()
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="compiler", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while True:
            executable = self._next()
            try:
                executable.compile_kernels()
            except Postponed as postponed:
                self._hold(executable.whose, postponed.seconds)
                self.put(executable)
            except Exception:
                logger.exception("a kernel could not be compiled; NumPy computes it until a retry")
            del executable

    def _next(self) -> Waiting:
        """Wait for the tenant whose turn it is; what of its executables goes first."""
        with self._changed:
            while True:
                for whose in [w for w in self._waiting if w not in self._held]:
                    alive = [e for each in self._waiting.pop(whose) if (e := each()) is not None]
                    if alive:
                        first = max(alive, key=lambda executable: executable.spent)
                        if len(alive) > 1:  # after all others' turns
                            self._waiting[whose] = [ref(e) for e in alive if e is not first]
                        return first
                self._changed.wait()

    def _hold(self, whose: str, seconds: float) -> None:
        with self._changed:
            self._held.add(whose)
        timer = threading.Timer(seconds, self._release, [whose])
        timer.daemon = True
        timer.start()

    def _release(self, whose: str) -> None:
        with self._changed:
            self._held.discard(whose)
            self._changed.notify()


COMPILATIONS = Compilations()
