"""Explains NumPy's exceptions in the terms of a program."""

from __future__ import annotations

import numpy as np

from gradwire_engine.errors import BadArgument, DomainError, EngineError, OverBudget
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.boundaries import left_its_function


def explained(op: Op, error: Exception) -> EngineError | None:
    """The error of the program that made ``op`` fail, or None where it is a bug of ours."""
    if isinstance(error, np.linalg.LinAlgError):
        hint = "the matrix is singular: lstsq and pinv take it, or add a multiple of the identity"
        return DomainError(f"{op.name}: Input is not invertible.", hint=hint)
    if isinstance(error, IndexError):
        return BadArgument("an index is out of range")
    if isinstance(error, ValueError) and op.name == "power":
        hint = "convert one of them to a float"
        return DomainError("integers have no negative integer powers", hint=hint)
    if isinstance(error, ValueError) and op.name == "vmap_placeholder":
        return left_its_function()
    if isinstance(error, OverflowError):
        return BadArgument(f"{op.name} got an integer that is too large")
    if isinstance(error, MemoryError):
        return OverBudget(f"there is not enough memory for {op.name}")
    return None
