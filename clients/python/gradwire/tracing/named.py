"""Python functions at arguments by name: queries of the programs that they are there."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from inspect import signature
from typing import Any, TypeVar

from gradwire.call import Call, Conversation, Steps
from gradwire.endpoints import Computed, ProgramAt, program_at
from gradwire.errors import UsageError
from gradwire.tracing.arguments import with_floats
from gradwire.tracing.functions import Function
from gradwire.tracing.structures import Structure, flatten
from gradwire.tracing.traced import TracedProgram, with_source_notes
from gradwire.tracing.writing import Written
from gradwire.trees import LEAF, Level, Names, Static, Variables, outermost
from gradwire.usage import used
from gradwire.values import encode_variables

T = TypeVar("T")
O = TypeVar("O", bound=Mapping[str, Any])  # noqa: E741 - the options of a query

#: What ends the name of a variable in a path, ``layers[0].w``.
_BELOW = re.compile(r"[.\[]")
_WORD = re.compile(r"\w+")


def asked(
    query: Callable[[ProgramAt, O], Call[T]],
    of: Computed,
    variables: Variables | None,
    options: O,
    moving: Names = None,
) -> Conversation[T]:
    """A query of a program at its variables; of a Python function, the steps to it.

    Integers among the ``moving`` arguments of a function, by default among all, are numbers to
    differentiate in.
    """
    if callable(of):
        return _of_function(query, of, variables, options, moving)
    return query(program_at(of, variables), options)


def _of_function(
    query: Callable[[ProgramAt, O], Call[T]],
    f: Callable[..., Any],
    variables: Variables | None,
    options: O,
    moving: Names,
) -> Steps[T]:
    if options.get("batch") is not None:
        raise UsageError(
            "batch goes with a program, not with a Python function",
            hint="gradwire.vmap maps a function over examples",
        )
    with used("variables"):
        given = dict(outermost({} if variables is None else variables))
        numbers = {*given} if moving is None else {*_roots(moving)}
        named = {
            name: with_floats(value) if name in numbers else value for name, value in given.items()
        }
        signature(f).bind(**named)
    function = f if isinstance(f, Function) else Function(f)
    traced, _ = yield from function.decided((), named)
    with used("variables"):
        written, values, constants = _by_name(traced, named)
        sent = encode_variables({**values, **constants})
        document = {"program": written.text, "variables": sent}
        chosen: Any = {**options}
        if moving is None:
            chosen["sources"] = {name: name for name in values}
        call = query(ProgramAt("/v1", document, written.text, values), chosen)
    with with_source_notes(written):
        return (yield from call)


def _roots(names: Names) -> Iterator[str]:
    """The variables that names are of, or are within."""
    if isinstance(names, str):
        yield _BELOW.split(names, maxsplit=1)[0]
    elif names is not None:
        for part in names.values() if isinstance(names, Mapping) else names:
            yield from _roots(part)


def _by_name(
    traced: TracedProgram, named: Mapping[str, Any]
) -> tuple[Written, dict[str, Any], dict[str, Any]]:
    """A recording as a program of the arguments as they are nested, these, and its constants."""
    places: list[str] = []
    values: dict[str, Any] = {}
    for name, value in named.items():
        found = [*_places(flatten(value)[1], name)]
        if found:  # what has no array in it is a constant of the recording
            values[name] = value
            places += found
    aliases = {name: places[i] for name, i in traced.arguments.items() if name != places[i]}
    unread = values.keys() - (traced.arguments.keys() - aliases.keys())
    own = _renamed(traced.text, {*aliases, *traced.constants}, unread)
    first = [f"{own(name)} = {place}" for name, place in aliases.items()]
    last = _literal(traced.structure, map(own, traced.returned))
    written = replace(
        traced.written,
        text="\n".join([*first, own(traced.text), last]),
        places=[*[None] * len(first), *traced.written.places, None],
    )
    return written, values, {own(name): value for name, value in traced.constants.items()}


def _renamed(
    text: str, names: AbstractSet[str], arguments: AbstractSet[str]
) -> Callable[[str], str]:
    """Renames, in a text, what an argument is called, too, of its ``names`` and those it binds.

    Sources are found by name: what is bound last would be one, and not the argument. ``arguments``
    are those that the text does not read.
    Raises: ``UsageError`` if one is called what the text reads of the language.
    """
    bound, read = {*names}, set[str]()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name):
            (bound if isinstance(node.ctx, ast.Store) else read).add(node.id)
        elif isinstance(node, ast.FunctionDef):
            bound |= {node.name, *(each.arg for each in node.args.args)}
    if hiding := (read - bound) & arguments:
        problem = f"an argument called {min(hiding)} would hide what has this name in programs"
        raise UsageError(problem, hint="rename it")
    known, others = {*_WORD.findall(text), *bound, *arguments}, dict[str, str]()
    for name in sorted(bound & arguments):
        other = name
        while other in known:
            other += "_"
        known.add(other)
        others[name] = other
    return lambda of: _WORD.sub(lambda word: others.get(word[0], word[0]), of) if others else of


def _places(structure: Structure, place: str) -> Iterator[str]:
    """The leaves of a nested argument, as the language reads them."""
    if structure == LEAF:
        yield place
    elif isinstance(structure, Level):
        for key, part in zip(structure.keys, structure.parts, strict=True):
            yield from _places(part, f"{place}[{json.dumps(key)}]")


def _literal(structure: Structure, names: Iterator[str]) -> str:
    """What a function returns, in the language."""
    if structure == LEAF:
        return next(names)
    if isinstance(structure, Static) and isinstance(structure.value, int | float):
        return repr(structure.value)
    if not isinstance(structure, Level):
        raise UsageError("a function that is asked for by name returns arrays, nested or not")
    parts = [_literal(part, names) for part in structure.parts]
    if all(isinstance(key, str) for key in structure.keys) and structure.keys:
        pairs = zip(structure.keys, parts, strict=True)
        return f"{{{', '.join(f'{json.dumps(key)}: {part}' for key, part in pairs)}}}"
    return f"[{', '.join(parts)}]"
