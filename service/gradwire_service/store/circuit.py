"""What keeps callers from waiting for a server that does not answer."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from time import monotonic

from gradwire_service.store.records import Unavailable

logger = logging.getLogger("gradwire")

#: How long to wait between two looks whether the server answers again.
_PROBE_SECONDS = 0.25
#: How long the same trouble is not logged again.
_QUIET_SECONDS = 10.0


class Circuit:
    """Closed, it lets callers through. Once one has failed it is open, and refuses all at once.

    While it is open a thread of its own asks the server whether it answers again, so nobody else
    waits for it, and as soon as it does the circuit is closed.
    """

    def __init__(self, name: str, probe: Callable[[], str | None]) -> None:
        """``probe`` asks the server for a sign of life; gives the trouble that it has, if any."""
        self._name = name
        self._probe = probe
        self._lock = threading.Lock()
        self._trouble: str | None = None
        self._told: tuple[str, float] = "", 0.0
        self._ended = threading.Event()
        self._watch: threading.Thread | None = None

    def check(self) -> None:
        """Let a caller through.

        Raises: ``Unavailable`` where it is open.
        """
        trouble = self._trouble
        if trouble is not None:
            raise Unavailable(trouble)

    def open(self, trouble: str, detail: object) -> Unavailable:
        """Let nobody through until the server answers; gives how the caller is refused."""
        with self._lock:
            self.tell(trouble, detail)
            watched = self._trouble is not None
            self._trouble = trouble
            if not watched and not self._ended.is_set():
                self._watch = threading.Thread(
                    target=self._await_answer, name="gradwire-store", daemon=True
                )
                self._watch.start()
        return Unavailable(trouble)

    def tell(self, trouble: str, detail: object) -> None:
        """Log a trouble, unless the same was logged just now."""
        told, since = self._told
        now = monotonic()
        if told != trouble or now - since > _QUIET_SECONDS:
            logger.error("%s (%s): %s", trouble, self._name, detail)
            self._told = trouble, now

    def close(self) -> None:
        """Ask no longer."""
        self._ended.set()
        if self._watch is not None:
            self._watch.join()

    def _await_answer(self) -> None:
        begun = monotonic()
        while (trouble := self._probe()) is not None:
            self._trouble = trouble
            if self._ended.wait(_PROBE_SECONDS):
                return
        seconds = monotonic() - begun
        logger.warning("the store answers again (%s), after %.1f s", self._name, seconds)
        with self._lock:
            self._trouble, self._told = None, ("", 0.0)
