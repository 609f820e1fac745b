"""Operations: one class each, in the file of its family."""

from gradwire_engine.ops import (
    arithmetic,
    comparison,
    complex,
    constants,
    conversion,
    reductions,
    selection,
    shape,
)

__all__ = [
    "arithmetic",
    "comparison",
    "complex",
    "constants",
    "conversion",
    "reductions",
    "selection",
    "shape",
]
