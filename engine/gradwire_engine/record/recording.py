"""Record a program: walk its nodes for the given input types and write what they compute on a tape.

Control flow is followed as the given values decide, and the tape is guarded with the decisions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np

from gradwire_engine import hints
from gradwire_engine.answer import Notice, Poll
from gradwire_engine.errors import (
    BadArgument,
    DtypeMismatch,
    EngineError,
    InvalidProgram,
    OverBudget,
    ShapeMismatch,
    UnknownName,
)
from gradwire_engine.loops.loop import MustUnroll
from gradwire_engine.ops.axes import integer
from gradwire_engine.ops.builder import Builder, Var, describe
from gradwire_engine.ops.constants import Assigned
from gradwire_engine.ops.promotion import promoted
from gradwire_engine.polling import polled
from gradwire_engine.program import RESULT, Block, Node, Program, Target
from gradwire_engine.record import calls, loops, methods
from gradwire_engine.record.calls import CallCache
from gradwire_engine.record.concrete import Concrete
from gradwire_engine.record.language import CONSTANTS
from gradwire_engine.record.loops import Iterations
from gradwire_engine.record.nodes import HANDLERS
from gradwire_engine.record.scope import (
    MISSING,
    Closure,
    Operation,
    Scope,
    Signal,
    State,
    Transformed,
)
from gradwire_engine.tape import FLOATING
from gradwire_engine.traversal import ancestors

#: Deepest nesting of calls of the program's own functions.
MAX_CALLS = 64
#: Types of numbers that derivatives may be asked in.
_NUMBERS = (float, complex)


class Recording:
    """One recording. ``scope`` is where names are looked up at the moment."""

    def __init__(
        self,
        program: Program,
        b: Builder,
        variables: dict[str, Any],
        state: State,
        concrete: Concrete,
        poll: Poll,
        *,
        unroll: bool = False,
        merges: bool = False,
    ) -> None:
        self.program = program
        self.b = b
        self.call_cache = CallCache(b)
        self.concrete = concrete
        self.poll = poll
        self.state = state
        #: Whether every pass of a loop is recorded by itself.
        self.unroll = unroll
        #: Whether branches are recorded both, so that decisions need no recordings of their own.
        self.merges = merges and not unroll
        #: Bodies that could not be recorded for all passes, and whether within another's.
        self.singly: set[tuple[Block, bool]] = set()
        #: Instructions recorded of paths through bodies.
        self.explored = 0
        #: The number of calls of functions with checkpoints in progress.
        self.checkpoints = 0
        self.variables = frozenset(variables)
        self.globals = variables
        self.scope = Scope()
        self.scope.names = variables
        self.warnings: list[Notice] = []
        #: What passes that are recorded for stand-ins bound elsewhere, and what was there before.
        self.rebound: list[tuple[Scope, str, Any]] = []
        b.holds, b.warn = concrete.holds, self.warn
        #: The present node and the block it is in.
        self.node: Node
        self.nodes: Sequence[Node] = ()
        self._calls = 0

    def warn(self, code: str, detail: str, origin: int) -> None:
        """Warn once of what belongs to the instructions of an origin."""
        notice = Notice(code, detail, self.program.place(origin))
        if notice not in self.warnings:
            self.warnings.append(notice)

    def record(self, *, default: bool = True) -> Any:
        """Run the whole program; gives what it returns by default, if that is wanted."""
        try:
            signal = self.run(self.program.body)
            if signal is not None:
                return signal.value
            return self.named(self.program.output) if default else None
        except RecursionError as error:
            raise typed(error) from None
        except EngineError as error:
            error.at = error.at or self.program.output_place
            raise

    @contextmanager
    def resumed(self, values: Mapping[int, Any], poll: Poll) -> Iterator[None]:
        """Go on for another query with what was recorded, whose ``values`` are known meanwhile.

        What is recorded then is forgotten afterwards, and so are its warnings.
        """
        warnings, self.warnings = self.warnings, [*self.warnings]
        self.poll = self.b.poll = poll
        self.concrete.restart(dict(values))
        try:
            with self.b.aside():
                yield
        finally:
            self.warnings = warnings
            self.concrete.restart({})  # recorders are kept as long as what is compiled: no values

    def named(self, names: Any) -> Any:
        """Values bound to names nested in lists and dicts."""
        if isinstance(names, str):
            return self.lookup(names)
        if isinstance(names, dict):
            return {key: self.named(name) for key, name in names.items()}
        if isinstance(names, list | tuple):
            return [self.named(name) for name in names]
        raise InvalidProgram(
            "the program returns nothing", hint="end it with an expression, or ask for outputs"
        )

    @cached_property
    def libraries(self) -> tuple[bool, bool]:
        """True if the program has PyTorch's names, and True if it has another library's."""
        return methods.libraries(self.program, self.variables)

    def lookup(self, name: str) -> Any:
        """The value that ``name`` is bound to: assigned, a variable, a constant, a function."""
        value = self.scope.find(name)
        if value is not MISSING:
            return value
        constant = calls.constant(name)
        if constant is not MISSING:
            return constant
        if calls.is_operation(name):
            return Operation(name)
        if name == RESULT:
            raise InvalidProgram("the program returns nothing: its last expression was never run")
        hint = hints.for_name(name, self._visible()) or "send it in variables, or assign it first"
        raise UnknownName(f"'{name[:40]}' is not defined", hint=hint)

    def _visible(self) -> Iterator[str]:
        """All names that may be read here."""
        yield from ("True", "False", "None", *CONSTANTS)
        scope: Scope | None = self.scope
        while scope is not None:
            yield from scope.names
            scope = scope.parent

    def integer(self, value: Any) -> int:
        """``value`` as an integer known from here on."""
        if isinstance(value, Var):
            if value.type.size == 1 and value.dtype.kind in "iub":
                return integer(self.concrete.integer(value), "this")
            hint = self._integer_hint(value)
            raise BadArgument(f"an integer is needed here, got {value.type}", hint=hint)
        if not isinstance(value, int):
            raise BadArgument(f"an integer is needed here, got {describe(value)}")
        return integer(int(value), "this")

    def _integer_hint(self, value: Var) -> str | None:
        """The variable to send as an integer, and how, where ``value`` is made of one alone."""
        owners, made_of = self.state.owners, ancestors(self.b.instructions, [value.slot])
        variables = [self.b.vars[slot] for slot in made_of if slot in owners]
        if len(variables) != 1 or (value.type.size == 1 < variables[0].type.size):
            return None
        (variable,) = variables
        found = np.asarray(self.concrete.value(variable))
        whole = np.isfinite(found) & (found == np.rint(found))
        if variable.dtype.kind not in FLOATING or not whole.all():
            return "make it one: int(round(x))" if value.type.size == 1 else "use astype"
        if np.abs(found).max(initial=0) >= 2**63:
            return "integers have at most 64 bits"
        numbers = int(found.item()) if found.size == 1 else "[…]"
        leaf = f'{{"value": {numbers}, "dtype": "int64"}}'
        return f"JSON numbers are float64; send {owners[variable.slot][0]} as {leaf}"

    def truth(self, value: Any) -> bool:
        """A decision on ``value``; on an array it is guarded."""
        if isinstance(value, Var):
            return self.concrete.truth(value)
        return bool(value)

    def items(self, value: Any) -> list[Any]:
        """All items that a loop over ``value`` takes, no more than any tape could use."""
        items = self.iterate(value)
        self.check_length(items)
        return list(items)

    def iterate(self, value: Any) -> Sequence[Any]:
        """The items that a loop over ``value`` takes: an array's are along its first axis."""
        return loops.sequence(self, value)

    def feeds_loop(self) -> bool:
        """True if a loop goes through the present node's result, and nothing else reads it."""
        at = next(i for i, node in enumerate(self.nodes) if node is self.node)
        for i, node in enumerate(self.nodes[at + 1 :], at + 1):
            if at in node.args:
                if node.kind != "call" or node.value[0] not in ("zip", "enumerate"):
                    return node.kind in ("for", "comprehension")
                at = i
        return False

    def repeat(self, passes: Iterations) -> tuple[str, Any]:
        """Record all passes of a loop: how it ended, and what it returns or what each wrote."""
        return loops.run(self, passes)

    def operation(self, name: str, /, *args: Any, **named: Any) -> Any:
        """Record an operation as the registry has it."""
        return calls.operation(self, name, args, named)

    def apply(self, function: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """Call a function that is a value."""
        if isinstance(function, Operation):
            return calls.call(self, function.name, args, named)
        if not isinstance(function, Closure | Transformed):
            hint = "is a * missing? only functions are called"
            raise BadArgument(f"{describe(function)} cannot be called", hint=hint)
        self.poll()
        if self._calls >= MAX_CALLS:
            raise InvalidProgram(f"calls are nested more than {MAX_CALLS} deep", hint="use a loop")
        self._calls += 1
        before = self.node, self.nodes, self.b.origin
        try:
            if isinstance(function, Transformed):
                return function.call(self, args, named)
            bound = function.bound(args, named)
            for name, value in bound.items():
                if isinstance(value, _NUMBERS):
                    bound[name] = self._own(value)
            return self.enter(function, bound)
        finally:
            self._calls -= 1
            self.node, self.nodes, self.b.origin = before

    def bind(self, target: Target, value: Any) -> None:
        """Bind a name, or the names that a sequence is unpacked into."""
        if isinstance(target, str):
            self.scope.names[target] = self._own(value) if isinstance(value, _NUMBERS) else value
            return
        items = self.iterate(value)
        for i, name in enumerate(target):
            if isinstance(name, str) and name[0] == "*" and len(items) >= len(target) - 1:
                rest = len(items) - len(target) + 1
                every = list(items)
                items = [*every[:i], every[i : i + rest], *every[i + rest :]]
                target = (*target[:i], name[1:], *target[i + 1 :])
        if len(items) != len(target):
            raise BadArgument(f"{len(target)} names for {len(items)} items")
        for name, item in zip(target, items, strict=True):
            self.bind(name, item)

    def _own(self, number: complex) -> Var:
        """A number that a name is given as a value of its own: ``grad`` may ask for it."""
        return self.b.constant(number, weak=True)

    def rebind(self, name: str, value: Any, scope: Scope | None = None) -> None:
        """Bind a name where it is bound already, or in ``scope``."""
        scope = scope or self.scope.owner(name)
        if self.b.regions:
            self.rebound.append((scope, name, scope.names.get(name, MISSING)))
        scope.names[name] = value

    def undo(self, mark: int) -> None:
        """Forget what was bound elsewhere since there were so many of ``rebound``."""
        while len(self.rebound) > mark:
            scope, name, before = self.rebound.pop()
            scope.names[name] = before
            if before is MISSING:
                del scope.names[name]

    # Running blocks

    def run(self, block: Block) -> Signal | None:
        """Run all nodes; gives a signal where a jump ended it early, else None."""
        results: list[Any] = []
        self.step(block, results)
        return results[-1] if results and type(results[-1]) is Signal else None

    def value(self, block: Block) -> Any:
        """Run all nodes; gives the last one's value."""
        results: list[Any] = []
        self.step(block, results)
        return results[-1]

    def step(self, block: Block, results: list[Any], end: int | None = None) -> None:
        """Run the nodes of a block that have no results yet, up to the one of number ``end``."""
        b, bound, nodes, append = self.b, self.scope.names, block.nodes, results.append
        again = self.call_cache.again
        left = nodes if end is None and not results else nodes[len(results) : end]
        for node in polled(left, self.poll):
            kind, args, value, _, at = node
            if kind == "load" and value in bound:  # most nodes, without ceremony
                append(bound[value])
                continue
            if kind == "literal":
                append(value)
                continue
            if kind == "store" and type(value) is str and type(given := results[args[0]]) is Var:
                bound[value] = given
                append(None)
                continue
            b.origin = at
            try:
                result = again(value, args, results) if kind == "call" else None
                if result is None:
                    self.node, self.nodes = node, nodes
                    result = HANDLERS[kind](self, node, results)
            except EngineError as error:
                if error.at is None:
                    error.at = self.program.place(at)
                raise
            except OF_VALUES as error:
                refusal = typed(error)
                refusal.at = self.program.place(at)
                raise refusal from error
            append(result)
            if type(result) is Signal:
                return

    def enter(self, function: Closure, bound: Mapping[str, Any]) -> Any:
        """Run a function whose parameters are bound to these values; gives what it returns."""
        outer, self.scope = self.scope, Scope(function.scope, function.local)
        self.scope.names.update(bound)
        try:
            signal = self.run(function.body)
        finally:
            self.scope = outer
        return None if signal is None else signal.value

    def check_length(self, *parts: Sequence[Any]) -> None:
        """Refuse lists longer than any tape may be."""
        if any(len(part) > self.b.limits.instructions for part in parts):
            raise OverBudget(f"a list grew beyond {self.b.limits.instructions} items")

    def assign(self, old: Var, value: Any) -> Var:
        """Give the variable that ``old`` is a value of a new one: a fresh leaf."""
        if self.b.regions:
            raise MustUnroll("each pass assigns a leaf of its own")
        if self.concrete.levels:
            hint = "return the new value, and assign it outside"
            raise BadArgument("a function that vmap maps cannot assign to variables", hint=hint)
        new = Assigned()(self.fitting(old, value))
        self.state.assign(old, new)
        return new

    def fitting(self, old: Var, value: Any) -> Var:
        """``value`` as it may take the place of ``old``, whose shape and dtype it must have."""
        new = self.b.array(value)
        if not self.state.may_become(old, new):
            raise ShapeMismatch(f"the variable has shape {old.shape}, the value {new.shape}")
        if new.dtype != old.dtype and new.type.weak:
            kinds = ((old.dtype, False), (new.dtype, True))
            new = self.b.cast(new, promoted(kinds)[0])
        if new.dtype != old.dtype:
            message = f"the variable is {old.dtype.name}, the value {new.dtype.name}"
            raise DtypeMismatch(message, hint="convert the value with astype")
        return new


#: Python's and NumPy's errors for values that do not fit: not hashable, not comparable, too large.
#: Others (``AttributeError``, ``KeyError``) are no value's fault but ours, and stay what they are.
OF_VALUES = (TypeError, ValueError, ArithmeticError, MemoryError)


def typed(error: Exception) -> EngineError:
    """The error of the program that made Python raise ``error``."""
    if isinstance(error, RecursionError):
        return InvalidProgram("functions, control flow or lists are nested too deeply")
    if isinstance(error, MemoryError):
        return OverBudget("there is not enough memory for these values")
    return BadArgument(f"Python cannot compute with these values: {str(error)[:200]}")
