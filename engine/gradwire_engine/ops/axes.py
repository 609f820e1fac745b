"""Static parameters of operations on shapes: axes, lengths and flags, checked and normalised."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.builder import describe
from gradwire_engine.tape import Shape

_MOST_AXES = 64


def number(value: Any, name: str) -> float:
    """``value`` as the real number that parameter ``name`` must be."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadArgument(f"{name} must be a number, got {describe(value)}")
    return value


def integer(value: Any, name: str) -> int:
    """``value`` as the integer that parameter ``name`` must be."""
    if isinstance(value, int) and not isinstance(value, bool):
        if not -(2**63) <= value < 2**63:
            raise BadArgument(f"{name} must be an integer of at most 64 bits")
        return value
    raise BadArgument(
        f"{name} must be an integer, got {describe(value)}",
        hint="lengths and axes are literals or integer variables, never computed floats",
    )


def whole_order(n: Any, function: str) -> int:
    """The order of a function, of 0 or more."""
    order = integer(n, "n")
    if order < 0:
        raise BadArgument(f"{function} needs an order of 0 or more, got {order}")
    return order


def integers(value: Any, name: str) -> tuple[int, ...]:
    """``value`` as a tuple of integers; one integer stands for itself."""
    if isinstance(value, list | tuple):
        return tuple([integer(item, name) for item in value])
    return (integer(value, name),)


def counts(value: Any, name: str) -> tuple[int, ...]:
    """``value`` as a tuple of integers, of which booleans are 0 and 1, as NumPy counts."""
    given = value if isinstance(value, list | tuple) else (value,)
    return integers([int(item) if isinstance(item, bool) else item for item in given], name)


def lengths(value: Any, name: str = "shape") -> Shape:
    """``value`` as a shape."""
    shape = few_axes(integers(value, name))
    if any(length < 0 for length in shape):
        raise BadArgument(f"{name} must not have negative lengths, got {shape}")
    return shape


def flag(value: Any, name: str) -> bool:
    """``value`` as the boolean that parameter ``name`` must be."""
    if isinstance(value, bool):
        return value
    raise BadArgument(f"{name} must be true or false, got {describe(value)}")


def choice(value: Any, known: Iterable[Any], name: str) -> Any:
    """``value`` as one of the ``known`` words (or None) that parameter ``name`` takes."""
    words = [*known]
    if (value is None or isinstance(value, str)) and value in words:
        return value
    listed = " or ".join([", ".join(map(repr, words[:-1])), repr(words[-1])])
    raise BadArgument(f"{name} must be {listed}, got {describe(value)}")


def range_of(start: Any, stop: Any, step: Any, length: int) -> range:
    """The places, of ``length``, that a slice selects; None stands for its default."""
    parts = zip((start, stop, step), ("start", "stop", "step"), strict=True)
    bounds = [None if part is None else integer(part, name) for part, name in parts]
    if bounds[2] == 0:
        raise BadArgument("the step of a slice cannot be 0")
    return range(length)[slice(*bounds)]


def axis_of(axis: Any, ndim: int, op: str) -> int:
    """``axis`` counted from the first of ``ndim``."""
    index = integer(axis, "axis")
    if not -ndim <= index < ndim:
        hint = f"axes run from {-ndim} to {ndim - 1}" if ndim else "a scalar has no axes"
        raise ShapeMismatch(f"{op} has no axis {index} in an array of {ndim} axes", hint=hint)
    return index + ndim if index < 0 else index


def axes_of(axis: Any, ndim: int, op: str) -> tuple[int, ...]:
    """The axes named, in the order given; all of them for ``None``."""
    if axis is None:
        return tuple(range(ndim))
    named = axis if isinstance(axis, list | tuple) else (axis,)
    axes = tuple([axis_of(item, ndim, op) for item in few_axes(tuple(named))])
    if len(set(axes)) < len(axes):
        raise ShapeMismatch(f"{op} was given an axis twice: {tuple(named)}")
    return axes


def without(shape: Shape, axes: tuple[int, ...]) -> Shape:
    """``shape`` less ``axes``."""
    return tuple([length for axis, length in enumerate(shape) if axis not in axes])


def with_ones(shape: Shape, axes: tuple[int, ...]) -> Shape:
    """``shape`` with length 1 along ``axes``."""
    return tuple([1 if axis in axes else length for axis, length in enumerate(shape)])


def few_axes(shape: Shape) -> Shape:
    """``shape``, if NumPy has arrays of so many axes."""
    if len(shape) > _MOST_AXES:
        raise ShapeMismatch(f"arrays have at most {_MOST_AXES} axes, not {len(shape)}")
    return shape


def reshaped(shape: Shape, target: Shape) -> Shape:
    """``target`` with its one -1 replaced by what the elements of ``shape`` leave for it."""
    size = math.prod(shape)
    few_axes(target)
    unknown = [axis for axis, length in enumerate(target) if length == -1]
    if len(unknown) > 1 or any(length < -1 for length in target):
        raise BadArgument(f"shape must have lengths of at least 0 and at most one -1, got {target}")
    known = math.prod([length for length in target if length != -1])
    if unknown and known and size % known == 0:
        axis = unknown[0]
        return (*target[:axis], size // known, *target[axis + 1 :])
    if unknown or known != size:
        raise ShapeMismatch(f"cannot reshape {shape}, which has {size} elements, to {target}")
    return target
