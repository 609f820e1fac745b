"""Programs as objectives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from gradwire.chunked import is_dask
from gradwire.endpoints import Program, program_at, program_document, text_of
from gradwire.errors import UsageError
from gradwire.optimization.constraints import Linear, constraints_of
from gradwire.optimization.objectives import Objective, dotted
from gradwire.optimization.parameters import Parameter
from gradwire.stored import RemoteArray
from gradwire.trees import (
    MISSING,
    Names,
    Variables,
    is_wire_leaf,
    lookup,
    members,
    outermost,
    template,
)
from gradwire.values import as_array, decode


def of_program(
    program: Program,
    x0: Any,
    variables: Variables | None,
    sources: Names,
    target: Names,
    constraints: Any,
) -> Objective:
    """A program; ``x0`` has the variables that are optimised, unless ``sources`` names them."""
    program_document(program)  # which refuses what is no program
    start = {} if x0 is None else outermost(x0, "x0")
    given = {**outermost(variables or {}), **start}
    if sources is None and start:
        sources = _names(start, "")
    like = template(sources, given)
    parameters = _parameters(given, sources)
    document = {**program_at(program, given).document}
    if sources is not None:
        document["sources"] = sources
    if target is not None:
        document["target"] = target
    sent = []
    for i, each in enumerate(constraints_of(constraints)):
        if isinstance(each.of, Linear):
            text, further = _linear(each.of.matrix, parameters, i)
            document["variables"] = {**document["variables"], **further}
            sent.append(each.document({"program": text}))
        elif isinstance(each.of, Mapping) and each.of.keys() == {"target"}:
            sent.append(each.document(each.of))
        else:
            sent.append(each.document({"program": program_document(each.of)}))
    if sent:
        document["constraints"] = sent
    x, values = partial(decode, like=like), partial(decode, like=target)
    return Objective(document, parameters, x, values, text_of(program))


def _names(value: Any, path: str) -> Any:
    """The paths of variables, nested as they are."""
    held = members(value)
    if held is None:
        return path
    if isinstance(held, Mapping):
        return {key: _names(part, f"{path}.{key}".lstrip(".")) for key, part in held.items()}
    return [_names(part, f"{path}.{i}") for i, part in enumerate(held)]


def _parameters(given: Mapping[str, Any], sources: Names) -> list[Parameter]:
    """The sources of a program, by default all that may move, as far as their shapes are known."""
    found: list[Parameter] = []
    for name in _leaves(_names(given, "") if sources is None else sources, given):
        value = lookup(given, name)
        if value is MISSING or is_dask(value):
            continue
        if is_wire_leaf(value) and ("ref" in value or value.get("trainable") is False):
            continue
        known = value if isinstance(value, RemoteArray) else as_array(value, name)
        if known is not None:
            found.append(Parameter(name, dotted(name), known.shape))
    return found


def _leaves(names: Names, given: Mapping[str, Any]) -> Iterator[str]:
    """Names in their order, those of levels as the names of all that is in them."""
    if isinstance(names, str):
        value = lookup(given, names)
        if value is MISSING or members(value) is None:
            yield names
        else:
            yield from _leaves(_names(value, names), given)
    elif names is not None:
        for part in names.values() if isinstance(names, Mapping) else names:
            yield from _leaves(part, given)


def _linear(matrix: Any, parameters: Sequence[Parameter], place: int) -> tuple[str, dict[str, Any]]:
    """A product with all parameters in a row, as a program of further variables."""
    sizes = [parameter.size for parameter in parameters]
    if matrix.shape[1] != sum(sizes):
        raise UsageError(
            f"constraints[{place}] has a matrix of {matrix.shape[1]} columns, "
            f"but {sum(sizes)} elements are optimised"
        )
    parts = np.split(matrix, np.cumsum(sizes)[:-1], axis=1)
    names = [f"linear_{place}_{i}" for i in range(len(parts))]
    terms = [
        f"{name} @ reshape({parameter.name}, [-1])"
        for name, parameter in zip(names, parameters, strict=True)
    ]
    further = {
        name: {"value": np.ascontiguousarray(part), "trainable": False}
        for name, part in zip(names, parts, strict=True)
    }
    return " + ".join(terms), further
