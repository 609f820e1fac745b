"""First-order methods: steps along gradients, of all rows or of minibatches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from gradwire_engine.answer import Array
from gradwire_engine.errors import InputError, Place

from gradwire_solvers.checkpoint import Checkpoint
from gradwire_solvers.ending import Ending
from gradwire_solvers.local import local
from gradwire_solvers.objective import Objective
from gradwire_solvers.points import Point, check_connected, check_start, projected_norm
from gradwire_solvers.progress import Monitor, Stopped
from gradwire_solvers.schedules import schedule_of
from gradwire_solvers.specification import Minibatch, Specification

#: Iterations, and learning rates, where none are given.
_ITERATIONS = 1000
_RATES = {"sgd": 0.01, "momentum": 0.01, "adam": 0.001}


class Rule(Protocol):
    """A method's step, and what it keeps from one step to the next."""

    state: dict[str, Any]

    def change(self, gradient: Array, rate: float, step: int) -> Array:
        """The change that is added to the point; steps are counted from 0."""
        ...


class Sgd:
    """Gradient descent: ``−η g``."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self.state: dict[str, Any] = {}

    def change(self, gradient: Array, rate: float, step: int) -> Array:
        """``−η g``."""
        change: Array = -rate * gradient
        return change


class Momentum:
    """Gradient descent with momentum: ``v ← μ v − η g``, and ``v`` is added.

    Nesterov's adds ``μ v − η g`` of the new ``v``. Source: Sutskever et al., On the importance of
    initialization and momentum in deep learning (2013), as Keras has it.
    """

    def __init__(
        self, state: Mapping[str, Any], momentum: float = 0.9, nesterov: bool = False
    ) -> None:
        self.state = {"v": state.get("v", 0.0)}
        self._momentum, self._nesterov = momentum, nesterov

    def change(self, gradient: Array, rate: float, step: int) -> Array:
        """``v``, or with Nesterov's ``μ v − η g``."""
        velocity: Array = self._momentum * self.state["v"] - rate * gradient
        self.state["v"] = velocity
        return self._momentum * velocity - rate * gradient if self._nesterov else velocity


class Adam:
    """Adam: ``−η m̂ / (√v̂ + ε)``, for averages ``m`` of gradients and ``v`` of their squares.

    ``m̂ = m / (1 − β₁ᵗ)`` and ``v̂ = v / (1 − β₂ᵗ)``. Source: Kingma and Ba, Adam (2015),
    Algorithm 1.
    """

    def __init__(
        self,
        state: Mapping[str, Any],
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
    ) -> None:
        self.state = {"m": state.get("m", 0.0), "v": state.get("v", 0.0)}
        self._betas, self._epsilon = (beta1, beta2), epsilon

    def change(self, gradient: Array, rate: float, step: int) -> Array:
        """``−η m̂ / (√v̂ + ε)``."""
        (first, second), state = self._betas, self.state
        state["m"] = first * state["m"] + (1 - first) * gradient
        state["v"] = second * state["v"] + (1 - second) * gradient * gradient
        mean = state["m"] / (1 - first ** (step + 1))
        square = state["v"] / (1 - second ** (step + 1))
        change: Array = -rate * mean / (np.sqrt(square) + self._epsilon)
        return change


_RULES: Mapping[str, Callable[..., Rule]] = {"sgd": Sgd, "momentum": Momentum, "adam": Adam}
#: Options that every method has; the others are its rule's.
_COMMON = frozenset(("learning_rate", "warmup_steps", "maxiter", "gtol", "ftol"))


class Batches:
    """The objective of each step, of the next rows in an order that is drawn for the epoch.

    It depends on the seed and the epoch alone. An epoch's last batch has the rows left over.

    Raises: ``InputError`` for more rows than there are.
    """

    def __init__(self, objective: Objective, given: Minibatch) -> None:
        self._rows, self._of = local(objective, "/minibatch").minibatches(given.variables)
        if given.size > self._rows:
            detail = f"a minibatch of {given.size} rows cannot be taken from {self._rows}"
            raise InputError(detail, at=Place(pointer="/minibatch/size"))
        self._size, self._seed = given.size, given.seed
        self._each = -(-self._rows // self._size)
        self._epoch, self._order = -1, np.arange(0)

    def __call__(self, step: int) -> Objective:
        """The objective of a step, counted from 0."""
        epoch, number = divmod(step, self._each)
        if epoch != self._epoch:
            generator = np.random.default_rng([self._seed, epoch])
            self._epoch, self._order = epoch, generator.permutation(self._rows)
        return self._of(self._order[number * self._size : (number + 1) * self._size])


class Descent:
    """A run of a first-order method; one that goes on from a checkpoint makes the same steps."""

    def __init__(
        self,
        objective: Objective,
        given: Specification,
        monitor: Monitor,
        resume: Checkpoint | None,
    ) -> None:
        self._objective, self._monitor = objective, monitor
        self._x = objective.start if resume is None else resume.x
        options = given.options
        rate = options.get("learning_rate", _RATES[given.method])
        self._rate = schedule_of(rate, options.get("warmup_steps", 0))
        self._steps = monitor.most_iterations = options.get("maxiter", _ITERATIONS)
        self._gtol, self._ftol = options.get("gtol", given.tol), options.get("ftol")
        own = {name: value for name, value in options.items() if name not in _COMMON}
        self._rule = _RULES[given.method]({} if resume is None else resume.state, **own)
        self._limits = given.limits(objective.layout)
        self._batches = given.minibatch and Batches(objective, given.minibatch)

    def run(self) -> Ending:
        """Step from the start until a tolerance is reached, or all steps are done."""
        x, step = self._x, self._monitor.iterations
        whole = self._evaluated(self._objective, x)
        notes = self._objective.notes
        check_start(notes, *whole)
        check_connected(notes, self._objective.layout)
        self._monitor.begin(x, whole.value, self._norm(x, whole), notes)
        point = self._evaluated(self._batches(step), x) if self._batches else whole
        message = self._reached(x, point, None)
        while message is None and step < self._steps:
            with np.errstate(all="ignore"):
                x = x + self._rule.change(point.gradient, self._rate(step), step)
            if self._limits is not None:
                x = np.clip(x, *self._limits)
            step += 1
            before = None if self._batches else point.value
            objective = self._batches(step) if self._batches else self._objective
            point = self._evaluated(objective, x)
            if not np.isfinite(point.value):
                raise Stopped(f"the value became {point.value} in step {step}: try smaller steps")
            self._monitor.step(x, point.value, self._norm(x, point), self._rule.state)
            message = self._reached(x, point, before)
        if self._batches:
            point = self._evaluated(self._objective, x)
        tolerances = self._gtol is not None or self._ftol is not None
        success = message is not None or not tolerances
        if message is None:
            ending = "no tolerance is reached" if tolerances else "as no tolerance is given"
            message = f"all {self._steps} steps are done, {ending}"
        return Ending(x, point.value, self._norm(x, point), success, message)

    def _evaluated(self, objective: Objective, x: Array) -> Point:
        self._monitor.look()
        self._monitor.evaluations.value += 1
        self._monitor.evaluations.gradient += 1
        return Point(*objective.value_and_gradient(x))

    def _reached(self, x: Array, point: Point, before: float | None) -> str | None:
        """The tolerance that is reached here, if one is."""
        if self._gtol is not None and self._norm(x, point) <= self._gtol:
            return "the gradient is at most gtol"
        if self._ftol is not None and before is not None:
            size = max(abs(before), abs(point.value), 1.0)
            if abs(before - point.value) <= self._ftol * size:
                return "the value changed by at most ftol"
        return None

    def _norm(self, x: Array, point: Point) -> float:
        return projected_norm(x, point.gradient, self._limits)
