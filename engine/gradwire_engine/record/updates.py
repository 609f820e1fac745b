"""``x.at[...]``: selected elements, read or updated in a new array, as JAX writes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, UnknownOperation
from gradwire_engine.ops.arrays.indexing import GetItem
from gradwire_engine.ops.arrays.shape import reshape, unsqueeze
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.elementwise import broadcast_shapes
from gradwire_engine.ops.patterns import Pattern
from gradwire_engine.ops.pointwise.selection import Where

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

#: The combination of elements with updates, all of them where a place is repeated, and the same of
#: two arrays.
_SCATTERS = {
    "set": ("update", ""),
    "add": ("add", "add"),
    "subtract": ("sub", "subtract"),
    "multiply": ("multiply", "multiply"),
    "mul": ("multiply", "multiply"),
    "min": ("min", "minimum"),
    "max": ("max", "maximum"),
}
#: The combination with the product of the updates at a place.
_OF_PRODUCTS = {"divide": "divide", "power": "power"}
_METHODS = ("get", *_SCATTERS, *_OF_PRODUCTS)


@dataclass(frozen=True, slots=True, eq=False)
class At:
    """``x.at``, to be indexed."""

    array: Var


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """``x.at[...]``: a ``mask`` alone, or what ``select`` gives.

    That is ``x`` with further axes, a pattern and index arrays.
    """

    array: Var
    mask: Var | None
    select: Callable[[], tuple[Var, Pattern, Sequence[Var]]]


def update(
    b: Builder, place: Place, name: str, args: Sequence[Any], named: Mapping[str, Any]
) -> Any:
    """``x.at[...].name(value)``: ``x`` with the selected elements updated, or just these."""
    x = place.array
    if name not in _METHODS:
        raise UnknownOperation(f"at[...] has no method '{name[:40]}'", hint=", ".join(_METHODS))
    if named or len(args) != (name != "get"):
        takes = "nothing" if name == "get" else "one value"
        raise BadArgument(f"at[...].{name} takes {takes}")
    if name == "get":
        selected, pattern, indices = place.select()
        return GetItem(pattern)(selected, *indices)
    value = b.cast(b.array(args[0]), x.dtype)
    if place.mask is not None and suits_all(value, place.mask, x):
        combined = _OF_PRODUCTS[name] if name in _OF_PRODUCTS else _SCATTERS[name][1]
        new = FUNCTIONS[combined].record(b, x, value) if combined else value
        return where(place.mask, b.cast(new, x.dtype), x)
    selected, pattern, indices = place.select()
    if name not in _OF_PRODUCTS:
        return reshape(_scattered(b, selected, pattern, indices, name, value), x.type.shape)
    ones = b.full(1, selected.type)
    product = _scattered(b, ones, pattern, indices, "multiply", value)
    return FUNCTIONS[_OF_PRODUCTS[name]].record(b, x, reshape(product, x.type.shape))


def suits_all(value: Var, mask: Var, x: Var) -> bool:
    """True if all that a mask selects of ``x`` gets the same: then its number decides nothing."""
    rest = x.shape[mask.ndim :]
    return value.ndim <= len(rest) and broadcast_shapes(rest, value.type.shape) == rest


def where(mask: Var, value: Var, x: Var) -> Var:
    """``x`` with ``value`` where a mask of its first axes is true."""
    return Where()(unsqueeze(mask, tuple(range(mask.ndim, x.ndim))), value, x)


def _scattered(
    b: Builder, x: Var, pattern: Pattern, indices: Sequence[Var], name: str, value: Var
) -> Var:
    """``x`` with the selected elements updated."""
    # Numbered in a row, elements selected in any way are like those at the places of a vector.
    numbers = reshape(FUNCTIONS["arange"].record(b, x.type.size), x.shape)
    chosen = GetItem(pattern)(numbers, *indices)
    scatter = FUNCTIONS[f"tensor_scatter_nd_{_SCATTERS[name][0]}"].record
    new = scatter(b, reshape(x, (x.type.size,)), unsqueeze(chosen, (chosen.ndim,)), value)
    return reshape(new, x.shape)
