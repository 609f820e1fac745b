"""A process that serves: one worker, stopped gracefully."""

from __future__ import annotations

import logging
import math
import os
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from time import monotonic
from types import FrameType
from typing import cast

import uvicorn
from threadpoolctl import threadpool_limits

from gradwire_service import __version__
from gradwire_service.access.exposure import exposure_warning, refuse_exposed
from gradwire_service.allocation import MAPPED_BY_FRONT_BYTES, keep_freed_memory
from gradwire_service.app import create_app
from gradwire_service.garbage import Collector
from gradwire_service.http.connection import HttpConnection
from gradwire_service.http.limiter import ConnectionLimiter
from gradwire_service.http.rlimit import allow_connections
from gradwire_service.scheduling import Capacity
from gradwire_service.settings import Settings
from gradwire_service.settings.environment import given
from gradwire_service.settings.errors import StartupError
from gradwire_service.settings.fit import excess
from gradwire_service.settings.own_store import is_named, own_store
from gradwire_service.settings.reading import needless, unknown_variables
from gradwire_service.settings.storage import redacted_address
from gradwire_service.telemetry import Log, logging_to
from gradwire_service.watchdog import Heartbeat

logger = logging.getLogger("gradwire")


class Server(uvicorn.Server):
    """On SIGTERM readiness drops at once; the process stops when nothing is in flight.

    It does the same when the service has failed. New work is still taken for a while, since the
    balancer in front learns of it only then; after that it is refused as ``draining``. A second
    signal stops the process at once.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        capacity: Capacity,
        drain_seconds: float,
        heartbeat: Heartbeat | None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        super().__init__(config)
        self._capacity = capacity
        self._drain_seconds = drain_seconds
        self._heartbeat = heartbeat
        self._clock = clock
        self._refuse_from = math.inf
        self._collector = Collector(clock)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to drain; uvicorn's own would end the process by the signal, not by 0."""
        if self._capacity.draining or sig == signal.SIGINT:
            self.should_exit = True
        self._capacity.draining = True
        self._refuse_from = self._clock() + self._drain_seconds

    async def on_tick(self, counter: int) -> bool:
        """Called ten times a second; true to stop now."""
        if self._heartbeat is not None:
            self._heartbeat.beat()
        self._collector.look()
        if self._capacity.draining:
            if self._refuse_from == math.inf:  # by itself: it has failed
                self._refuse_from = self._clock() + self._drain_seconds
            if self._clock() >= self._refuse_from:
                self._capacity.refusing = True
                self.should_exit |= self._capacity.in_flight == 0
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop the heartbeat, then shut down."""
        if self._heartbeat is not None:
            self._heartbeat.end()
        await super().shutdown(sockets)


def serve(settings: Settings, heartbeat: Heartbeat | None) -> int:
    """Serve until a signal says to stop (status 0), or the service has failed (status 1).

    Raises: ``StartupError``.
    """
    refuse_exposed(settings)
    with logging_to(sys.stderr, settings) as log:
        for unknown in unknown_variables(given(os.environ)):
            logger.warning("unknown setting in the environment: %s", unknown)
        _, why = own_store(os.environ)
        if settings.store == "memory:" and why and not is_named({}, os.environ):
            logger.warning("%s: what is stored is in memory, and lost at a restart", why)
        if names := needless(settings):
            logger.warning(
                "settings that the next version does not read are given: %s", ", ".join(names)
            )
        if (fault := excess(settings)) is not None:
            logger.warning("%s", fault)
        exposed = exposure_warning(settings)
        if exposed is not None:
            logger.warning("%s", exposed)
        return _serve(settings, log, heartbeat)


def _serve(settings: Settings, log: Log, heartbeat: Heartbeat | None) -> int:
    # Programs in the pool are Python too: let the event loop in five times sooner than usual.
    sys.setswitchinterval(0.001)
    threadpool_limits(settings.blas_threads)
    if settings.processes:
        keep_freed_memory(mapped_bytes=MAPPED_BY_FRONT_BYTES, in_one=True)
    else:
        keep_freed_memory()
    allow_connections(settings.max_connections)
    app = create_app(settings, log)
    keyring = app.state.keyring
    logger.info(
        "Gradwire %s: authentication %s, store %s",
        __version__,
        "off" if keyring is None else f"by API key ({len(keyring.keys)} keys)",
        redacted_address(settings.store),
    )
    limiter = ConnectionLimiter(settings, app.state.recorder)
    # To collect once before would take a quarter of a second and free next to nothing.
    Collector.begin()
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        workers=1,
        http=cast("type[HttpConnection]", partial(HttpConnection, limiter=limiter)),
        access_log=False,
        forwarded_allow_ips=list(settings.proxies),
        log_config=None,
        server_header=False,
        timeout_keep_alive=settings.keep_alive_seconds,
        timeout_graceful_shutdown=settings.max_timeout_ms // 1000 + 1,
        ws="none",
    )
    server = Server(config, app.state.capacity, settings.drain_seconds, heartbeat)
    try:
        server.run()
    except SystemExit:  # of uvicorn's, which has logged why
        if server.started:
            raise
        raise StartupError(
            f"could not start at {settings.host}:{settings.port}, for the reason above; choose "
            "another port with --port or GRADWIRE_PORT"
        ) from None
    return 1 if app.state.capacity.fault else 0
