"""Value and gradient by Gradwire, by hand and by other tools: one page of ratios."""

from peers.rounds import report

__all__ = ["report"]
