"""Gradwire's engine: record, differentiate, optimise and replay programs that clients send."""

from gradwire_engine import errors
from gradwire_engine.answer import Answer, Leaf, Limits, Notice, Query, Shard, Unconnected
from gradwire_engine.catalogue import catalogue
from gradwire_engine.engine import Engine
from gradwire_engine.ops.composites import Composite, Ragged, Sparse
from gradwire_engine.program import Program
from gradwire_engine.queries import Call, Recording

__all__ = [
    "Answer",
    "Call",
    "Composite",
    "Engine",
    "Leaf",
    "Limits",
    "Notice",
    "Program",
    "Query",
    "Ragged",
    "Recording",
    "Shard",
    "Sparse",
    "Unconnected",
    "catalogue",
    "errors",
]
