"""A circuit breaker: calls do not wait for a server that does not answer."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from time import monotonic

from gradwire_service.store.interface import Unavailable

logger = logging.getLogger("gradwire")

#: Between two probes of a server that does not answer.
_PROBE_SECONDS = 0.25
#: The same failure is not logged again for this long.
_QUIET_SECONDS = 10.0


class CircuitBreaker:
    """Closed, it lets calls through. Opened by one that failed, it refuses all of them at once.

    While it is open, a thread of its own probes the server and closes it as soon as that answers.
    """

    def __init__(
        self,
        name: str,
        probe: Callable[[], str | None],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """``probe`` returns how the server fails, or None if it answers."""
        self._name = name
        self._probe = probe
        self._clock = clock
        self._lock = threading.Lock()
        self._failure: str | None = None
        self._logged: tuple[str, float] = "", 0.0
        self._closed = threading.Event()
        self._prober: threading.Thread | None = None

    def check(self) -> None:
        """Let a call through.

        Raises: ``Unavailable`` while it is open.
        """
        failure = self._failure
        if failure is not None:
            raise Unavailable(failure)

    def open(self, failure: str, detail: object) -> Unavailable:
        """Refuse calls until the server answers; returns the refusal of this one."""
        with self._lock:
            self.log(failure, detail)
            probed = self._failure is not None
            self._failure = failure
            if not probed and not self._closed.is_set():
                self._prober = threading.Thread(
                    target=self._await_answer, name="gradwire-store", daemon=True
                )
                self._prober.start()
        return Unavailable(failure)

    def log(self, failure: str, detail: object) -> None:
        """Log a failure, unless it was logged just now."""
        logged, since = self._logged
        now = self._clock()
        if logged != failure or now - since > _QUIET_SECONDS:
            logger.error("%s (%s): %s", failure, self._name, detail)
            self._logged = failure, now

    def close(self) -> None:
        """End the probes."""
        self._closed.set()
        if self._prober is not None:
            self._prober.join()

    def _await_answer(self) -> None:
        begun = self._clock()
        while (failure := self._probe()) is not None:
            self._failure = failure
            if self._closed.wait(_PROBE_SECONDS):
                return
        seconds = self._clock() - begun
        logger.warning("the store answers again (%s), after %.1f s", self._name, seconds)
        with self._lock:
            self._failure, self._logged = None, ("", 0.0)
