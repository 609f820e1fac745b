"""Terms as the text of one program.

Every term is a statement of its own, ``v3 = np.sum(v2, axis=0)``, so that the service's errors
name a line, and with it the line of the user's code that asked for it. A function of the program
is a ``def`` with the statements that depend on its parameters; what does not stands before it.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from gradwire.errors import NotTraceable, UsageError
from gradwire.tracing.printing import FUNCTIONS, LIBRARIES, Printer
from gradwire.tracing.terms import (
    NOTHING,
    Body,
    Bound,
    Leaf,
    Place,
    Scope,
    Term,
    TextFunction,
    dependencies,
)

#: Names with a meaning in the language, which variables must not have.
RESERVED = FUNCTIONS | LIBRARIES | frozenset("e pi inf nan tau".split())
_MADE = re.compile(r"[vf]\d+")


@dataclass(frozen=True, slots=True)
class Written:
    """A program and the origin of its parts."""

    text: str
    #: The variables that it reads, by their names in the text.
    leaves: Mapping[str, Leaf]
    #: The names of terms.
    names: Mapping[Term, str]
    #: The user's line behind each line of the text, the first at 0.
    places: Sequence[Place | None]

    @property
    def variables(self) -> dict[str, Any]:
        """The values to send."""
        return {name: leaf.value for name, leaf in self.leaves.items()}

    def place_of(self, line: int | None) -> Place | None:
        """The user's line behind a line of the text, which counts from 1."""
        known = line is not None and 1 <= line <= len(self.places)
        return self.places[line - 1] if known and line is not None else None


class _Block:
    """The statements of one scope, with the user's place of each line."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.places: list[Place | None] = []

    def add(self, line: str, place: Place | None) -> None:
        self.lines.append(line)
        self.places.append(place)


def write(
    roots: Sequence[Term],
    leaves: Iterable[Leaf] = (),
    *,
    places: Mapping[Any, str] = NOTHING,
    names: AbstractSet[str] = frozenset(),
) -> Written:
    """The program that computes the roots; ``leaves`` get the first choice of names.

    Terms with ``places`` are read there, and are none of the leaves of what is written; nothing
    else has one of the ``names``.
    Raises: ``UsageError`` if one of the names is one that the program reads of the language.
    """
    leaves, avoided = list(leaves), names
    while True:
        writer = _Writer(leaves, places, avoided)
        written = writer.write(roots)
        if writer.quoted.isdisjoint(writer.taken):
            break
        avoided = avoided | writer.quoted  # a text would read a variable of ours
    if hiding := writer.quoted & names:
        problem = f"an argument called {min(hiding)} would hide what has this name in programs"
        raise UsageError(problem, hint="rename it")
    return written


class _Writer:
    def __init__(
        self,
        leaves: Iterable[Leaf],
        places: Mapping[Any, str],
        avoided: AbstractSet[str],
    ) -> None:
        #: Names that nothing must have but what has a place.
        self.avoided: AbstractSet[str] = avoided
        #: Names that functions given as text mention, and those of the language that hide.
        self.quoted: set[str] = set()
        self._hides = not RESERVED.isdisjoint(avoided)
        #: The names of variables and parameters.
        self.taken: set[str] = set()
        #: The number of names that begin with a stem.
        self._counts: dict[str, int] = {}
        self._names: dict[Term, str] = {**places}
        self._leaves: dict[str, Leaf] = {}
        self._used: set[str] = set()
        self._made = {"v": 0, "f": 0}
        for leaf in leaves:
            self._is_known(leaf)

    def write(self, roots: Sequence[Term]) -> Written:
        block = _Block()
        self._state(roots, {None: block})
        for root in roots:
            self._name_of(root)
        if not block.lines:  # all roots are variables
            block.add("None", None)
        used = {name: leaf for name, leaf in self._leaves.items() if name in self._used}
        return Written("\n".join(block.lines), used, self._names, block.places)

    def _state(self, roots: Sequence[Term], blocks: Mapping[Scope | None, _Block]) -> None:
        """Add a statement for all that the roots need, each to the block of its scope."""
        names, printer = self._names, Printer(self._name_of)
        for term in dependencies(roots, self._is_known):
            if term in names:  # by a function that was defined since
                continue
            for operand in term.operands:
                if operand in names:
                    continue
                if isinstance(operand, Body):
                    self._define(operand, blocks)
                elif isinstance(operand, TextFunction):
                    self._quote(operand, blocks[None])
            if isinstance(term, Bound):
                raise NotTraceable(
                    "a value of a function of vmap, cond, scan or a loop of the program is "
                    "used outside of it",
                    hint="let the function return it",
                )
            if self._hides:
                self.quoted |= _own_names(term)
            name = self._new("v")
            blocks[term.scope].add(f"{name} = {printer.printed(term)}", term.place)
            names[term] = name

    def _quote(self, source: TextFunction, block: _Block) -> None:
        self._names[source] = name = self._new("f")
        self.quoted |= source.names
        block.add(f"def {name}({', '.join(source.params)}):", source.place)
        for line in source.lines:
            block.add(f"    {line}", source.place)

    def _define(self, body: Body, blocks: Mapping[Scope | None, _Block]) -> None:
        name = self._new("f")
        for param in body.params:
            self._names[param] = self._unique(param.hint)
        inner = _Block()
        self._state([body.result], {**blocks, body.inside: inner})
        outer = blocks[body.scope]
        params = ", ".join(self._names[param] for param in body.params)
        outer.add(f"def {name}({params}):", body.place)
        for line, place in zip(inner.lines, inner.places, strict=True):
            outer.add(f"    {line}", place)
        outer.add(f"    return {self._name_of(body.result)}", body.place)
        self._names[body] = name

    def _new(self, kind: str) -> str:
        """The name of a value or a function."""
        name = f"{kind}{self._made[kind]}"
        self._made[kind] += 1
        return self._new(kind) if name in self.avoided else name

    def _name_of(self, term: Term) -> str:
        """The name of a term that a statement mentions."""
        name = self._names[term]
        if name in self._leaves:
            self._used.add(name)
        return name

    def _is_known(self, term: Term) -> bool:
        """True if a term needs no statement; a variable gets its name."""
        if term in self._names or isinstance(term, (Body, TextFunction)):
            return True
        leaf = term.leaf()
        if leaf is None:
            return False
        name = self._unique(leaf.hint)
        self._names[term] = name
        self._leaves[name] = leaf
        return True

    def _unique(self, hint: str) -> str:
        stem = _stem(hint)
        count = self._counts.get(stem, 0) + 1
        name = stem if count == 1 else f"{stem}_{count}"
        while name in self.taken or name in self.avoided:
            count += 1
            name = f"{stem}_{count}"
        self._counts[stem] = count
        self.taken.add(name)
        return name


def _own_names(term: Term) -> set[str]:
    """The names that a statement reads of the language."""
    text = Printer(lambda _: "_").printed(term)
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


@lru_cache(maxsize=4096)
def _stem(hint: str) -> str:
    """A name like the hint that has no other meaning."""
    stem = re.sub(r"\W", "_", hint, flags=re.ASCII) or "c"
    if not stem.isidentifier():
        stem = f"_{stem}"
    if keyword.iskeyword(stem) or stem in RESERVED or _MADE.fullmatch(stem):
        stem += "_"
    return stem
