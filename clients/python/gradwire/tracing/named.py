"""Python functions at arguments by name: queries of the programs that they are there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from itertools import takewhile
from keyword import iskeyword
from numbers import Number
from typing import Any, TypeVar
from unicodedata import normalize

from gradwire.call import Call, Conversation, Steps
from gradwire.endpoints import Computed, ProgramAt, program_at
from gradwire.errors import UsageError
from gradwire.tracing.arguments import copied, with_floats
from gradwire.tracing.functions import Function
from gradwire.tracing.literals import literal
from gradwire.tracing.structures import Structure, flatten
from gradwire.tracing.traced import with_source_notes
from gradwire.trees import LEAF, Level, Names, Static, Variables, is_wire_leaf, outermost
from gradwire.usage import is_function, used
from gradwire.values import encode_variables

T = TypeVar("T")

#: What ends the name of a variable in a path, ``layers[0].w``.
_BELOW = re.compile(r"[.\[]")
_RENAME = "give it other keys"


def asked(
    query: Callable[..., Call[T]],
    of: Computed,
    variables: Variables | None,
    options: Mapping[str, object],
    moving: Names = None,
    *directions: Variables,
) -> Conversation[T]:
    """A query of a program at its variables; of a Python function, the steps to it.

    ``query`` takes both, ``directions`` and the options. Integers among the ``moving`` arguments of
    a function, by default among all, are numbers to differentiate in. Values are those of now.
    """
    if not is_function(of):
        program: Any = of
        return query(program_at(program, variables), *directions, options)
    if options.get("batch") is not None:
        raise UsageError(
            "batch goes with a program, not with a Python function",
            hint="gradwire.vmap maps a function over examples",
        )
    function = of if isinstance(of, Function) else Function(of)
    with used("variables"):
        given = outermost({} if variables is None else variables)
        by_position, by_keyword = _bound(function, given)
        numbers = {*given} if moving is None else {*_roots(moving)}
        numbers |= {by_position[i] for i in function.differentiated if i < len(by_position)}
        values = {
            name: copied(with_floats(given[name]) if name in numbers else given[name])
            for name in (*by_position, *by_keyword)
        }
        places: list[str] = []
        sent = {}
        for name, value in values.items():
            leaves, structure = flatten(value)
            if leaves:  # what has no array in it is a constant of the recording
                sent[name] = _pruned(structure, iter(leaves), name, places)
        document = {"variables": encode_variables(sent)}
    args = [values[name] for name in by_position]
    kwargs = {name: values[name] for name in by_keyword}
    chosen, along = copied((dict(options), directions))

    def steps() -> Steps[T]:
        traced, _, _ = yield from function.decided(args, kwargs)
        with used("variables"):
            written, names = traced.reading(places, values.keys())
            document["variables"] |= encode_variables(written.variables)  # constants
            text = f"{written.text}\n{_literal(traced.structure, iter(names))}"
            call = query(
                ProgramAt("/v1", {"program": text, **document}, text, variables), *along, chosen
            )
            if moving is None:  # all that is given, but no constant
                sources = {name: name for name in sent}
                call = replace(call, document={**call.document, "sources": sources})
        with with_source_notes(written):
            return (yield from call)

    return steps()


def _bound(f: Callable[..., Any], names: Iterable[Any]) -> tuple[Sequence[str], Sequence[str]]:
    """The names of arguments that are given by position, and of those that are by keyword.

    Raises: ``UsageError`` for a name that programs would read as something else.
    """
    for name in names:
        is_plain = isinstance(name, str) and name.isidentifier() and not iskeyword(name)
        if not is_plain or normalize("NFKC", name) != name:
            raise UsageError(
                f"{name!r:.80} cannot be the name of an argument",
                hint="nest it in a dictionary, which is the argument",
            )
    declared = signature(f)
    leading = [name for name, of in declared.parameters.items() if of.kind is of.POSITIONAL_ONLY]
    first = [*takewhile({*names}.__contains__, leading)]
    bound = declared.bind(*first, **{name: name for name in names if name not in first})
    return bound.args, [*bound.kwargs]


def _roots(names: Names) -> Iterator[str]:
    """The variables that names are of, or are within."""
    if isinstance(names, str):
        yield _BELOW.split(names, maxsplit=1)[0]
    elif names is not None:
        for part in names.values() if isinstance(names, Mapping) else names:
            yield from _roots(part)


def _pruned(structure: Structure, leaves: Iterator[Any], place: str, places: list[str]) -> Any:
    """The arrays of a nested argument, nested as it is; of it, mappings lack what has none.

    ``places`` gets where each is, as the language reads it.
    """
    if not isinstance(structure, Level):
        if isinstance(structure, Static):
            return structure.value
        places.append(place)
        return next(leaves)
    is_list = _is_listed(structure.kind)
    if not (is_list or all(isinstance(key, str) for key in structure.keys)):
        raise UsageError(f"{place} has keys that are not strings", hint=_RENAME)
    parts = {
        key: _pruned(part, leaves, f"{place}[{key!r}]", places)
        for key, part in zip(structure.keys, structure.parts, strict=True)
        if is_list or _has_arrays(part)
    }
    if is_wire_leaf(parts):
        raise UsageError(
            f"{place} has keys ({', '.join(parts)}) that the protocol keeps for arrays",
            hint=_RENAME,
        )
    return [*parts.values()] if is_list else parts


def _has_arrays(structure: Structure) -> bool:
    if isinstance(structure, Level):
        return any(map(_has_arrays, structure.parts))
    return structure == LEAF


def _is_listed(kind: type) -> bool:
    return issubclass(kind, list | tuple) and not hasattr(kind, "_fields")


def _literal(structure: Structure, names: Iterator[str]) -> str:
    """The result of a function, in the language."""
    if structure == LEAF:
        return next(names)
    if isinstance(structure, Static) and isinstance(structure.value, Number):
        return literal(structure.value)
    if not isinstance(structure, Level):
        raise UsageError("a function that is asked for by name returns arrays, nested or not")
    parts = [_literal(part, names) for part in structure.parts]
    if _is_listed(structure.kind):
        return f"[{', '.join(parts)}]"
    if not all(isinstance(key, str) for key in structure.keys):
        raise UsageError("what a function returns has keys that are not strings", hint=_RENAME)
    pairs = [f"{key!r}: {part}" for key, part in zip(structure.keys, parts, strict=True)]
    return f"{{{', '.join(pairs)}}}"
