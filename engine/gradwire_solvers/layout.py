"""The sources of an optimisation as one flat vector, and the variables at such a vector."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from gradwire_engine import Composite, hints
from gradwire_engine.answer import Array, Leaf, Names
from gradwire_engine.errors import EngineError, InputError, Place, UnknownName
from gradwire_engine.nesting import below, flatten, rebuild
from gradwire_engine.tape import FLOATING, INEXACT

#: Arrays, one for each path, to the variables of a request.
Fill: TypeAlias = Callable[[Sequence[Array]], Any]


class Part(NamedTuple):
    """A source: its path, type, and elements ``start:stop`` of the vector."""

    path: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    start: int
    stop: int


class Layout:
    """Sources laid out one after the other, in row-major order, as float64.

    ``names`` nest names of variables, or of levels, whose arrays are all sources; None stands for
    all trainable floating-point variables, in their structure.

    Raises: ``UnknownName``; ``InputError`` for what is no real floating-point array.
    """

    def __init__(self, variables: Mapping[str, Any], names: Names = None) -> None:
        self._numbers: dict[str, int] = {}
        self._leaves: list[Leaf] = []
        if names is None:
            self._nested: Any = _pruned({n: self._all(v, n) for n, v in variables.items()})
        else:
            self._nested = self._named(names, _unfolded(variables), "/sources")
        if not self._leaves:
            detail = "there is nothing to optimise: no trainable floating-point variable is named"
            raise InputError(detail, at=Place(pointer="/sources"))
        self.parts: list[Part] = []
        stop = 0
        for path, leaf in zip(self._numbers, self._leaves, strict=True):
            array = np.asarray(leaf.value)
            start, stop = stop, stop + array.size
            self.parts.append(Part(path, array.shape, array.dtype, start, stop))
        #: The number of elements of all sources.
        self.size = stop
        if not stop:
            raise InputError("the sources have no elements", at=Place(pointer="/sources"))

    @property
    def paths(self) -> list[str]:
        """The paths of the sources, in their order."""
        return [part.path for part in self.parts]

    @property
    def start(self) -> Array:
        """The sources' values in the request."""
        return self.flat([leaf.value for leaf in self._leaves])

    @property
    def roundoff(self) -> float:
        """The largest relative spacing of numbers of the sources' dtypes."""
        return max([float(np.finfo(part.dtype).eps) for part in self.parts])

    def find(self, name: str) -> Part | None:
        """The source of this name, its indices in brackets or not."""
        number = self._numbers.get(dotted(name))
        return None if number is None else self.parts[number]

    def flat(self, arrays: Sequence[Any]) -> Array:
        """Arrays like the sources, in their order, as one vector."""
        if len(arrays) == 1:
            return np.array(arrays[0], np.float64).ravel()
        return np.concatenate([np.ravel(array) for array in arrays], dtype=np.float64)

    def arrays(self, x: Array) -> list[Array]:
        """The vector's parts in their sources' shapes and dtypes; float64 ones are views of it."""
        return [
            x[start:stop].reshape(shape).astype(dtype, copy=False)
            for _, shape, dtype, start, stop in self.parts
        ]

    def pack(self, nested: Any) -> Array:
        """Values in the structure of the sources as a vector."""
        found: list[Any] = [None] * len(self.parts)

        def gather(numbers: Any, values: Any) -> None:
            if isinstance(numbers, int):
                found[numbers] = values
            elif numbers is not None:
                keys = numbers if isinstance(numbers, dict) else range(len(numbers))
                for key in keys:
                    gather(numbers[key], values[key])

        gather(self._nested, nested)
        return self.flat(found)

    def unpack(self, x: Array) -> Any:
        """The vector in the structure of the sources, as arrays of its own."""
        arrays = self.arrays(np.array(x, np.float64))
        return rebuild(self._nested, lambda number: None if number is None else arrays[number])

    def name(self, element: int) -> str:
        """The name of an element: ``w[2]``."""
        part = next(part for part in self.parts if part.start <= element < part.stop)
        indices = np.unravel_index(element - part.start, part.shape) if part.shape else ()
        return part.path + "".join([f"[{int(index)}]" for index in indices])

    # Finding the sources

    def _all(self, value: Any, path: str) -> Any:
        """Number the trainable arrays of a variable, without integers, booleans and strings."""
        if isinstance(value, Leaf):
            kind = "U" if isinstance(value.value, str) else value.value.dtype.kind
            return self._number(value, path) if value.trainable and kind in INEXACT else None
        if isinstance(value, Composite):
            return self._refused(value, path) if value["values"].trainable else None
        if isinstance(value, Mapping):
            return {name: self._all(item, f"{path}.{name}") for name, item in value.items()}
        return [self._all(item, f"{path}.{i}") for i, item in enumerate(value)]

    def _named(self, names: Any, tree: Mapping[str, Any], at: str) -> Any:
        if names is None:
            return None
        if isinstance(names, str):
            path = dotted(names)
            return self._level(_member(tree, path, at), path)
        if isinstance(names, Mapping):
            return {key: self._named(name, tree, f"{at}/{key}") for key, name in names.items()}
        return [self._named(name, tree, f"{at}/{i}") for i, name in enumerate(names)]

    def _level(self, value: Any, path: str) -> Any:
        """Number all arrays of a named variable or level."""
        if isinstance(value, Leaf):
            return self._number(value, path)
        if isinstance(value, Composite):
            return self._refused(value, path)
        if isinstance(value, Mapping):
            return {name: self._level(item, f"{path}.{name}") for name, item in value.items()}
        return [self._level(item, f"{path}.{i}") for i, item in enumerate(value)]

    def _number(self, leaf: Leaf, path: str) -> int:
        at = Place(id=path[:80], pointer="/sources")
        if isinstance(leaf.value, str):
            raise InputError("a string cannot be optimised", at=at)
        kind = leaf.value.dtype.kind
        if kind not in FLOATING:
            hint = "optimise real and imaginary part as two variables" if kind == "c" else None
            hint = hint or "send it as floats, or leave it out of sources"
            raise InputError(f"{leaf.value.dtype} cannot be optimised", at=at, hint=hint)
        if not leaf.trainable:
            hint = "leave it out of sources, or send it without trainable"
            raise InputError("the variable is not trainable", at=at, hint=hint)
        if path in self._numbers:
            raise InputError("the variable is named twice", at=at)
        self._leaves.append(leaf)
        return self._numbers.setdefault(path, len(self._numbers))

    def _refused(self, value: Composite, path: str) -> Any:
        at, hint = Place(id=path[:80], pointer="/sources"), "name the sources without it"
        raise InputError(f"{value} cannot be optimised", at=at, hint=hint)


class Placement:
    """Puts arrays in the places of variables of a request, of which the others stay as they are."""

    def __init__(self, variables: Mapping[str, Any], paths: Sequence[str]) -> None:
        self._variables = dict(variables)
        numbers = {path: number for number, path in enumerate(paths)}
        roots = {
            name
            for name, value in variables.items()
            if any(path in numbers for path, _ in below(name, value))
        }
        self._fills = {name: _fill(variables[name], name, numbers) for name in roots}

    def __call__(self, arrays: Sequence[Array]) -> dict[str, Any]:
        """The variables with these arrays, one for each path."""
        return self._variables | {name: fill(arrays) for name, fill in self._fills.items()}


def _fill(value: Any, path: str, numbers: Mapping[str, int]) -> Fill:
    """A function from arrays to a variable."""
    if isinstance(value, Leaf):
        number = numbers.get(path)
        if number is None:
            return lambda arrays: value
        return lambda arrays: Leaf(arrays[number], True, value.any_shape)
    if isinstance(value, Composite):
        return lambda arrays: value
    if isinstance(value, Mapping):
        fills = {key: _fill(item, f"{path}.{key}", numbers) for key, item in value.items()}
        return lambda arrays: {key: fill(arrays) for key, fill in fills.items()}
    items = [_fill(item, f"{path}.{i}", numbers) for i, item in enumerate(value)]
    return lambda arrays: [fill(arrays) for fill in items]


def dotted(name: str) -> str:
    """The path that a name is, its indices in brackets or not."""
    return re.sub(r"\[(\d+)\]", r".\1", name)


def leaf_named(variables: Mapping[str, Any], name: str, at: str) -> tuple[str, Leaf]:
    """The path and the leaf of a variable of the request.

    Raises: ``UnknownName``; ``InputError`` if it is no array.
    """
    path = dotted(name)
    found = _member(_unfolded(variables), path, at)
    if not isinstance(found, Leaf) or isinstance(found.value, str):
        raise InputError("expected the name of an array", at=Place(id=name[:80], pointer=at))
    return path, found


def _member(tree: Mapping[str, Any], path: str, at: str) -> Any:
    value: Any = tree
    for part in path.split("."):
        if isinstance(value, Mapping) and not isinstance(value, Composite) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            known = [known for known, _ in flatten(tree)]
            hint = hints.like(path, known) or "name a variable of the request"
            raise _unknown(path, at, hint)
    return value


def _unknown(path: str, at: str, hint: str) -> EngineError:
    place = Place(id=path[:80], pointer=at)
    return UnknownName(f"there is no variable '{path[:40]}'", at=place, hint=hint)


def _unfolded(variables: Mapping[str, Any]) -> dict[str, Any]:
    """The variables, those with dotted names as members of nested ones."""
    tree: dict[str, Any] = {}
    for name, value in variables.items():
        *levels, last = name.split(".")
        container = tree
        for level in levels:
            container = container.setdefault(level, {})
        nested = isinstance(value, Mapping) and not isinstance(value, Composite)
        if nested and isinstance(container.get(last), dict):
            container[last].update(value)
        else:
            container[last] = dict(value) if nested else value
    return tree


def _pruned(nested: Any) -> Any:
    """Without members that contain no source; items of lists stay in their places."""
    if isinstance(nested, dict):
        found = {key: _pruned(item) for key, item in nested.items()}
        return {key: item for key, item in found.items() if item is not None} or None
    if isinstance(nested, list):
        items = [_pruned(item) for item in nested]
        return None if all(item is None for item in items) else items
    return nested
