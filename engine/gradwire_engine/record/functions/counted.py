"""Functions that values decide on, written in the prelude's files ``counted``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwire_engine.prelude import sources
from gradwire_engine.prelude.compiler import TRUE
from gradwire_engine.prelude.vocabulary import WORDS
from gradwire_engine.record.indexing import nonzero
from gradwire_engine.record.recorder import Recorder

#: What they have beside operations, given the recorder: decisions, and how many elements there are.
_DECIDING: dict[str, Callable[..., Any]] = {
    TRUE: lambda r, x: r.truth(x),
    "decided": lambda r, x: r.integer(x),
    "nonzero": nonzero,
}


def _meaning(name: str) -> Callable[..., Any]:
    """The meaning of a name: a recorder in place of a builder gets an operation, or a word."""
    word = WORDS.get(name)

    def call(r: Recorder, *args: Any, **named: Any) -> Any:
        return r.operation(name, *args, **named) if word is None else word(r.b, *args, **named)

    return _DECIDING.get(name, call)


#: By name, called as ``function(recorder, *args, **named)``; NumPy's without its prefix.
COUNTED: dict[str, Callable[..., Any]] = {
    f"{source.namespace}.{definition.name}".removeprefix("counted."): definition
    for source in sources("counted", _meaning)
    for definition in source.public
}
