"""Explains a program: its tape after every pass, its cost and code, its values and adjoints.

All of it is plain data, for whoever shows it.
"""

from gradwire_engine.explain.listing import Line, Listing, Step, parameters
from gradwire_engine.explain.nodes import Node, Nodes
from gradwire_engine.explain.stages import Explanation, Kernel, explain
from gradwire_engine.explain.summaries import Summary
from gradwire_engine.explain.times import Clock, Times

__all__ = [
    "Clock",
    "Explanation",
    "Kernel",
    "Line",
    "Listing",
    "Node",
    "Nodes",
    "Step",
    "Summary",
    "Times",
    "explain",
    "parameters",
]
