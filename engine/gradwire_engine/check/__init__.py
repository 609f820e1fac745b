"""The checker: does what an operation or a program claims about types and derivatives hold?

Given a function that records on a builder, and sample arrays, it compares predicted with computed
types, tangents and cotangents with central differences, both with each other, and what is recorded
for many examples with each by itself; then the same for the gradient, to the order asked for.
"""

from gradwire_engine.check.derivatives import check, examine
from gradwire_engine.check.recordings import (
    Call,
    Finding,
    Recorded,
    Recording,
    evaluate,
    interpret,
    trace,
)

__all__ = [
    "Call",
    "Finding",
    "Recorded",
    "Recording",
    "check",
    "evaluate",
    "examine",
    "interpret",
    "trace",
]
