"""Programs as values: a term is an operation and its arguments, terms and plain values.

Whoever records calls (a traced NumPy function, a TensorFlow-like tensor) makes terms; nothing is
computed by that. ``writing`` puts a term and all that it needs together as one program.

    t = Term("np.sum", (x,), {"axis": 0})            is printed as  np.sum(x, axis=0)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import count
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

#: Folders without users' code.
_OURS = (
    *sys.modules["gradwire"].__path__,
    str(Path(np.__file__).parent),
    str(Path(np.__file__).parent.parent / "scipy"),
)


class Place(NamedTuple):
    """A line of the user's own code."""

    filename: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.filename}:{self.line} in {self.function}"


class Scope:
    """The inside of a function of the program; ``None`` is the program's own level."""

    __slots__ = ("depth", "parent")

    def __init__(self, parent: Scope | None) -> None:
        self.parent: Scope | None = parent
        self.depth: int = 1 if parent is None else parent.depth + 1


_NUMBERS = count()
#: The keyword arguments of a term without an operation: none.
NOTHING: Mapping[str, Any] = MappingProxyType({})
_MAPPINGS = (dict, MappingProxyType)
#: Operations that are not called by a name: ``x[key]``, ``f(*args)``, and a nested value itself.
ITEM, CALL, VALUE = "[]", "()", "="
#: The prefix of operations like ``x.at[key].set(value)``, whose arguments are these three.
AT = ".at[]."


class Term:
    """A value that a program computes: ``op(*args, **kwargs)``.

    ``op`` is a function's full name, an operator's sign, or one of the constants above. Arguments
    are terms and plain values, nested in lists, tuples, dictionaries and slices, which must not be
    changed; ``operands`` are the terms among them, in order.
    """

    __slots__ = (
        "__weakref__", "args", "array", "kwargs", "number", "op", "operands", "place", "scope",
    )  # fmt: skip

    def __init__(
        self,
        op: str,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] = NOTHING,
        place: Place | None = None,
    ) -> None:
        #: Terms are numbered as they are made, so that operands come first.
        self.number: int = next(_NUMBERS)
        self.op: str = op
        self.args: tuple[Any, ...] = args
        self.kwargs: Mapping[str, Any] = kwargs
        self.operands: tuple[Term, ...] = terms_in(args, kwargs)
        self.scope: Scope | None = innermost(self.operands)
        self.place: Place | None = place or user_place()
        #: The recorded array that it was made for, if its shape was not known.
        self.array: ref[Any] | None = None

    def forget(self) -> None:
        """Drop the operands, once the value is known."""
        self.op, self.args, self.kwargs, self.operands = "", (), NOTHING, ()

    def leaf(self) -> Leaf | None:
        """The known value, which is sent instead of computed; ``None`` if unknown."""
        return None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.op!r}, {len(self.operands)} operands)"


class Leaf(Term):
    """A value that is sent as a variable; ``hint`` is its preferred name."""

    __slots__ = ("hint", "value")

    def __init__(self, value: Any, hint: str = "c") -> None:
        _bare(self, None)
        self.value: Any = value
        self.hint: str = hint

    def leaf(self) -> Leaf:
        """Itself."""
        return self


class Bound(Term):
    """A parameter of a function of the program."""

    __slots__ = ("hint",)

    def __init__(self, scope: Scope, hint: str = "p") -> None:
        _bare(self, scope)
        self.hint: str = hint


class Body(Term):
    """A function of the program: ``result`` as a function of its parameters."""

    __slots__ = ("inside", "params", "result")

    def __init__(self, inside: Scope, params: tuple[Any, ...], result: Term) -> None:
        _bare(self, inside.parent)
        self.place: Place | None = user_place()
        self.inside: Scope = inside
        #: Terms with a ``hint``.
        self.params: tuple[Any, ...] = params
        self.result: Term = result


class TextFunction(Term):
    """A function of the program as text: parameters, lines of its body, names from outside."""

    __slots__ = ("lines", "names", "params")

    def __init__(
        self, params: tuple[str, ...], lines: tuple[str, ...], names: frozenset[str]
    ) -> None:
        _bare(self, None)
        self.place: Place | None = user_place()
        self.params: tuple[str, ...] = params
        self.lines: tuple[str, ...] = lines
        self.names: frozenset[str] = names


def _bare(term: Term, scope: Scope | None) -> None:
    """A term without an operation; its place is not looked up, which would take longest."""
    term.forget()
    term.number, term.array = next(_NUMBERS), None
    term.scope, term.place = scope, None


def terms_in(args: Iterable[Any], kwargs: Mapping[str, Any] = NOTHING) -> tuple[Term, ...]:
    """The terms among arguments, in order."""
    found: list[Term] = []
    for value in args:
        if isinstance(value, Term):
            found.append(value)
        else:
            _collect(value, found)
    for value in kwargs.values():
        _collect(value, found)
    return tuple(found)


def _collect(value: Any, found: list[Term]) -> None:
    if isinstance(value, Term):
        found.append(value)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _collect(item, found)
    elif isinstance(value, dict):
        for item in value.values():
            _collect(item, found)
    elif isinstance(value, slice):
        for item in (value.start, value.stop, value.step):
            _collect(item, found)


def arguments_with(
    term: Term, made: Mapping[Term, Term]
) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    """A term's arguments with some operands replaced."""
    args = tuple([replaced(value, made) for value in term.args])
    return args, {name: replaced(value, made) for name, value in term.kwargs.items()}


def replaced(value: Any, made: Mapping[Term, Term]) -> Any:
    """A nested value with some terms replaced."""
    if isinstance(value, Term):
        return made.get(value, value)
    if isinstance(value, list):
        return [replaced(item, made) for item in value]
    if isinstance(value, tuple):
        return tuple([replaced(item, made) for item in value])
    if isinstance(value, dict):
        return {name: replaced(item, made) for name, item in value.items()}
    if isinstance(value, slice):
        return slice(*[replaced(bound, made) for bound in (value.start, value.stop, value.step)])
    return value


def leaves_in(value: Any) -> Iterator[Any]:
    """The terms and plain values among arguments, in order."""
    if isinstance(value, Term):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves_in(item)
    elif isinstance(value, _MAPPINGS):
        for item in value.values():
            yield from leaves_in(item)
    elif isinstance(value, slice):
        for item in (value.start, value.stop, value.step):
            yield from leaves_in(item)
    else:
        yield value


def with_leaves(value: Any, leaves: Iterator[Any]) -> Any:
    """Arguments with other terms and plain values, in the same order."""
    if isinstance(value, (list, tuple)):
        return type(value)([with_leaves(item, leaves) for item in value])
    if isinstance(value, _MAPPINGS):
        return {name: with_leaves(item, leaves) for name, item in value.items()}
    if isinstance(value, slice):
        bounds = (value.start, value.stop, value.step)
        return slice(*[with_leaves(bound, leaves) for bound in bounds])
    return next(leaves)


def innermost(terms: Iterable[Term]) -> Scope | None:
    """The deepest scope among those of terms, which are all nested in one another."""
    found: Scope | None = None
    for term in terms:
        scope = term.scope
        if scope is not None and (found is None or scope.depth > found.depth):
            found = scope
    return found


def user_place() -> Place | None:
    """The line of the user's code that is being executed."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and _is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return None
    return Place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


@lru_cache(maxsize=4096)
def _is_ours(filename: str) -> bool:
    return filename.startswith(_OURS)


def dependencies(roots: Sequence[Term], known: Callable[[Term], bool]) -> list[Term]:
    """The roots and their dependencies that are not ``known``, in topological order.

    Iterative, so that chains may have any length.
    """
    order: list[Term] = []
    seen: set[Term] = set()
    #: None after the operands of the last of the terms that are open.
    stack: list[Term | None] = [*reversed(roots)]
    opened: list[Term] = []
    while stack:
        term = stack.pop()
        if term is None:
            order.append(opened.pop())
            continue
        if term in seen or known(term):
            continue
        seen.add(term)
        opened.append(term)
        stack.append(None)
        stack += (term.result,) if type(term) is Body else term.operands[::-1]
    return order
