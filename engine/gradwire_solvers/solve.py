"""Runs an optimisation: its method from the start, or from a checkpoint, to its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple, Protocol

from gradwire_engine.answer import Array, Notice, Poll, Unconnected
from gradwire_engine.errors import DomainError, InputError, InternalError, Place
from gradwire_engine.polling import no_deadline

from gradwire_solvers.checkpoint import Checkpoint, Evaluations
from gradwire_solvers.ending import Ending
from gradwire_solvers.local import LocalProblem, local
from gradwire_solvers.objective import Objective
from gradwire_solvers.progress import Clock, Monitor, Report, Stopped
from gradwire_solvers.specification import Specification


class Solution(NamedTuple):
    """The end of a run, and how it came there.

    ``solution`` has the structure of the sources; ``value`` is a number, or of a root the residuals
    in the structure of the target. ``gradient_norm`` is the gradient's largest element.
    """

    solution: Any
    value: Any
    gradient_norm: float
    iterations: int
    evaluations: Evaluations
    success: bool
    message: str
    history: Mapping[str, Array]
    warnings: Sequence[Notice]
    unconnected: Mapping[str, Unconnected]


class Run(Protocol):
    """A run of one method."""

    def run(self) -> Ending:
        """Run the method to its end."""
        ...


def solve(
    objective: Objective,
    given: Specification,
    *,
    clock: Clock,
    resume: Checkpoint | None = None,
    report: Report = lambda progress, checkpoint: None,
    poll: Poll = no_deadline,
) -> Solution:
    """Run what is specified on an objective, from its start or from where ``resume`` was.

    A run that cannot go on, or that its time ends, ends at its best point, without success.
    ``report`` hears of every iteration. ``poll`` is called before each evaluation, and may end it
    all by raising; so may ``report``.

    Raises: ``InputError`` for what does not fit the objective, ``DomainError`` where the start is
    not finite, ``DerivativeError`` where no source matters, and what evaluations do.
    """
    if resume is not None and resume.x.size != objective.layout.size:
        detail = f"a checkpoint of {resume.x.size} elements, of {objective.layout.size} sources"
        raise InternalError(detail)
    if not given.takes.repeats and isinstance(objective, LocalProblem) and objective.exact:
        detail = f"{given.method} has no exact runs: its equal runs may differ"
        hint = "trust-ncg, trust-exact and dogleg have the same bits"
        raise InputError(detail, at=Place(pointer="/exact"), hint=hint)
    monitor = Monitor(
        report,
        clock,
        poll,
        given.max_seconds,
        resume,
        # Steps of trust-constr may lie outside of constraints and of bounds.
        keeps_least=given.method != "trust-constr"
        and not given.constraints
        and given.minibatch is None,
    )
    make = _method(given)
    try:
        ending = make(objective, given, monitor, resume).run()
        if not (isfinite(ending.value) and isfinite(ending.gradient_norm)):
            raise Stopped(f"the method ended where a value is not finite: {ending.message}")
        if not ending.success and monitor.has_better(ending.value):
            raise Stopped(ending.message)
    except (Stopped, DomainError) as error:
        if monitor.best is None:
            raise
        best, message = monitor.best, str(error)
        ending = Ending(best.x, best.value, best.gradient_norm, False, message)
    value: Any = ending.value
    if given.kind == "root":
        problem = local(objective, "/method")
        value = problem.nested(problem.residuals(ending.x))
    return Solution(
        objective.layout.unpack(ending.x),
        value,
        ending.gradient_norm,
        monitor.iterations,
        monitor.evaluations,
        ending.success,
        " ".join(ending.message.split()),
        monitor.history.columns(),
        monitor.notes.warnings,
        monitor.notes.unconnected,
    )


def _method(given: Specification) -> Callable[..., Run]:
    """The class of the method: what SciPy's need is imported by the process that runs one."""
    if given.kind == "root":
        from gradwire_solvers.roots import Root

        return Root
    if given.takes.divided:
        from gradwire_solvers.levenberg_marquardt import LevenbergMarquardt

        return LevenbergMarquardt
    if given.kind == "least_squares":
        from gradwire_solvers.squares import LeastSquares

        return LeastSquares
    if given.takes.first_order:
        from gradwire_solvers.first_order import Descent

        return Descent
    from gradwire_solvers.minimizing import Minimization

    return Minimization
