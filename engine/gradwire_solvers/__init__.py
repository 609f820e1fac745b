"""Optimisations: minima, least squares and roots of programs, run beside their data."""

from gradwire_solvers.checkpoint import Checkpoint, Evaluations
from gradwire_solvers.layout import Layout
from gradwire_solvers.local import LocalProblem
from gradwire_solvers.methods import METHODS, SolveKind, default_method
from gradwire_solvers.objective import Notes, Objective, Work
from gradwire_solvers.progress import Clock, Progress, Report
from gradwire_solvers.solve import Solution, solve
from gradwire_solvers.specification import Bound, Constraint, Minibatch, Specification

__all__ = [
    "METHODS",
    "Bound",
    "Checkpoint",
    "Clock",
    "Constraint",
    "Evaluations",
    "Layout",
    "LocalProblem",
    "Minibatch",
    "Notes",
    "Objective",
    "Progress",
    "Report",
    "Solution",
    "SolveKind",
    "Specification",
    "Work",
    "default_method",
    "solve",
]
