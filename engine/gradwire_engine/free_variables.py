"""The inputs of a program, as far as its text says: the names that are its variables."""

from __future__ import annotations

from collections.abc import Iterator

from gradwire_engine.program import RESULT, Block, Program, flat_names, output_names, stored_names
from gradwire_engine.record import calls
from gradwire_engine.record.scope import MISSING


def free_variables(program: Program) -> tuple[str, ...]:
    """The names that are read before they are assigned, in the order in which they are read.

    Constants are left out, and operations where functions are taken. A name that is assigned
    in some branch before it is read counts as assigned; of a nested variable there is the name
    alone.
    """
    stored = stored_names(program.body)
    free = dict.fromkeys(_free(program.body, set(), stored))
    free |= dict.fromkeys(name for name in output_names(program.output) if name not in stored)
    return tuple(name for name in free if name != RESULT and calls.constant(name) is MISSING)


def _free(block: Block, bound: set[str], later: frozenset[str]) -> Iterator[str]:
    """Names that ``block`` reads but has not in ``bound``, to which it adds what it assigns.

    Functions run when all that is around them may have been assigned, ``later`` too.
    """
    functions = {
        number
        for node in block.nodes
        if node.kind == "call" and calls.of_language(node.value[0]) is not None
        for number in node.args
    }
    for number, node in enumerate(block.nodes):
        kind, value = node.kind, node.value
        if kind == "load" and value not in bound:
            if number not in functions or not calls.is_operation(value):
                yield value
        elif kind == "setitem" and value not in bound:
            yield value
        elif kind in ("store", "for"):
            bound.update(flat_names(value))
        if kind == "function":
            local = later.union(value, *map(stored_names, node.blocks))
            for inner in node.blocks:
                yield from _free(inner, bound | local, local)
        elif kind == "comprehension":
            for inner in node.blocks:
                yield from _free(inner, bound.union(flat_names(value)), later)
        else:
            for inner in node.blocks:
                yield from _free(inner, bound, later)
