"""The interface of a recording for the functions that it calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from gradwire_engine.answer import Notice, Poll
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.program import Block, Node, Program
from gradwire_engine.record.concrete import Concrete
from gradwire_engine.record.scope import Closure, Scope, State


class Recorder(Protocol):
    """A recording as functions see it: it calls others, and knows what is static."""

    #: The program, and the node that calls, among those of its block.
    program: Program
    node: Node
    nodes: Sequence[Node]
    #: The tape under construction, values of it, and the variables of the request.
    b: Builder
    concrete: Concrete
    state: State
    poll: Poll
    warnings: list[Notice]
    #: The number of calls of functions with checkpoints in progress.
    checkpoints: int
    #: Whether every pass of a loop is recorded by itself; bodies of which those have to be, and
    #: whether within another's; and the number of instructions recorded of paths through bodies.
    unroll: bool
    singly: set[tuple[Block, bool]]
    explored: int
    #: What passes that are recorded for stand-ins bound elsewhere, and what was there before.
    rebound: list[tuple[Scope, str, Any]]

    @property
    def libraries(self) -> tuple[bool, bool]:
        """True if the program has PyTorch's names, and True if it has another library's."""

    def operation(self, name: str, /, *args: Any, **named: Any) -> Any:
        """Record an operation as the registry has it."""

    def apply(self, function: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """Call a function that is a value."""

    def enter(self, function: Closure, bound: Mapping[str, Any]) -> Any:
        """Run a function whose parameters are bound to these values; gives what it returns."""

    def repeat(self, passes: Any) -> tuple[str, Any]:
        """Record all passes of a loop: how it ended, and what it returns or what each wrote."""

    def integer(self, value: Any) -> int:
        """``value`` as an integer known from here on."""

    def truth(self, value: Any) -> bool:
        """A decision on ``value``; on an array it is guarded."""

    def iterate(self, value: Any) -> Sequence[Any]:
        """The items that a loop over ``value`` takes: an array's are along its first axis."""

    def items(self, value: Any) -> list[Any]:
        """All items that a loop over ``value`` takes, no more than any tape could use."""

    def check_length(self, *parts: Sequence[Any]) -> None:
        """Refuse lists longer than any tape may be."""

    def feeds_loop(self) -> bool:
        """True if a loop goes through the present node's result, and nothing else reads it."""

    def lookup(self, name: str) -> Any:
        """The value that ``name`` is bound to: assigned, a variable, a constant, a function."""

    def rebind(self, name: str, value: Any, scope: Scope | None = None) -> None:
        """Bind a name where it is bound already, or in ``scope``."""

    def undo(self, mark: int) -> None:
        """Forget what was bound elsewhere since there were so many of ``rebound``."""

    def assign(self, old: Var, value: Any) -> Var:
        """Give the variable that ``old`` is a value of a new one: a fresh leaf."""

    def fitting(self, old: Var, value: Any) -> Var:
        """``value`` as it may take the place of ``old``, whose shape and dtype it must have."""
