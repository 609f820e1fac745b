"""Record a program: walk its nodes for the given input types and write what they compute on a tape.

Control flow is followed as the given values decide, and the tape is guarded with the decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradwire_engine.answer import Notice, Poll
from gradwire_engine.autodiff.paths import ancestors
from gradwire_engine.errors import (
    BadArgument,
    DtypeMismatch,
    EngineError,
    InvalidProgram,
    OverBudget,
    ShapeMismatch,
    UnknownName,
)
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.builder import Builder, Var, describe
from gradwire_engine.ops.constants import Assigned
from gradwire_engine.ops.indexing import FULL, GetItem
from gradwire_engine.ops.promotion import promoted
from gradwire_engine.program import RESULT, Block, Node, Program, Target, stored_names
from gradwire_engine.record import calls, indexing, statics
from gradwire_engine.record.concrete import Concrete
from gradwire_engine.record.language import LANGUAGE
from gradwire_engine.record.scope import MISSING, Closure, Derivative, Operation, Scope, State

#: Deepest nesting of calls of the program's own functions.
MAX_CALLS = 64


class Signal:
    """What a jump gives instead of a value: it ends the blocks around it."""

    __slots__ = ("kind", "value")

    def __init__(self, kind: str, value: Any = None) -> None:
        self.kind = kind
        self.value = value


class Recorder:
    """One recording. ``scope`` is where names are looked up at the moment."""

    def __init__(
        self,
        program: Program,
        b: Builder,
        variables: dict[str, Any],
        state: State,
        concrete: Concrete,
        poll: Poll,
    ) -> None:
        self.program = program
        self.b = b
        self.concrete = concrete
        self.poll = poll
        self.state = state
        self.variables = frozenset(variables)
        self._globals = variables
        self.scope = Scope()
        self.scope.names = variables
        self.warnings: list[Notice] = []
        #: The node at hand and the block it is in.
        self.node: Node
        self.nodes: Sequence[Node] = ()
        self._calls = 0
        self._handlers: dict[str, Callable[[Node, list[Any]], Any]] = {
            kind: getattr(self, f"_{kind}") for kind in _KINDS
        }

    def record(self, *, default: bool = True) -> Any:
        """Run the whole program; gives what it returns by default, if that is wanted."""
        try:
            signal = self._run(self.program.body)
            if signal is not None:
                return signal.value
            return self.named(self.program.output) if default else None
        except RecursionError:
            raise InvalidProgram("functions and control flow are nested too deeply") from None
        except EngineError as error:
            error.at = error.at or self.program.output_place
            raise

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

    def lookup(self, name: str) -> Any:
        """The value that ``name`` is bound to: assigned, a variable, a constant, a function."""
        value = self.scope.find(name)
        if value is not MISSING:
            return value
        constant = calls.constant(name)
        if constant is not MISSING:
            return constant
        if name in LANGUAGE or name in FUNCTIONS:
            return Operation(name)
        if name == RESULT:
            raise InvalidProgram("the program returns nothing: its last expression was never run")
        message = f"{_shown(name)} is neither a variable nor assigned before"
        raise UnknownName(message, hint=calls.suggestion(name, self._visible()))

    def _visible(self) -> Iterator[str]:
        """All names that may be read here."""
        scope: Scope | None = self.scope
        while scope is not None:
            yield from scope.names
            scope = scope.parent

    def integer(self, value: Any) -> int:
        """``value`` as an integer known from here on."""
        if isinstance(value, Var):
            if value.type.size == 1 and value.dtype.kind in "iub":
                return self.concrete.integer(value)
            hint = self._integer_hint(value)
            raise BadArgument(f"an integer is needed here, got {value.type}", hint=hint)
        if isinstance(value, int):
            return int(value)
        raise BadArgument(f"an integer is needed here, got {describe(value)}")

    def _integer_hint(self, value: Var) -> str | None:
        """Which variable to send as an integer, and how, where ``value`` is made of one alone."""
        owners, made_of = self.state.owners, ancestors(self.b, [value])
        variables = [self.b.vars[slot] for slot in made_of if slot in owners]
        if len(variables) != 1 or (value.type.size == 1 < variables[0].type.size):
            return None
        (variable,) = variables
        found = np.asarray(self.concrete.value(variable))
        whole = np.isfinite(found) & (found == np.rint(found))
        if variable.dtype.kind != "f" or not whole.all():
            return "make it one: int(round(x))" if value.type.size == 1 else "use astype"
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
        if isinstance(value, list | tuple | range):
            return value
        if isinstance(value, dict):
            return list(value.values())
        if isinstance(value, Var) and value.ndim:
            rest = (FULL,) * (value.ndim - 1)
            return [GetItem((i, *rest))(value) for i in range(value.shape[0])]
        raise BadArgument(f"cannot go through {describe(value)}")

    def operation(self, name: str, /, *args: Any, **named: Any) -> Any:
        """Record an operation as the registry has it."""
        return calls.operation(self, name, args, named)

    def apply(self, function: Any, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """Call a function that is a value."""
        if isinstance(function, Closure):
            return self._enter(function, args, named)
        if isinstance(function, Operation):
            return calls.call(self, function.name, args, named)
        if isinstance(function, Derivative):
            return calls.derivative(self, function, args, named)
        raise BadArgument(f"{describe(function)} cannot be called", hint="it is not a function")

    def bind(self, target: Target, value: Any) -> None:
        """Bind a name, or the names that a sequence is unpacked into."""
        if isinstance(target, str):
            if isinstance(value, float | complex):
                value = self.b.constant(value, weak=True)  # a value of its own: grad may ask for it
            self.scope.names[target] = value
            return
        items = self.iterate(value)
        if len(items) != len(target):
            raise BadArgument(f"{len(target)} names for {len(items)} items")
        for name, item in zip(target, items, strict=True):
            self.bind(name, item)

    # Running blocks

    def _run(self, block: Block) -> Signal | None:
        """Run all nodes; gives a signal where a jump ended it early, else None."""
        results: list[Any] = []
        self._step(block, results)
        return results[-1] if results and type(results[-1]) is Signal else None

    def _value(self, block: Block) -> Any:
        """Run all nodes; gives the last one's value."""
        results: list[Any] = []
        self._step(block, results)
        return results[-1]

    def _step(self, block: Block, results: list[Any]) -> None:
        handlers, b = self._handlers, self.b
        for node in block.nodes:
            b.origin = node.at
            self.node, self.nodes = node, block.nodes
            try:
                result = handlers[node.kind](node, results)
            except EngineError as error:
                if error.at is None:
                    error.at = self.program.place(node.at)
                raise
            results.append(result)
            if type(result) is Signal:
                return

    def _enter(self, function: Closure, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        self.poll()
        bound = _arguments(function, args, named)
        if self._calls >= MAX_CALLS:
            raise InvalidProgram(f"calls are nested more than {MAX_CALLS} deep", hint="use a loop")
        outer, self.scope = self.scope, Scope(function.scope, function.local)
        self._calls += 1
        try:
            for name, value in bound.items():
                self.bind(name, value)
            signal = self._run(function.body)
        finally:
            self.scope = outer
            self._calls -= 1
        return None if signal is None else signal.value

    # Nodes, by kind

    def _literal(self, node: Node, results: list[Any]) -> Any:
        return node.value

    def _load(self, node: Node, results: list[Any]) -> Any:
        name = node.value
        if "." in name and self.scope.find((path := name.split("."))[0]) is not MISSING:
            value = self.lookup(path[0])  # a variable that is called as a prefix is: F.T
            for part in path[1:]:
                value = calls.attribute(value, part)
            return value
        return self.lookup(name)

    def _store(self, node: Node, results: list[Any]) -> None:
        self.bind(node.value, results[node.args[0]])

    def _call(self, node: Node, results: list[Any]) -> Any:
        name, keywords = node.value
        args = [results[i] for i in node.args]
        if args and type(args[0]) is not Var and not keywords:
            if statics.computes(name, args):
                return statics.compute(name, args)
            if name == "add" and _are_lists(args):
                self.check_length(args[0], args[1])
                return args[0] + args[1]
        if name.partition(".")[0] in self.variables and self._is_text(node):
            return calls.call_shadowed(self, node, args)
        if not keywords:
            return calls.call(self, name, args, _NO_KEYWORDS)
        split = len(args) - len(keywords)
        named = dict(zip(keywords, args[split:], strict=True))
        return calls.call(self, name, args[:split], named)

    def _is_text(self, node: Node) -> bool:
        return isinstance(self.program.positions[node.at], tuple)

    def _apply(self, node: Node, results: list[Any]) -> Any:
        function, *args = [results[i] for i in node.args]
        split = len(args) - len(node.value)
        return self.apply(function, args[:split], dict(zip(node.value, args[split:], strict=True)))

    def _method(self, node: Node, results: list[Any]) -> Any:
        target, *args = [results[i] for i in node.args]
        name, keywords = node.value
        if name == "append" and isinstance(target, list):
            return self._append(self.nodes[node.args[0]], target, args)
        split = len(args) - len(keywords)
        named = dict(zip(keywords, args[split:], strict=True))
        return calls.method(self, target, name, args[:split], named)

    def _append(self, owner: Node, items: list[Any], args: Sequence[Any]) -> None:
        """Rebind the name of a list to a longer one: an alias keeps the old."""
        if owner.kind != "load" or len(args) != 1:
            raise BadArgument("append takes one value, to a list that has a name")
        self.check_length(items)
        self.scope.rebind(owner.value, [*items, args[0]])

    def _attribute(self, node: Node, results: list[Any]) -> Any:
        return calls.attribute(results[node.args[0]], node.value)

    def _index(self, node: Node, results: list[Any]) -> Any:
        target, *items = [results[i] for i in node.args]
        return indexing.read(self, target, items)

    def _slice(self, node: Node, results: list[Any]) -> slice:
        return slice(*[results[i] for i in node.args])

    def _list(self, node: Node, results: list[Any]) -> list[Any]:
        return [results[i] for i in node.args]

    def _tuple(self, node: Node, results: list[Any]) -> tuple[Any, ...]:
        return tuple([results[i] for i in node.args])

    def _dict(self, node: Node, results: list[Any]) -> dict[str, Any]:
        return {key: results[i] for key, i in zip(node.value, node.args, strict=True)}

    def _and(self, node: Node, results: list[Any]) -> Any:
        left = results[node.args[0]]
        return self._value(node.blocks[0]) if self.truth(left) else left

    def _or(self, node: Node, results: list[Any]) -> Any:
        left = results[node.args[0]]
        return left if self.truth(left) else self._value(node.blocks[0])

    def _choose(self, node: Node, results: list[Any]) -> Any:
        return self._value(node.blocks[0 if self.truth(results[node.args[0]]) else 1])

    def _function(self, node: Node, results: list[Any]) -> Closure:
        defaults = tuple([results[i] for i in node.args])
        (body,) = node.blocks
        local = frozenset(node.value) | stored_names(body)
        return Closure(node.value, defaults, body, self.scope, local)

    def _comprehension(self, node: Node, results: list[Any]) -> list[Any]:
        *conditions, element = node.blocks
        outer, self.scope = self.scope, Scope(self.scope)
        made: list[Any] = []
        try:
            for item in self.iterate(results[node.args[0]]):
                self.poll()
                self.bind(node.value, item)
                if all(self.truth(self._value(condition)) for condition in conditions):
                    made.append(self._value(element))
                    self.check_length(made)
        finally:
            self.scope = outer
        return made

    def check_length(self, *parts: Sequence[Any]) -> None:
        """Refuse lists longer than any tape may be."""
        if any(len(part) > self.b.limits.instructions for part in parts):
            raise OverBudget(f"a list grew beyond {self.b.limits.instructions} items")

    def _if(self, node: Node, results: list[Any]) -> Any:
        return self._run(node.blocks[0 if self.truth(results[node.args[0]]) else 1])

    def _while(self, node: Node, results: list[Any]) -> Any:
        condition, body, otherwise = node.blocks

        def passes() -> Iterator[None]:
            while self.truth(self._value(condition)):
                yield

        return self._loop(passes(), body, otherwise)

    def _for(self, node: Node, results: list[Any]) -> Any:
        body, otherwise = node.blocks

        def passes() -> Iterator[None]:
            for item in self.iterate(results[node.args[0]]):
                self.bind(node.value, item)
                yield

        return self._loop(passes(), body, otherwise)

    def _loop(self, passes: Iterator[None], body: Block, otherwise: Block) -> Any:
        for _ in passes:
            self.poll()
            signal = self._run(body)
            if signal is not None and signal.kind == "break":
                return None
            if signal is not None and signal.kind == "return":
                return signal
        return self._run(otherwise)

    def _setitem(self, node: Node, results: list[Any]) -> None:
        value, *items = [results[i] for i in node.args]
        old = self.lookup(node.value)
        new = indexing.write(self, old, items, value)
        if isinstance(old, Var) and self.state.is_at(old, self._globals, node.value):
            self.assign(old, new)
        else:
            self.scope.rebind(node.value, new)

    def assign(self, old: Var, value: Any) -> Var:
        """Give the variable that ``old`` is a value of a new one: a fresh leaf."""
        new = self.b.array(value)
        if new.shape != old.shape:
            raise ShapeMismatch(f"the variable has shape {old.shape}, the value {new.shape}")
        if new.dtype != old.dtype and new.type.weak:
            kinds = ((old.dtype, False), (new.dtype, True))
            new = self.b.cast(new, promoted(kinds)[0])
        if new.dtype != old.dtype:
            message = f"the variable is {old.dtype.name}, the value {new.dtype.name}"
            raise DtypeMismatch(message, hint="convert the value with astype")
        new = Assigned()(new)
        self.state.assign(old, new)
        return new

    def _return(self, node: Node, results: list[Any]) -> Signal:
        return Signal("return", results[node.args[0]])

    def _break(self, node: Node, results: list[Any]) -> Signal:
        return Signal("break")

    def _continue(self, node: Node, results: list[Any]) -> Signal:
        return Signal("continue")


_KINDS = (
    "literal load store call apply method attribute index slice list tuple dict and or choose "
    "function comprehension if while for setitem return break continue"
).split()
_NO_KEYWORDS: dict[str, Any] = {}


def _are_lists(args: Sequence[Any]) -> bool:
    return len(args) == 2 and type(args[0]) is type(args[1]) and isinstance(args[0], list | tuple)


def _arguments(function: Closure, args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    parameters, defaults = function.parameters, function.defaults
    if len(args) > len(parameters):
        raise BadArgument(f"the function takes {len(parameters)} arguments, got {len(args)}")
    bound = dict(zip(parameters, args, strict=False))
    for name, value in named.items():
        if name not in parameters or name in bound:
            raise BadArgument(f"unexpected or repeated argument {_shown(name)}")
        bound[name] = value
    optional = parameters[len(parameters) - len(defaults) :]
    for name, value in zip(optional, defaults, strict=True):
        bound.setdefault(name, value)
    missing = [name for name in parameters if name not in bound]
    if missing:
        raise BadArgument(f"missing argument {_shown(missing[0])}")
    return bound


def _shown(name: str) -> str:
    return f"'{name[:40]}'"
