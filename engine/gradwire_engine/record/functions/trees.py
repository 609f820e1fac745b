"""JAX's functions of trees, nested lists and dicts: the members of dicts in the order of keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradwire_engine.errors import BadArgument
from gradwire_engine.nesting import leaves, rebuild
from gradwire_engine.ops.arrays.slicing import sliced
from gradwire_engine.record.functions.python import reduced
from gradwire_engine.record.recorder import Recorder
from gradwire_engine.record.scope import Transformed


def _map(r: Recorder, f: Any, tree: Any, *rest: Any) -> Any:
    """The tree of ``f`` of the leaves that have one place in all trees."""
    return _mapped(r, f, [_ordered(t) for t in (tree, *rest)])


def _mapped(r: Recorder, f: Any, trees: Sequence[Any]) -> Any:
    first = trees[0]
    if not isinstance(first, dict | list | tuple):
        return r.apply(f, trees, {})
    alike = all(type(t) is type(first) and len(t) == len(first) for t in trees)
    if not alike or (isinstance(first, dict) and any(t.keys() != first.keys() for t in trees)):
        raise BadArgument("the trees have different structures")
    if isinstance(first, dict):
        return {key: _mapped(r, f, [t[key] for t in trees]) for key in first}
    return type(first)([_mapped(r, f, items) for items in zip(*trees, strict=True)])


def _leaves(r: Recorder, tree: Any) -> list[Any]:
    """The leaves of a tree."""
    return leaves(_ordered(tree))


def _flatten(r: Recorder, tree: Any) -> tuple[list[Any], Transformed]:
    """The leaves of a tree, and its structure, for ``tree_unflatten``."""
    return _leaves(r, tree), _structure(r, tree)


def _structure(r: Recorder, tree: Any) -> Transformed:
    """The structure of a tree: a function from leaves to the tree."""
    form = _ordered(tree)
    count = len(leaves(form))

    def filled(r: Recorder, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        items = r.items(args[0])
        if len(items) != count:
            raise BadArgument(f"the tree has {count} leaves, got {len(items)}")
        following = iter(items)
        return rebuild(form, lambda _: next(following))

    return Transformed(filled)


def _unflatten(r: Recorder, treedef: Any, leaves: Any) -> Any:
    """The tree of a structure with these leaves."""
    return r.apply(treedef, (leaves,), {})


def _reduce(r: Recorder, function: Any, tree: Any, initializer: Any = None) -> Any:
    """``function`` of the first two leaves, of that and the third, and so on."""
    return reduced(r, function, _leaves(r, tree), initializer)


def _ravel(r: Recorder, pytree: Any) -> tuple[Any, Transformed]:
    """All elements of a tree in a row, and the function from such a row to the tree."""
    form = rebuild(_ordered(pytree), r.b.array)
    flat = r.operation("concatenate", [r.operation("ravel", x) for x in leaves(form)])

    def unraveled(r: Recorder, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        row, at = r.b.array(args[0]), 0
        if row.shape != flat.shape:
            raise BadArgument(f"the tree has {flat.shape[0]} elements, got {row.type}")

        def part(leaf: Any) -> Any:
            nonlocal at
            start, at = at, at + leaf.type.size
            return r.operation("reshape", sliced(row, 0, start, at), leaf.shape)

        return rebuild(form, part)

    return flat, Transformed(unraveled)


def _ordered(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _ordered(tree[key]) for key in sorted(tree)}
    if isinstance(tree, list | tuple):
        return type(tree)([_ordered(item) for item in tree])
    return tree


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "map": _map,
    "leaves": _leaves,
    "flatten": _flatten,
    "structure": _structure,
    "unflatten": _unflatten,
    "reduce": _reduce,
}
#: Called as ``function(recorder, *args, **named)``.
TREES: dict[str, Callable[..., Any]] = {
    **{f"jax.tree.{name}": function for name, function in _FUNCTIONS.items()},
    **{f"jax.tree_util.tree_{name}": function for name, function in _FUNCTIONS.items()},
    "jax.flatten_util.ravel_pytree": _ravel,
}
