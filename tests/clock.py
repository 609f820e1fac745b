"""Time that tests move: no test waits for it, and none depends on how fast a machine is."""

import asyncio
import selectors
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, TypeVar, TypeVarTuple, Unpack

Given = TypeVarTuple("Given")
Returned = TypeVar("Returned")


class Clock:
    """Seconds that pass when a test says so; called, it gives the time as ``monotonic`` does."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        """Let some time pass."""
        self.now += seconds


class _Selector(selectors.DefaultSelector):
    """Moves a clock instead of waiting, while nothing but timers is waited for."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock
        #: Calls in threads that have not returned: time stands still for them.
        self.threads = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        if self.threads:
            return super().select(None)
        if not (ready := super().select(0)):
            self.clock.advance(timeout)
        return ready


class ClockLoop(asyncio.SelectorEventLoop):
    """An event loop on a ``Clock``: when all tasks wait for timers, the next timer is due at once.

    For tests of one process: time would pass before another process has had any.
    Use it for the async tests of a module by a fixture::

        @pytest.fixture
        def anyio_backend():
            return "asyncio", {"loop_factory": ClockLoop}
    """

    def __init__(self) -> None:
        self.clock = Clock()
        self._clock_selector = _Selector(self.clock)
        super().__init__(self._clock_selector)

    def time(self) -> float:
        return self.clock()

    def run_in_executor(
        self,
        executor: Executor | None,
        func: Callable[[Unpack[Given]], Returned],
        *args: *Given,
    ) -> asyncio.Future[Returned]:
        call = super().run_in_executor(executor, func, *args)
        self._clock_selector.threads += 1
        call.add_done_callback(self._returned)
        return call

    def _returned(self, _: asyncio.Future[Any]) -> None:
        self._clock_selector.threads -= 1


def loop_clock() -> Clock:
    """The clock of the ``ClockLoop`` that runs."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, ClockLoop)
    return loop.clock
