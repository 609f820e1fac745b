"""Operations: one class each, in the file of its family."""

from gradwire_engine.ops import arithmetic, complex, constants

__all__ = ["arithmetic", "complex", "constants"]
