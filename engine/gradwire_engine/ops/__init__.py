"""Operations: one class each, in the file of its family."""

from gradwire_engine.ops import (
    activations,
    arithmetic,
    comparison,
    complex,
    constants,
    conversion,
    exponential,
    normalized,
    reductions,
    selection,
    shape,
    special,
    trigonometric,
)

__all__ = [
    "activations",
    "arithmetic",
    "comparison",
    "complex",
    "constants",
    "conversion",
    "exponential",
    "normalized",
    "reductions",
    "selection",
    "shape",
    "special",
    "trigonometric",
]
