"""Calculus inside programs: ``grad``, ``value_and_grad`` and ``jvp``, expanded while recording."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradwire_engine.answer import Notice
from gradwire_engine.autodiff.forward import pushforward
from gradwire_engine.autodiff.reverse import gradient
from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.builder import Var, check_nesting, describe
from gradwire_engine.ops.constants import Copy
from gradwire_engine.record.scope import Closure, Derivative, Operation
from gradwire_engine.tape import ArrayType

if TYPE_CHECKING:
    from gradwire_engine.record.recorder import Recorder


def grad(r: Recorder, y: Any, x: Any = None) -> Any:
    """Gradient of the sum of ``y`` in the values that ``x`` names, in ``x``'s structure.

    Of a function instead of a value: the function that gives its gradient in its first argument.
    """
    if isinstance(y, Closure | Operation | Derivative):
        return Derivative(y, with_value=False)
    _check_named(r, x)
    return gradients(r, y, x)


def value_and_grad(r: Recorder, y: Any, x: Any = None) -> Any:
    """``y`` and its gradient in ``x``, as a pair."""
    if isinstance(y, Closure | Operation | Derivative):
        return Derivative(y, with_value=True)
    _check_named(r, x)
    return y, gradients(r, y, x)


def jvp(r: Recorder, y: Any, x: Any, v: Any) -> Any:
    """Derivative of ``y`` along ``v`` in the values that ``x`` names: ``J(x) v``."""
    _check_named(r, x)
    sources, tangents = _variables(x), leaves(v)
    if len(sources) != len(tangents):
        raise BadArgument(f"{len(sources)} sources, but {len(tangents)} tangents")
    dots = [
        r.b.broadcast(r.b.cast(r.b.array(dot), source.dtype), source.shape)
        for source, dot in zip(sources, tangents, strict=True)
    ]
    outputs = [r.b.array(leaf) for leaf in leaves(y)]
    found = iter(pushforward(r.b, outputs, sources, dots))
    return rebuild(y, lambda leaf: _or_zeros(r, next(found), r.b.array(leaf)))


def gradients(r: Recorder, y: Any, x: Any) -> Any:
    """Gradient of the sum of all leaves of ``y`` in ``x``'s structure, zeros without a path."""
    sources = _variables(x)
    versions = [r.state.leaves(source) for source in sources]
    every = [leaf for group in versions for leaf in group]
    found = iter(gradient(r.b, [r.b.array(leaf) for leaf in leaves(y)], every))
    sums = []
    for group in versions:
        bars = [bar for bar in [next(found) for _ in group] if bar is not None]
        total = bars[0] if bars else None
        for bar in bars[1:]:
            total = bar + total  # type: ignore[operator]
        sums.append(total)
    results = iter(sums)
    return rebuild(x, lambda leaf: _or_zeros(r, next(results), leaf))


def differentiate_function(
    r: Recorder, derivative: Derivative, args: Sequence[Any], named: Mapping[str, Any]
) -> Any:
    """Call what ``grad(f)`` gave: the gradient of ``f(*args)`` in the first argument."""
    if not args:
        raise BadArgument("the function needs the argument to differentiate in")
    first = rebuild(args[0], lambda leaf: Copy()(_floating(r, leaf)))
    value = r.apply(derivative.function, [first, *args[1:]], named)
    found = gradients(r, value, first)
    return (value, found) if derivative.with_value else found


def leaves(nested: Any) -> list[Any]:
    """The leaves of nested lists, tuples and dicts, in order."""
    check_nesting(nested)
    return _leaves(nested)


def _leaves(nested: Any) -> list[Any]:
    if isinstance(nested, dict):
        return [leaf for item in nested.values() for leaf in _leaves(item)]
    if isinstance(nested, list | tuple):
        return [leaf for item in nested for leaf in _leaves(item)]
    return [nested]


def rebuild(nested: Any, replace: Callable[[Any], Any]) -> Any:
    """The same nesting with every leaf replaced, in order."""
    if isinstance(nested, dict):
        return {key: rebuild(item, replace) for key, item in nested.items()}
    if isinstance(nested, list | tuple):
        return type(nested)([rebuild(item, replace) for item in nested])
    return replace(nested)


def _variables(x: Any) -> list[Var]:
    found = leaves(x)
    for leaf in found:
        if not isinstance(leaf, Var):
            hint = "name a floating value; a number in a list has no name"
            raise BadArgument(f"cannot differentiate in {describe(leaf)}", hint=hint)
    return found


def _check_named(r: Recorder, x: Any) -> None:
    """Refuse a source that the call itself computes: nothing can depend on it yet."""
    if r.node.kind != "call" or r.node.value[1] or len(r.node.args) < 2:
        return
    pending = [(r.nodes[r.node.args[1]], x)]
    while pending:
        node, value = pending.pop()
        if node.kind in ("list", "tuple", "dict"):
            items = value.values() if isinstance(value, dict) else value
            pending += zip([r.nodes[i] for i in node.args], items, strict=True)
        elif isinstance(value, Var) and r.b.instructions[value.slot].origin == node.at:
            raise BadArgument(
                "this value is made in the call, so nothing depends on it",
                hint="assign it to a name first, and compute with that name",
            )


def _or_zeros(r: Recorder, found: Var | None, like: Var) -> Var:
    if found is not None:
        return found
    detail = f"no differentiable path to this {like.type}; zeros are used"
    r.warnings.append(Notice("no_path", detail, r.program.place(r.node.at)))
    return r.b.full(0, ArrayType(like.dtype, like.shape))


def _floating(r: Recorder, leaf: Any) -> Var:
    return r.b.inexact(float(leaf) if type(leaf) is int else leaf)
