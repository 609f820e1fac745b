"""The graph of a program, as plain data: what is computed of what, and where control flow is."""

from gradwire_engine.dataflow.graph import Edge, Graph, Group, Vertex
from gradwire_engine.dataflow.reader import dataflow
from gradwire_engine.dataflow.types import annotate

__all__ = ["Edge", "Graph", "Group", "Vertex", "annotate", "dataflow"]
