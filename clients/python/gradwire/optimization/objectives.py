"""What is optimised: a recorded function or a program, and how its answer is nested."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from gradwire.call import Steps
from gradwire.chunked import is_dask, published
from gradwire.endpoints import Program, program_at, program_document, text_of
from gradwire.errors import NotTraceable, UsageError
from gradwire.optimization.constraints import Linear, constraints_of, joined
from gradwire.optimization.parameters import Parameter
from gradwire.optimization.results import Read
from gradwire.tracing.functions import Function, inline_of, leaf_names
from gradwire.tracing.structures import is_array_like
from gradwire.tracing.terms import Term, dependencies
from gradwire.tracing.traced import TracedProgram
from gradwire.trees import (
    LEAF,
    Level,
    Names,
    Static,
    Structure,
    Variables,
    flatten,
    is_list,
    is_wire_leaf,
    members,
    outermost,
    paths,
    template,
    unflatten,
)
from gradwire.usage import used
from gradwire.values import as_array, decode, encode


@dataclass(frozen=True)
class Objective:
    """A program at its start, and how the parts of an answer are nested."""

    #: The members of the request that say what is optimised.
    document: Mapping[str, Any]
    parameters: Sequence[Parameter]
    #: Read the solution, and the values of which a root is searched.
    x: Read
    values: Read
    #: The program's text, for the excerpts that errors show.
    source: str | None
    #: The recording, for the places of the user's code that errors name.
    traced: TracedProgram | None = None
    #: The variables of the program by the function's names for them.
    names: Mapping[str, str] = MappingProxyType({})


def of_function(f: Callable[..., Any], x0: Any, args: Any, constraints: Any) -> Steps[Objective]:
    """A Python function of ``x0`` and further arguments, recorded at the start.

    What it decides by the data is decided once; what it would decide by the parameters cannot be.
    """
    limits = constraints_of(constraints)
    for each in limits:
        if not callable(each.of):
            raise UsageError(
                "constraints of a Python function are Python functions, too",
                hint="gradwire.program(text, *names) makes one of program text",
            )
    start, leaves, structure = _start(x0)
    further = _published(tuple(args) if isinstance(args, (tuple, list)) else (args,))
    function = f if isinstance(f, Function) else Function(f)
    if limits:
        called = [each.of for each in limits]
        inner = [each._replace(of=inline_of(each.of)) for each in limits]
        function = Function(f, inline=joined(inline_of(f), inner), calls=called)
    traced, given = yield from _recorded(function, (start, *further), len(leaves))
    names = {i: name for name, i in traced.arguments.items() if i < len(leaves)}
    if not names:
        raise UsageError("the function does not depend on x0, its first argument")
    own, rest = _outputs(traced, bool(limits))
    at = [path.removeprefix(".") for path in paths(structure, "")]
    parameters = [Parameter(names[i], _plain(at[i]), np.shape(leaves[i])) for i in sorted(names)]

    def x(solution: Any) -> Any:
        found = dict(zip(sorted(names), solution, strict=True))
        moved = (found.get(i, leaf) for i, leaf in enumerate(leaves))
        dtypes = (np.asarray(leaf).dtype for leaf in leaves)
        cast = (np.asarray(each, dtype)[()] for each, dtype in zip(moved, dtypes, strict=True))
        return unflatten(structure, cast)

    def values(document: Any) -> Any:
        several = document if isinstance(document, list) else [document]
        return unflatten(own, iter([decode(each) for each in several]))

    count = _size(own)
    targets = list(traced.returned[:count])
    document: dict[str, Any] = {
        "program": traced.text,
        "variables": {n: encode(value, n) for n, value in traced.variables(given).items()},
        "sources": [parameter.name for parameter in parameters],
        "target": targets[0] if own == LEAF else targets,
    }
    if limits:
        document["constraints"] = [
            each.document({"target": name})
            for each, part, name in zip(limits, rest, traced.returned[count:], strict=True)
            if _is_one_array(part)
        ]
    called = _names_of(f, (start, *further), traced)
    return Objective(document, parameters, x, values, traced.text, traced, called)


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


def _names_of(
    f: Callable[..., Any], args: tuple[Any, ...], traced: TracedProgram
) -> dict[str, str]:
    """The variables of a recording by the paths of the arguments."""
    named = [_plain(path) for path in leaf_names(f, flatten((args, {}), is_array_like)[1])]
    return {named[i]: name for name, i in traced.arguments.items()}


def _published(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments, with Dask's arrays published: a recording must not fetch them."""
    leaves, structure = flatten(args, is_array_like)
    found: tuple[Any, ...] = unflatten(
        structure, (published(leaf) if is_dask(leaf) else leaf for leaf in leaves)
    )
    return found


def _start(x0: Any) -> tuple[Any, list[Any], Structure]:
    """The start with arrays of floats as its leaves, the leaves, and their structure."""
    if is_list(x0) and x0 and members(x0) is None:  # a list of numbers is an array
        x0 = np.asarray(x0)
    given, structure = flatten(x0, _is_parameter)
    if not given:
        raise UsageError(f"x0 has no numbers to start from, it is {x0!r}"[:200])
    with used("x0"):
        leaves = [_float(leaf) for leaf in given]
    return unflatten(structure, iter(leaves)), leaves, structure


def _float(leaf: Any) -> Any:
    """A leaf of the start; as in SciPy, from integers the search goes on in floats."""
    if isinstance(leaf, (int, float)) and not isinstance(leaf, np.generic):
        return float(leaf)
    array = np.asarray(leaf)
    return (array.astype(np.float64) if array.dtype.kind in "iu" else array)[()]


def _is_parameter(value: Any) -> bool:
    return is_array_like(value) or (isinstance(value, int) and not isinstance(value, bool))


def _recorded(
    function: Function[..., Any], args: tuple[Any, ...], count: int
) -> Steps[tuple[TracedProgram, list[Any]]]:
    """The recording at these arguments, of which the first ``count`` leaves will move."""
    traced, given = yield from function.path(args)
    while traced.guards:
        answer = yield from traced.call(given)
        decided = traced.guard_values(answer.outputs)
        if traced.guards_hold(decided):
            break
        traced, given = yield from function.path(args, guard_values=decided)
    moving = {name for name, i in traced.arguments.items() if i < count}
    terms = {traced.written.leaves[name] for name in moving}
    for guard in traced.guards:
        if not terms.isdisjoint(dependencies([guard.term], _never)):
            raise NotTraceable(
                "the function decides by its parameters, which move during the optimisation",
                place=guard.term.place,
                hint="decide inside the program: gradwire.cond, gradwire.while_loop or "
                "numpy.where; or decide anew at each step: gradwire.adapters.scipy.minimize",
            )
    return traced, given


def _never(_: Term) -> bool:
    return False


def _outputs(traced: TracedProgram, has_constraints: bool) -> tuple[Structure, Sequence[Structure]]:
    """The structure of the function's value, and that of each constraint's."""
    whole = traced.structure
    if not has_constraints:
        return whole, ()
    assert isinstance(whole, Level)
    own, rest = whole.parts
    assert isinstance(rest, Level)
    return own, rest.parts


def _size(structure: Structure) -> int:
    """The number of leaves."""
    if isinstance(structure, Level):
        return sum(map(_size, structure.parts))
    return 0 if isinstance(structure, Static) else 1


def _is_one_array(structure: Structure) -> bool:
    if structure != LEAF:
        raise UsageError("a constraint's function returns one number or one array")
    return True


def _plain(path: str) -> str:
    """A path with dots alone: ``layers.0.w``."""
    return path.replace("['", ".").replace("']", "").replace("[", ".").replace("]", "").strip(".")


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
                found.append(Parameter(named, _plain(named), array.shape))
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
