"""The one door for exceptions of Python's own that a program's values make it raise."""

from __future__ import annotations

from gradwire_engine.errors import BadArgument, EngineError, InvalidProgram, OverBudget

#: Python's and NumPy's errors for values that do not fit: not hashable, not comparable, too large.
#: Others (``AttributeError``, ``KeyError``) are no value's fault but ours, and stay what they are.
OF_VALUES = (TypeError, ValueError, ArithmeticError, MemoryError)


def typed(error: Exception) -> EngineError:
    """The error of the program that made Python raise ``error``."""
    if isinstance(error, RecursionError):
        return InvalidProgram("functions, control flow or lists are nested too deeply")
    if isinstance(error, MemoryError):
        return OverBudget("there is not enough memory for these values")
    return BadArgument(f"Python cannot compute with these values: {str(error)[:200]}")
