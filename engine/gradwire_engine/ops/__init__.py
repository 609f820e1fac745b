"""Operations: one class each, in the file of its family."""

from gradwire_engine.ops import arithmetic, comparison, complex, constants, selection

__all__ = ["arithmetic", "comparison", "complex", "constants", "selection"]
