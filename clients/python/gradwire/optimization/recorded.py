"""Python functions as objectives: recorded at the start, from where they move."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from gradwire.call import Steps
from gradwire.chunked import is_dask, published
from gradwire.errors import NotTraceable, UsageError
from gradwire.hidden import plain
from gradwire.optimization.constraints import Constraint, constraints_of, joined
from gradwire.optimization.objectives import Objective, dotted
from gradwire.optimization.parameters import Parameter
from gradwire.tracing.arguments import leaf_names
from gradwire.tracing.functions import Function, inline_of
from gradwire.tracing.structures import is_array_like, parameter_leaves
from gradwire.tracing.terms import Term, dependencies
from gradwire.tracing.traced import TracedProgram
from gradwire.trees import (
    LEAF,
    Level,
    Static,
    Structure,
    flatten,
    paths,
    unflatten,
)
from gradwire.usage import used
from gradwire.values import decode, encode


def of_function(f: Callable[..., Any], x0: Any, args: Any, constraints: Any) -> Steps[Objective]:
    """A Python function of ``x0`` and further arguments, recorded at the start.

    What it decides by the data is decided once; what it would decide by the parameters cannot be.
    """
    start = Start(x0)
    further = _published(args if isinstance(args, tuple) else (args,))
    limits = constraints_of(constraints)
    given = (start.nested, *further)
    traced, leaves = yield from _recorded(_joined(f, limits), given, len(start.leaves))
    moving = {i: name for name, i in traced.arguments.items() if i < len(start.leaves)}
    if not moving:
        raise UsageError("the function does not depend on x0, its first argument")
    own, *rest = _outputs(traced, bool(limits))
    count = _size(own)
    parameters = start.parameters(moving)
    targets = list(traced.returned[:count])
    document: dict[str, Any] = {
        "program": traced.text,
        "variables": {n: encode(value, n) for n, value in traced.variables(leaves).items()},
        "sources": [parameter.name for parameter in parameters],
        "target": targets[0] if own == LEAF else targets,
    }
    if limits:
        document["constraints"] = [
            each.document({"target": name})
            for each, part, name in zip(limits, rest, traced.returned[count:], strict=True)
            if _is_one_array(part)
        ]
    x, values = partial(start.moved, sorted(moving)), partial(_values, own)
    return Objective(document, parameters, x, values, traced, _names_of(f, given, traced))


def _values(structure: Structure, answer: Any) -> Any:
    """The values of which a root is searched, nested as the function gives them."""
    several = answer if isinstance(answer, list) else [answer]
    return unflatten(structure, iter([decode(each) for each in several]))


def _joined(f: Callable[..., Any], limits: Sequence[Constraint]) -> Function[..., Any]:
    """The function, or one of its value and of those of all constraints."""
    for each in limits:
        if not callable(each.of):
            raise UsageError(
                "constraints of a Python function are Python functions, too",
                hint="gradwire.program(text, *names) makes one of program text",
            )
    if not limits:
        return f if isinstance(f, Function) else Function(f)
    inner = [each._replace(of=inline_of(each.of)) for each in limits]
    return Function(f, inline=joined(inline_of(f), inner), calls=[each.of for each in limits])


class Start:
    """The parameters to start from: arrays of floats, nested as they are given."""

    def __init__(self, x0: Any) -> None:
        with used("x0"):
            given, self._structure = parameter_leaves(x0)
            if not given:
                raise UsageError(f"x0 has no numbers to start from, it is {x0!r}"[:200])
            self.leaves: list[Any] = [_float(leaf) for leaf in given]

    @property
    def nested(self) -> Any:
        """The start as the function gets it."""
        return unflatten(self._structure, iter(self.leaves))

    def parameters(self, moving: Mapping[int, str]) -> list[Parameter]:
        """The leaves that move, by their places and names in the program."""
        at = [dotted(path) for path in paths(self._structure, "")]
        return [Parameter(moving[i], at[i], np.shape(self.leaves[i])) for i in sorted(moving)]

    def moved(self, places: Sequence[int], solution: Sequence[Any]) -> Any:
        """The parameters with other values at some places, in the dtypes of the start."""
        found = dict(zip(places, solution, strict=True))
        values = (found.get(i, leaf) for i, leaf in enumerate(self.leaves))
        dtypes = (np.asarray(leaf).dtype for leaf in self.leaves)
        cast = (np.asarray(each, dtype)[()] for each, dtype in zip(values, dtypes, strict=True))
        return unflatten(self._structure, cast)


def _names_of(
    f: Callable[..., Any], args: tuple[Any, ...], traced: TracedProgram
) -> dict[str, str]:
    """The variables of a recording by the paths of the arguments."""
    named = [dotted(path) for path in leaf_names(f, flatten((args, {}), is_array_like)[1])]
    return {named[i]: name for name, i in traced.arguments.items()}


def _published(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments, with Dask's arrays published: a recording must not fetch them."""
    leaves, structure = flatten(args, is_array_like)
    found: tuple[Any, ...] = unflatten(
        structure, (published(leaf) if is_dask(leaf) else leaf for leaf in leaves)
    )
    return found


def _float(leaf: Any) -> Any:
    """A leaf of the start; as in SciPy, from integers the search goes on in floats."""
    if isinstance(leaf, (int, float)) and not isinstance(leaf, np.generic):
        return float(leaf)
    array = plain(leaf, "x0")
    return (array.astype(np.float64) if array.dtype.kind in "iu" else array)[()]


def _recorded(
    function: Function[..., Any], args: tuple[Any, ...], count: int
) -> Steps[tuple[TracedProgram, list[Any]]]:
    """The recording at these arguments, of which the first ``count`` leaves will move."""
    traced, given, _ = yield from function.decided(args)
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


def _outputs(traced: TracedProgram, has_constraints: bool) -> list[Structure]:
    """The structure of the function's value, and that of each constraint's."""
    if not has_constraints:
        return [traced.structure]
    assert isinstance(traced.structure, Level)
    own, rest = traced.structure.parts
    assert isinstance(rest, Level)
    return [own, *rest.parts]


def _size(structure: Structure) -> int:
    """The number of leaves."""
    if isinstance(structure, Level):
        return sum(map(_size, structure.parts))
    return 0 if isinstance(structure, Static) else 1


def _is_one_array(structure: Structure) -> bool:
    if structure != LEAF:
        raise UsageError("a constraint's function returns one number or one array")
    return True
