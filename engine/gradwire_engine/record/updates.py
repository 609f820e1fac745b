"""``x.at[...]``: selected elements, read or updated in a new array, as JAX writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, UnknownOperation
from gradwire_engine.ops.arrays.indexing import GetItem
from gradwire_engine.ops.arrays.shape import reshape, unsqueeze
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.patterns import Pattern
from gradwire_engine.tape import Shape

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

#: The combination of elements with updates, all of them where a place is repeated.
_SCATTERS = {
    "set": "update",
    "add": "add",
    "subtract": "sub",
    "multiply": "multiply",
    "mul": "multiply",
    "min": "min",
    "max": "max",
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
    """``x.at[...]``: what the pattern and index arrays select of ``x`` with further axes."""

    array: Var
    pattern: Pattern
    indices: Sequence[Var]
    #: Of ``x``.
    shape: Shape


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
        return GetItem(place.pattern)(x, *place.indices)
    value = b.cast(b.array(args[0]), x.dtype)
    if name in _OF_PRODUCTS:
        ones = b.full(1, x.type)
        product = update(b, replace(place, array=ones), "multiply", [value], {})
        return FUNCTIONS[_OF_PRODUCTS[name]].record(b, reshape(x, place.shape), product)
    # Numbered in a row, elements selected in any way are like those at the places of a vector.
    numbers = reshape(FUNCTIONS["arange"].record(b, x.type.size), x.shape)
    chosen = GetItem(place.pattern)(numbers, *place.indices)
    scatter = FUNCTIONS[f"tensor_scatter_nd_{_SCATTERS[name]}"].record
    new = scatter(b, reshape(x, (x.type.size,)), unsqueeze(chosen, (chosen.ndim,)), value)
    return reshape(new, place.shape)
