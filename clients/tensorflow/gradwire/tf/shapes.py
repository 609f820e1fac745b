"""TensorFlow's shapes, of which any part may be unknown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, SupportsIndex, overload

import numpy as np

__all__ = ["TensorShape"]


class Dimension:
    """A dimension's length as TensorFlow 1 has it."""

    def __init__(self, value: Any) -> None:
        self.value: int | None = None if value is None else int(value)

    def __int__(self) -> int:
        if self.value is None:
            raise ValueError("the dimension is unknown")
        return self.value

    __index__ = __int__

    def __eq__(self, other: object) -> bool:
        return self.value == (other.value if isinstance(other, Dimension) else other)

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f"Dimension({self.value})"


class TensorShape:
    """The lengths of a tensor's dimensions; ``None`` where one, or their number, is unknown."""

    __slots__ = ("_dims",)

    def __init__(self, dims: Any = None) -> None:
        if dims is None:
            self._dims: tuple[int | None, ...] | None = None
        elif isinstance(dims, TensorShape):
            self._dims = dims._dims
        elif isinstance(dims, (int, np.integer, Dimension)):
            self._dims = (_length(dims),)
        else:
            self._dims = tuple([_length(length) for length in dims])

    @property
    def rank(self) -> int | None:
        """The number of dimensions."""
        return None if self._dims is None else len(self._dims)

    ndims = rank

    @property
    def dims(self) -> list[Dimension] | None:
        """The dimensions."""
        return None if self._dims is None else [Dimension(length) for length in self._dims]

    def as_list(self) -> list[int | None]:
        """The lengths as a list."""
        return list(self._known_rank("as_list() needs a shape of known rank"))

    def as_tuple(self) -> tuple[int | None, ...]:
        """The lengths as a tuple."""
        return self._known_rank("as_tuple() needs a shape of known rank")

    def num_elements(self) -> int | None:
        """The number of elements, if it is known."""
        if self._dims is None or None in self._dims:
            return None
        return int(np.prod([length or 0 for length in self._dims], dtype=np.int64))

    def is_fully_defined(self) -> bool:
        """True if every length is known."""
        return self._dims is not None and None not in self._dims

    def assert_is_fully_defined(self) -> None:
        """Raise ``ValueError`` unless every length is known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def is_compatible_with(self, other: Any) -> bool:
        """True if a tensor could have both shapes."""
        theirs = as_shape(other)._dims
        if self._dims is None or theirs is None:
            return True
        return len(self._dims) == len(theirs) and all(
            a is None or b is None or a == b for a, b in zip(self._dims, theirs, strict=True)
        )

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise ``ValueError`` unless a tensor could have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {as_shape(other)} are incompatible")

    def is_subtype_of(self, other: Any) -> bool:
        """True if every tensor of this shape has the other too."""
        theirs = as_shape(other)._dims
        if theirs is None:
            return True
        if self._dims is None or len(self._dims) != len(theirs):
            return False
        return all(b is None or a == b for a, b in zip(self._dims, theirs, strict=True))

    def merge_with(self, other: Any) -> TensorShape:
        """The lengths known by either; ``ValueError`` where they contradict."""
        theirs = as_shape(other)
        if not self.is_compatible_with(theirs):
            raise ValueError(f"Shapes {self} and {theirs} are not compatible")
        if self._dims is None:
            return theirs
        if theirs._dims is None:
            return self
        pairs = zip(self._dims, theirs._dims, strict=True)
        return TensorShape([b if a is None else a for a, b in pairs])

    def concatenate(self, other: Any) -> TensorShape:
        """The dimensions of both, one after the other."""
        theirs = as_shape(other)._dims
        if self._dims is None or theirs is None:
            return TensorShape(None)
        return TensorShape(self._dims + theirs)

    def with_rank(self, rank: int) -> TensorShape:
        """The same with so many dimensions; ``ValueError`` where they are others."""
        if self._dims is None:
            return TensorShape([None] * rank)
        if len(self._dims) != rank:
            raise ValueError(f"Shape {self} must have rank {rank}")
        return self

    def assert_has_rank(self, rank: int) -> None:
        """Raise ``ValueError`` where it has another number of dimensions."""
        if self._dims is not None and len(self._dims) != rank:
            raise ValueError(f"Shape {self} must have rank {rank}")

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """The lengths that both have in common."""
        theirs = as_shape(other)._dims
        if self._dims is None or theirs is None or len(self._dims) != len(theirs):
            return TensorShape(None)
        pairs = zip(self._dims, theirs, strict=True)
        return TensorShape([a if a == b else None for a, b in pairs])

    def _known_rank(self, otherwise: str) -> tuple[int | None, ...]:
        if self._dims is None:
            raise ValueError(otherwise)
        return self._dims

    @overload
    def __getitem__(self, key: SupportsIndex) -> int | None: ...
    @overload
    def __getitem__(self, key: slice) -> TensorShape: ...
    def __getitem__(self, key: Any) -> Any:
        if self._dims is None:
            return TensorShape(None) if isinstance(key, slice) else None
        part = self._dims[key]
        return TensorShape(part) if isinstance(key, slice) else part

    def __iter__(self) -> Iterator[int | None]:
        return iter(self._known_rank("this shape has no lengths to iterate: its rank is unknown"))

    def __len__(self) -> int:
        return len(self._known_rank("this shape has no len(): its rank is unknown"))

    def __bool__(self) -> bool:
        return self._dims is not None

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return as_shape(other).concatenate(self)

    def __eq__(self, other: object) -> bool:
        try:
            return self._dims == as_shape(other)._dims
        except (TypeError, ValueError):
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self._dims)

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorShape, (self._dims,)

    def __repr__(self) -> str:
        return f"TensorShape({None if self._dims is None else list(self._dims)})"

    def __str__(self) -> str:
        if self._dims is None:
            return "<unknown>"
        return str(self._dims)


def as_shape(value: Any) -> TensorShape:
    """Anything that means a shape."""
    return value if isinstance(value, TensorShape) else TensorShape(value)


def _length(value: Any) -> int | None:
    if value is None or (isinstance(value, Dimension) and value.value is None):
        return None
    try:
        length = value.__index__()
    except AttributeError:
        raise TypeError(
            f"a dimension must be an integer or None, got {value!r} of {type(value)}"
        ) from None
    if length < 0:
        raise ValueError(f"Dimension {length} must be >= 0")
    return int(length)
