"""What ``gradwire.tf`` and other front ends of the SDK are made of: public, for them alone.

A front end records what its own arrays go through as terms, writes them as a program, and asks the
default client. Terms are nodes of a graph: ``Leaf`` has a value, ``Term`` an operation, and a
``Body`` is a function of a ``Scope`` of its own.
"""

from gradwire.defaults import default_address, default_client
from gradwire.exchange import HOME
from gradwire.hidden import check_hides_nothing, plain
from gradwire.tracing.literals import call_arguments
from gradwire.tracing.printing import printed
from gradwire.tracing.terms import (
    CALL,
    ITEM,
    NOTHING,
    VALUE,
    Body,
    Leaf,
    Place,
    Scope,
    Term,
    arguments_with,
    dependencies,
    replaced,
)
from gradwire.tracing.writing import Written, write
from gradwire.trees import default_factory, nested

__all__ = [
    "CALL",
    "HOME",
    "ITEM",
    "NOTHING",
    "VALUE",
    "Body",
    "Leaf",
    "Place",
    "Scope",
    "Term",
    "Written",
    "arguments_with",
    "call_arguments",
    "check_hides_nothing",
    "default_address",
    "default_client",
    "default_factory",
    "dependencies",
    "nested",
    "plain",
    "printed",
    "replaced",
    "write",
]
