"""Programs as objectives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradwire.endpoints import Program, program_at, program_document, text_of
from gradwire.errors import UsageError
from gradwire.optimization.constraints import Linear, constraints_of
from gradwire.optimization.objectives import Objective, dotted
from gradwire.optimization.parameters import Parameter
from gradwire.trees import Names, Variables, is_wire_leaf, members, outermost, template
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
    parameters = _parameters(like, sources)
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
    return Objective(
        document,
        parameters,
        lambda solution: decode(solution, like),
        lambda found: decode(found, target),
        text_of(program),
    )


def _names(value: Any, path: str) -> Any:
    """The paths of variables, nested as they are."""
    held = members(value)
    if held is None:
        return path
    if isinstance(held, Mapping):
        return {key: _names(part, f"{path}.{key}".lstrip(".")) for key, part in held.items()}
    return [_names(part, f"{path}.{i}") for i, part in enumerate(held)]


def _parameters(like: Any, names: Names) -> list[Parameter]:
    """The sources of a program, as far as their shapes are known here."""
    paths_of = _names(like, "") if names is None else names
    found: list[Parameter] = []

    def walk(value: Any, named: Any) -> None:
        if isinstance(named, str):
            held = members(value)
            if held is not None:  # the name of a level
                below = _names(value, named)
                walk(value, below)
                return
            array = None if is_wire_leaf(value) and "ref" in value else as_array(value, named)
            if array is not None:
                found.append(Parameter(named, dotted(named), array.shape))
        elif isinstance(named, Mapping):
            for key, part in named.items():
                walk(value[key], part)
        elif named is not None:
            for i, part in enumerate(named):
                walk(value[i], part)

    if like is not None:
        walk(like, paths_of)
    return found


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
