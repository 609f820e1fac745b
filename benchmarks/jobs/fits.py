"""An optimisation in one request, beside SciPy in the client with a request for each evaluation."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from time import perf_counter, process_time
from typing import Any, NamedTuple, TypeAlias

import gradwire
import numpy as np
from measure import Figures, Row, compared, interleave
from peers import by_hand
from peers.by_hand import Array
from peers.workloads import LOGISTIC
from scipy.optimize import minimize
from servers import GRADWIRE, Server, running
from threadpoolctl import threadpool_limits

from jobs.latency import delayed

ITERATIONS = 200
LATENCY_MS = 20.0

_TITLE = "{} iterations of L-BFGS-B, logistic regression of {:,} x {} resident numbers"
#: Only the number of iterations ends a run.
_OPTIONS = {"maxiter": ITERATIONS, "maxfun": 100 * ITERATIONS, "ftol": 0.0, "gtol": 0.0}
#: The features' scales: in one scale, there would be nothing left to do after some 20 iterations.
_SCALES = 1.0, 100.0
#: Runs after which both sides have gone over to machine code.
_FIRST = 4
#: The longest that a service waits for a run by default, before it is a job.
_MOST_MS = 5000.0


class Outcome(NamedTuple):
    """The end of a run, which is the same whoever optimises."""

    iterations: int
    evaluations: int
    value: float


Solve: TypeAlias = Callable[[], Outcome]


class Observations:
    """Classes ``y`` of rows of ``x``, by features of different scales."""

    def __init__(self, rows: int, features: int) -> None:
        draw = np.random.default_rng(0)
        scales = np.geomspace(*_SCALES, features)
        plain = draw.normal(size=(rows, features))
        self.x = plain * scales
        self.y = np.sign(plain @ draw.normal(size=features) + 10.0 * draw.normal(size=rows))

    @property
    def start(self) -> Array:
        """The weights that all runs start from."""
        return np.zeros(self.x.shape[1])


class Here:
    """The function by a client: evaluated step by step, or optimised at once."""

    def __init__(self, client: gradwire.Client, of: Observations) -> None:
        self._client, self._start = client, of.start
        self._data = {"x": client.tensors.put(of.x), "y": client.tensors.put(of.y)}

    def at_once(self) -> Outcome:
        """One request for the whole optimisation."""
        found = self._client.minimize(
            LOGISTIC,
            {"w": self._start},
            variables=self._data,
            options=_OPTIONS,
            wait_ms=_MOST_MS,
            progress=False,
        )
        return Outcome(found.nit, found.nfev, found.fun)

    def step_by_step(self) -> Outcome:
        """SciPy in this process, and one request for each evaluation."""

        def asked(w: Array) -> tuple[float, Array]:
            found = self._client.gradient(LOGISTIC, {**self._data, "w": w}, sources="w")
            return float(found.value), found.gradients

        return _optimised(asked, self._start)


class Side:
    """One way to optimise: seconds, and seconds of CPU of client and server, of each round."""

    def __init__(self, solve: Solve, server: Server | None = None) -> None:
        self._solve, self._server = solve, server
        self.ms: Figures = []
        self.cpu_ms: Figures = []
        self.outcome: Outcome | None = None

    def round(self, _: int = 0) -> float:
        """One run, in milliseconds."""
        begin, cpu = perf_counter(), self._cpu_seconds()
        self.outcome = self._solve()
        self.ms.append(1e3 * (perf_counter() - begin))
        self.cpu_ms.append(1e3 * (self._cpu_seconds() - cpu))
        return self.ms[-1]

    def forget(self) -> None:
        """Forget the rounds until now."""
        self.ms, self.cpu_ms = [], []

    def _cpu_seconds(self) -> float:
        return process_time() + (0.0 if self._server is None else self._server.cpu_seconds())


def report(*, quick: bool) -> list[str]:
    """Over loopback and over a network's latency, after checking that all runs end alike."""
    of = Observations(10_000, 100)
    with running(GRADWIRE) as server, threadpool_limits(1):
        found = rows(server, of, 5 if quick else 31, 2 if quick else 9)
    return [compared(_TITLE.format(ITERATIONS, *of.x.shape), "step by step", found)]


def rows(server: Server, of: Observations, rounds: int, far_rounds: int) -> list[Row]:
    """The rows without and with latency, and those beside no service at all."""
    with ExitStack() as stack:
        proxy = stack.enter_context(delayed(server, LATENCY_MS))
        near, far = (
            Here(stack.enter_context(gradwire.Client(each.url)), of) for each in (server, proxy)
        )
        sides = [Side(near.at_once, server), Side(near.step_by_step, server), Side(_by_numpy(of))]
        far_sides = [Side(far.at_once), Side(far.step_by_step)]
        alternate(_FIRST, *sides)
        for side in sides:
            side.forget()
        alternate(rounds, *sides)
        alternate(far_rounds, *far_sides)
    outcomes = {side.outcome for side in [*sides[:2], *far_sides]}
    assert len(outcomes) == 1, outcomes
    at_once, step_by_step, alone = sides
    far_at_once, far_step_by_step = far_sides
    latency = f"{LATENCY_MS:g} ms of latency"
    return [
        Row.of("loopback", at_once.ms, step_by_step.ms, "ms", ratio_bar=1 / 3),
        Row.of(latency, far_at_once.ms, far_step_by_step.ms, "ms", ratio_bar=1 / 30),
        Row.of("CPU of client and server", at_once.cpu_ms, step_by_step.cpu_ms, "ms"),
        Row.of("CPU, beside SciPy and NumPy alone", at_once.cpu_ms, alone.cpu_ms, "ms"),
    ]


def alternate(rounds: int, *sides: Side) -> None:
    """Let all run in turn.

    Raises: ``AssertionError`` if one ends before its last iteration.
    """
    interleave(rounds, *(side.round for side in sides))
    for side in sides:
        assert side.outcome is not None
        assert side.outcome.iterations == ITERATIONS, side.outcome


def _by_numpy(of: Observations) -> Solve:
    """The same in this process, by the handwritten function."""
    return lambda: _optimised(lambda w: by_hand.logistic(of.x, of.y, w), of.start)


def _optimised(f: Callable[[Array], tuple[Any, Array]], start: Array) -> Outcome:
    found = minimize(f, start, jac=True, method="L-BFGS-B", options=_OPTIONS)
    return Outcome(found.nit, found.nfev, float(found.fun))
