"""Many points of one program or function: in chunks, each one request with a batch."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from gradwire import endpoints
from gradwire.call import Steps
from gradwire.endpoints import EvaluateOptions, Program, program_at
from gradwire.errors import APIError, DeadlineExceeded, TooLarge, UsageError
from gradwire.progress import bar, ignore
from gradwire.ragged import RaggedArray
from gradwire.results import Notice
from gradwire.sparse import SparseArray
from gradwire.tracing.functions import Function
from gradwire.tracing.structures import Structure, flatten, is_array_like, unflatten
from gradwire.tracing.traced import TracedProgram, with_source_notes
from gradwire.trees import MISSING, Variables, inside, is_list, is_wire_leaf, members, outermost
from gradwire.usage import used
from gradwire.values import as_array

#: Most points of one request, and most bytes of their values; the service may allow fewer.
MOST_POINTS = 1024
MOST_BYTES = 1 << 22
#: Shorter computations show no progress.
PROGRESS_AFTER_SECONDS = 0.5


#: A context whose value is called with the number of further points that are done.
Progress: TypeAlias = AbstractContextManager[Callable[[int], Any]]


class FlatPoint(NamedTuple):
    """A point, flattened: its leaves and their structure."""

    leaves: Sequence[Any]
    structure: Structure

    @property
    def kind(self) -> Any:
        """The structure, shapes and dtypes: points of one kind go into one request."""
        shapes = [(type(leaf), np.shape(leaf), np.asarray(leaf).dtype) for leaf in self.leaves]
        return self.structure, tuple(shapes)

    @property
    def nbytes(self) -> int:
        """The size of its values."""
        return sum(np.asarray(leaf).nbytes for leaf in self.leaves)


class Mapped(Protocol):
    """A computation at each point."""

    def point(self, given: Any, index: int) -> FlatPoint:
        """Flatten a point."""

    def ask(self, points: Sequence[FlatPoint]) -> Steps[list[Any]]:
        """The answer at each of several points of one kind."""


def side_by_side(points: Sequence[Iterator[Any]]) -> Iterator[tuple[Any, ...]]:
    """The points of all arguments, side by side; all sequences have one length."""
    for each in itertools.zip_longest(*points, fillvalue=MISSING):
        if any(part is MISSING for part in each):
            raise UsageError("arguments need equally many points, but one has more than another")
        yield each


def mapped(
    asked: Mapped, given: Iterable[Any], chunk: int | None, progress: Progress
) -> Steps[list[Any]]:
    """The answers at all points, in their order.

    A chunk that is too large for the service, or takes too long, is halved, as are those after it.
    """
    if chunk is not None and (not _is_int(chunk) or not 1 <= chunk <= sys.maxsize):
        got = chunk if _is_int(chunk) else type(chunk).__name__
        raise UsageError(f"a chunk needs at least one point, got {got}")
    most = chunk or MOST_POINTS
    points = (asked.point(one, i) for i, one in enumerate(given))
    answers: list[Any] = []
    with progress as advance:
        for _, alike in itertools.groupby(points, lambda point: point.kind):
            for waiting in _chunks(alike, chunk):
                while waiting:
                    part = waiting[:most]
                    try:
                        answers += yield from asked.ask(part)
                    except (TooLarge, DeadlineExceeded):
                        if len(part) == 1:
                            raise
                        most = len(part) // 2
                    else:
                        del waiting[: len(part)]
                        advance(len(part))
    return answers


@dataclass(frozen=True, slots=True)
class MappedProgram:
    """A program, of whose variables the points give some, and all share the others."""

    program: Program
    shared: Variables | None
    options: EvaluateOptions

    def point(self, given: Any, index: int) -> FlatPoint:
        """The variables of a point, by name."""
        with used(f"points[{index}]"):
            outermost(given, f"points[{index}]")
            leaves, structure = flatten(given, _is_leaf)
            return FlatPoint([_number(leaf, index) for leaf in leaves], structure)

    def ask(self, points: Sequence[FlatPoint]) -> Steps[list[Any]]:
        """The values of the outputs."""
        varying = inside(unflatten(points[0].structure, _stacked(points)))
        assert isinstance(varying, Mapping)
        shared = outermost(self.shared or {})
        return (yield from _at_each(self.program, shared, varying, self.options, len(points)))[0]


@dataclass(frozen=True, slots=True)
class MappedFunction:
    """A recorded function, of which each point is the arguments."""

    function: Function[..., Any]

    def point(self, given: Any, index: int) -> FlatPoint:
        """A point's arguments; Python's integers are numbers here."""
        with used(f"points[{index}]"):
            leaves, structure = flatten(given, lambda value: is_array_like(value) or _is_int(value))
            numbers = [float(leaf) if _is_int(leaf) else leaf for leaf in leaves]
            for leaf in numbers:
                np.asarray(leaf)  # arrays of other libraries may refuse to be read
            return FlatPoint(numbers, structure)

    def ask(self, points: Sequence[FlatPoint]) -> Steps[list[Any]]:
        """The function's results.

        Points whose guards have other values are evaluated again by another recording, until
        none are left.
        """
        answers: dict[int, Any] = {}
        left, guard_values = list(range(len(points))), list[Any]()
        while left:
            args = _args(points[left[0]])
            traced, _ = yield from self.function.path(args, guard_values=guard_values)
            try:
                found = yield from _evaluated(traced, [points[i] for i in left])
                told = [(outputs, traced.guard_values(outputs)) for outputs in found]
            except APIError:
                if not traced.guards:
                    raise
                told = []  # they may decide otherwise: each by itself
                for i in left:
                    told.append((yield from traced.ask(points[i].leaves)))
            otherwise: list[tuple[int, list[Any]]] = []
            for i, (outputs, decided) in zip(left, told, strict=True):
                if traced.guards_hold(decided):
                    answers[i] = traced.result(outputs)
                else:
                    otherwise.append((i, decided))
            left = [i for i, _ in otherwise]
            guard_values = otherwise[0][1] if otherwise else []
        return [answers[i] for i in range(len(points))]


def _evaluated(traced: TracedProgram, points: Sequence[FlatPoint]) -> Steps[list[Any]]:
    """The outputs of a recording at each of several points, guards included."""
    stacked = list(_stacked(points))
    varying = {name: stacked[i] for name, i in traced.arguments.items()}
    options = EvaluateOptions(outputs=list(traced.outputs))
    with with_source_notes(traced.written):
        of = traced.text, traced.constants, varying, options, len(points)
        found, notices = yield from _at_each(*of)
    traced.warn(notices)
    return found


def _at_each(
    program: Program,
    shared: Mapping[str, Any],
    varying: Mapping[str, Any],
    options: EvaluateOptions,
    count: int,
) -> Steps[tuple[list[Any], Sequence[Notice]]]:
    """The outputs at each of ``count`` points, and warnings; ``varying`` has the variables."""
    given = EvaluateOptions(**options)
    if varying:
        given["batch"] = list(varying)
    of = program_at(program, {**shared, **varying})
    answer = yield from endpoints.evaluation(of, given)
    if not varying:
        return [answer.outputs] * count, answer.warnings
    return [_nth(answer.outputs, i) for i in range(count)], answer.warnings


def _args(point: FlatPoint) -> tuple[Any, ...]:
    args: tuple[Any, ...] = unflatten(point.structure, iter(point.leaves))
    return args


def _chunks(alike: Iterator[FlatPoint], chunk: int | None) -> Iterator[list[FlatPoint]]:
    for first in alike:
        size = chunk or min(MOST_POINTS, max(1, MOST_BYTES // max(1, first.nbytes)))
        yield [first, *itertools.islice(alike, size - 1)]


def _stacked(points: Sequence[FlatPoint]) -> Iterator[Any]:
    """The leaves of several points, each along a first axis."""
    return (np.stack(leaves) for leaves in zip(*(p.leaves for p in points), strict=True))


def _nth(value: Any, i: int) -> Any:
    """Example ``i`` of a batch's nested answers."""
    if isinstance(value, Mapping):
        return {key: _nth(item, i) for key, item in value.items()}
    if is_list(value) and not (value and isinstance(value[0], SparseArray | RaggedArray)):
        return type(value)(_nth(item, i) for item in value)  # type: ignore[call-arg]
    return value if value is None or isinstance(value, str) else value[i]


def _is_leaf(value: Any) -> bool:
    return isinstance(value, SparseArray | RaggedArray) or members(value) is None


def _number(leaf: Any, index: int) -> Any:
    array = as_array(leaf, f"points[{index}]")
    if array is None or is_wire_leaf(leaf):
        raise UsageError(
            f"points[{index}] has a {type(leaf).__name__}: points hold numbers and arrays, "
            "put values that all of them share into variables"
        )
    return array


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def progress_of(given: Sequence[Iterable[Any]], wanted: bool | None) -> Progress:
    """A progress bar: if ``wanted``, or if tqdm is installed and stderr is a terminal."""
    total = min((len(each) for each in given if isinstance(each, Sized)), default=None)
    delay = 0.0 if wanted else PROGRESS_AFTER_SECONDS
    shown = bar(wanted, total=total, unit=" points", delay=delay)
    return nullcontext(ignore) if shown is None else _advancing(shown)


@contextmanager
def _advancing(shown: Any) -> Iterator[Callable[[int], Any]]:
    with shown:
        yield shown.update
