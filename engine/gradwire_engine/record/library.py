"""Functions that are programs: what the prelude has of them runs as the client's functions do.

All of it belongs to the node that calls it, so that errors and costs are of the client's text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from gradwire_engine.frontends.text import read_body
from gradwire_engine.prelude.source import Written, programs
from gradwire_engine.program import Block, Node, stored_names
from gradwire_engine.record.scope import Closure, Scope, Transformed
from gradwire_engine.record.words import WORDS

if TYPE_CHECKING:
    from gradwire_engine.record.recorder import Recorder

#: The namespace of functions without a prefix.
_OWN = "language"
#: The scope that all are defined in.
_SCOPE = Scope()


class Subroutine(Written):
    """A function whose text the recorder runs."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.__doc__ = self.doc

    def __call__(self, r: Recorder, *args: Any, **named: Any) -> Any:
        """Call it."""
        return r.apply(self.function, args, named)

    @cached_property
    def function(self) -> Transformed:
        """The function as a value."""
        return Transformed(self._run)

    def _run(self, r: Recorder, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        bound = self.__signature__.bind(r, *args, **named)
        bound.apply_defaults()
        given = {name: bound.arguments[name] for name in self._names}
        body = _placed(self.body, r.node.at)
        return r.enter(Closure(self._names, (), body, _SCOPE, self._local), given)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(self.__signature__.parameters)[1:]

    @cached_property
    def _local(self) -> frozenset[str]:
        return stored_names(self.body).union(self._names)

    @cached_property
    def body(self) -> Block:
        """What it does."""
        return read_body(self.definition, [*_SCOPE.names, *self._names])


@lru_cache(1024)
def _placed(block: Block, at: int) -> Block:
    """A block all of whose nodes are the node with number ``at``."""
    return Block(tuple([_at(node, at) for node in block.nodes]))


def _at(node: Node, at: int) -> Node:
    return node._replace(blocks=tuple([_placed(block, at) for block in node.blocks]), at=at)


SOURCES = programs(Subroutine)
_SCOPE.names |= WORDS
for _source in SOURCES:
    _SCOPE.names |= {name: private.function for name, private in _source.private.items()}
#: Called as ``function(recorder, *args, **named)``.
LIBRARY: dict[str, Callable[..., Any]] = {
    f"{source.namespace}.{made.name}".removeprefix(f"{_OWN}."): made
    for source in SOURCES
    for made in source.public
}
