"""Handlers of each kind of node while recording: each takes the results before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from gradwire_engine.errors import BadArgument
from gradwire_engine.nesting import leaves, rebuild
from gradwire_engine.ops.builder import Var
from gradwire_engine.ops.constants import StopGradient
from gradwire_engine.program import Block, Node, stored_names
from gradwire_engine.record import calls, indexing, language, methods
from gradwire_engine.record.loops import Counter, Iterations
from gradwire_engine.record.scope import MISSING, Closure, Scope, Signal, Transformed
from gradwire_engine.record.statements import Comprehension, For, If, While
from gradwire_engine.record.transformations import define_vjp

if TYPE_CHECKING:
    from gradwire_engine.record.recording import Recording

_NO_KEYWORDS: dict[str, Any] = {}


def _load(r: Recording, node: Node, results: list[Any]) -> Any:
    name = node.value
    if "." in name and r.scope.find((path := name.split("."))[0]) is not MISSING:
        value = r.lookup(path[0])  # a variable that is called as a prefix is: F.T
        for part in path[1:]:
            value = methods.attribute(value, part)
        return value
    return r.lookup(name)


def _store(r: Recording, node: Node, results: list[Any]) -> None:
    r.bind(node.value, results[node.args[0]])


def _call(r: Recording, node: Node, results: list[Any]) -> Any:
    name, keywords = node.value
    args = [results[i] for i in node.args]
    if args and type(args[0]) is not Var and not keywords:
        if language.computes(name, args):
            return language.compute(name, args)
        if name == "add" and _are_lists(args):
            r.check_length(args[0], args[1])
            return args[0] + args[1]
        if name == "bitwise_or" and all(type(arg) is dict for arg in args):
            return args[0] | args[1]
    if (root := name.partition(".")[0]) in r.variables and _shadows(r, root, node):
        return methods.call_shadowed(r, name, *_given(r, args, keywords))
    if not keywords:
        before, result = len(r.b.vars), calls.call(r, name, args, _NO_KEYWORDS)
        if type(result) is Var and result.slot >= before and not calls.of_language(name):
            r.call_cache.learn(node.value, args, result)
        return result
    given, named = _given(r, args, keywords)
    return calls.call(r, name, given, named)


def _given(
    r: Recording, values: Sequence[Any], keywords: Sequence[str]
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call by position and by name, those with stars spread."""
    split = len(values) - len(keywords)
    args, named = [*values[:split]], dict(zip(keywords, values[split:], strict=True))
    if not any(keyword.startswith("*") for keyword in keywords):
        return args, named
    members = named.pop("**", {})
    if not isinstance(members, dict) or not named.keys().isdisjoint(members):
        raise BadArgument("two stars spread a dict whose members are no arguments already")
    stars = [key for key in keywords if key[0] == "*" and key[1:].isdecimal()]
    parts = [[arg] for arg in args]
    for key in sorted(stars, key=lambda key: int(key[1:])):
        parts.insert(int(key[1:]), r.items(named.pop(key)))
    return [item for part in parts for item in part], named | members


def _shadows(r: Recording, name: str, node: Node) -> bool:
    """True if a variable of this name is seen here, and the program is a text."""
    seen = r.scope.find(name) is not MISSING
    return seen and isinstance(r.program.positions[node.at], tuple)


def _apply(r: Recording, node: Node, results: list[Any]) -> Any:
    function, *values = [results[i] for i in node.args]
    if not node.value:
        return r.apply(function, values, _NO_KEYWORDS)
    return r.apply(function, *_given(r, values, node.value))


def _method(r: Recording, node: Node, results: list[Any]) -> Any:
    target, *args = [results[i] for i in node.args]
    name, keywords = node.value
    if name == "append" and isinstance(target, list):
        return _append(r, r.nodes[node.args[0]], target, args)
    if name == "defvjp" and isinstance(target, Transformed) and len(args) == 2:
        owner = r.nodes[node.args[0]]
        if owner.kind != "load":
            raise BadArgument("defvjp is of a function that has a name")
        return r.rebind(owner.value, define_vjp(target, *args))
    return methods.method(r, target, name, *_given(r, args, keywords))


def _append(r: Recording, owner: Node, items: list[Any], args: Sequence[Any]) -> None:
    """Rebind the name of a list to a longer one: an alias keeps the old."""
    if owner.kind != "load" or len(args) != 1:
        raise BadArgument("append takes one value, to a list that has a name")
    r.check_length(items)
    r.rebind(owner.value, [*items, args[0]])


def _attribute(r: Recording, node: Node, results: list[Any]) -> Any:
    return methods.attribute(results[node.args[0]], node.value)


def _index(r: Recording, node: Node, results: list[Any]) -> Any:
    target, *items = [results[i] for i in node.args]
    return indexing.read(r, target, items)


def _slice(r: Recording, node: Node, results: list[Any]) -> slice:
    return slice(*[results[i] for i in node.args])


def _list(r: Recording, node: Node, results: list[Any]) -> list[Any]:
    return [results[i] for i in node.args]


def _tuple(r: Recording, node: Node, results: list[Any]) -> tuple[Any, ...]:
    return tuple([results[i] for i in node.args])


def _dict(r: Recording, node: Node, results: list[Any]) -> dict[str, Any]:
    return {key: results[i] for key, i in zip(node.value, node.args, strict=True)}


def _and(r: Recording, node: Node, results: list[Any]) -> Any:
    left = results[node.args[0]]
    return r.value(node.blocks[0]) if r.truth(left) else left


def _or(r: Recording, node: Node, results: list[Any]) -> Any:
    left = results[node.args[0]]
    return left if r.truth(left) else r.value(node.blocks[0])


def _choose(r: Recording, node: Node, results: list[Any]) -> Any:
    condition = results[node.args[0]]
    if not _merges(r, condition):
        return r.value(node.blocks[0 if r.truth(condition) else 1])
    choice = If(r, condition, node.blocks, chooses=True)
    r.repeat(choice)
    return choice.chosen


def _merges(r: Recording, condition: Any) -> bool:
    """True if both branches of a decision are recorded."""
    return r.merges and isinstance(condition, Var) and not (r.b.regions or r.concrete.levels)


def _function(r: Recording, node: Node, results: list[Any]) -> Closure:
    defaults = tuple([results[i] for i in node.args])
    (body,) = node.blocks
    local = frozenset(node.value) | stored_names(body)
    return Closure(node.value, defaults, body, r.scope, local)


def _comprehension(r: Recording, node: Node, results: list[Any]) -> list[Any]:
    *conditions, element = node.blocks
    outer, r.scope = r.scope, Scope(r.scope)
    made: list[Any] = []
    try:
        items = r.iterate(results[node.args[0]])
        if not conditions:
            r.check_length(items)
            return cast("list[Any]", r.repeat(Comprehension(r, node.value, items, element))[1])
        for item in items:
            r.poll()
            r.bind(node.value, item)
            if all(r.truth(r.value(condition)) for condition in conditions):
                made.append(r.value(element))
                r.check_length(made)
    finally:
        r.scope = outer
    return made


def _if(r: Recording, node: Node, results: list[Any]) -> Any:
    condition = results[node.args[0]]
    if not _merges(r, condition):
        return r.run(node.blocks[0 if r.truth(condition) else 1])
    ending, value = r.repeat(If(r, condition, node.blocks))
    return None if ending in ("over", "on") else Signal(ending, value)


def _while(r: Recording, node: Node, results: list[Any]) -> Any:
    condition, body, otherwise = node.blocks
    return _loop(r, While(r, condition, body, otherwise), otherwise)


def _for(r: Recording, node: Node, results: list[Any]) -> Any:
    body, otherwise = node.blocks
    given = results[node.args[0]]
    items = given if isinstance(given, Counter) else r.iterate(given)
    return _loop(r, For(r, node.value, items, body, otherwise), otherwise)


def _loop(r: Recording, passes: Iterations, otherwise: Block) -> Any:
    ending, value = r.repeat(passes)
    if ending == "return":
        return Signal("return", value)
    return r.run(otherwise) if ending == "over" else None


def _stop_recording(r: Recording, node: Node, results: list[Any]) -> Signal | None:
    """Run a block on no tape but those within: what it computed is constant afterwards."""
    first, known = len(r.b.vars), dict[int, Var]()
    signal = r.run(node.blocks[0])
    r.state.paused.update(range(first, len(r.b.vars)))
    r.b.origin = node.at

    def fixed(value: Any) -> Any:
        if not isinstance(value, Var) or value.slot < first or value.slot in r.state.owners:
            return value
        if value.slot not in known:
            known[value.slot] = StopGradient()(value)
        return known[value.slot]

    scope: Scope | None = r.scope
    while scope is not None:
        for name, value in scope.names.items():
            if any(fixed(leaf) is not leaf for leaf in leaves(value)):
                scope.names[name] = rebuild(value, fixed)
        scope = scope.parent
    return signal and Signal(signal.kind, rebuild(signal.value, fixed))


def _setitem(r: Recording, node: Node, results: list[Any]) -> None:
    value, *items = [results[i] for i in node.args]
    old = r.lookup(node.value)
    new = indexing.write(r, old, items, value)
    if isinstance(old, Var) and r.state.is_at(old, r.globals, node.value):
        r.assign(old, new)
    else:
        r.rebind(node.value, new)


def _return(r: Recording, node: Node, results: list[Any]) -> Signal:
    return Signal("return", results[node.args[0]])


def _break(r: Recording, node: Node, results: list[Any]) -> Signal:
    return Signal("break")


def _continue(r: Recording, node: Node, results: list[Any]) -> Signal:
    return Signal("continue")


def _are_lists(args: Sequence[Any]) -> bool:
    return len(args) == 2 and type(args[0]) is type(args[1]) and isinstance(args[0], list | tuple)


HANDLERS: dict[str, Callable[[Recording, Node, list[Any]], Any]] = {
    "load": _load,
    "store": _store,
    "call": _call,
    "apply": _apply,
    "method": _method,
    "attribute": _attribute,
    "index": _index,
    "slice": _slice,
    "list": _list,
    "tuple": _tuple,
    "dict": _dict,
    "and": _and,
    "or": _or,
    "choose": _choose,
    "function": _function,
    "comprehension": _comprehension,
    "if": _if,
    "while": _while,
    "for": _for,
    "stop_recording": _stop_recording,
    "setitem": _setitem,
    "return": _return,
    "break": _break,
    "continue": _continue,
}
