"""Many points of one program or function: in chunks, each one request with a batch."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from gradwire import questions
from gradwire.errors import DeadlineExceeded, NotInstalled, TooLarge, UsageError
from gradwire.ragged import RaggedArray
from gradwire.requests import Options, Program
from gradwire.requests import point as at_point
from gradwire.sparse import SparseArray
from gradwire.steps import Steps
from gradwire.tracing.functions import Function
from gradwire.tracing.recipes import Recipe, placed
from gradwire.tracing.structures import Structure, flatten, is_array_like, unflatten
from gradwire.trees import MISSING, Variables, inside, is_list, is_wire_leaf, members, outermost
from gradwire.usage import used
from gradwire.values import as_array

#: Points of one request, and bytes of their values, unless the caller or the service says less.
MOST_POINTS = 1024
MOST_BYTES = 1 << 22
#: Before this, no progress is shown.
PROGRESS_AFTER_SECONDS = 0.5


#: Within it, what is told how many more points are done.
Progress: TypeAlias = AbstractContextManager[Callable[[int], Any]]


class Point(NamedTuple):
    """A point: what it holds, and how that is nested."""

    leaves: Sequence[Any]
    structure: Structure

    @property
    def kind(self) -> Any:
        """What points have in common that can be asked about together."""
        shapes = [(type(leaf), np.shape(leaf), np.result_type(leaf)) for leaf in self.leaves]
        return self.structure, tuple(shapes)

    @property
    def nbytes(self) -> int:
        """What its values take."""
        return sum(np.asarray(leaf).nbytes for leaf in self.leaves)


class Mapped(Protocol):
    """What is asked of each point."""

    def point(self, given: Any, index: int) -> Point:
        """What was given as a point."""

    def ask(self, points: Sequence[Point]) -> Steps[list[Any]]:
        """The answer at each of several points of one kind."""


def side_by_side(points: Sequence[Iterator[Any]]) -> Iterator[tuple[Any, ...]]:
    """A point of each, as long as there are some; all have as many."""
    for each in itertools.zip_longest(*points, fillvalue=MISSING):
        if any(part is MISSING for part in each):
            raise UsageError("the points of one argument are longer than those of another")
        yield each


def mapped(
    asked: Mapped, given: Iterable[Any], chunk: int | None, progress: Progress
) -> Steps[list[Any]]:
    """The answers at all points, in their order.

    A chunk that is too large for the service, or takes too long, is halved, as are those after it.
    """
    if chunk is not None and (not _is_int(chunk) or not 1 <= chunk <= sys.maxsize):
        raise UsageError(f"a chunk has one point or more, not {chunk!r}")
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
    options: Options

    def point(self, given: Any, index: int) -> Point:
        """The variables of a point, by name."""
        outermost(given, f"points[{index}]")
        leaves, structure = flatten(given, lambda value: members(value) is None)
        return Point([_number(leaf, index) for leaf in leaves], structure)

    def ask(self, points: Sequence[Point]) -> Steps[list[Any]]:
        """The values of the outputs."""
        varying = inside(unflatten(points[0].structure, _stacked(points)))
        assert isinstance(varying, Mapping)
        shared = outermost(self.shared or {})
        return (yield from _at_each(self.program, shared, varying, self.options, len(points)))


@dataclass(frozen=True, slots=True)
class MappedFunction:
    """A recorded function, of which each point is the arguments."""

    function: Function[..., Any]

    def point(self, given: Any, index: int) -> Point:
        """A point's arguments; Python's integers are numbers here."""
        leaves, structure = flatten(given, lambda value: is_array_like(value) or _is_int(value))
        with used(f"points[{index}]"):
            numbers = [float(leaf) if _is_int(leaf) else leaf for leaf in leaves]
            for leaf in numbers:
                np.shape(leaf)  # arrays of other libraries may refuse to be read
            return Point(numbers, structure)

    def ask(self, points: Sequence[Point]) -> Steps[list[Any]]:
        """What the function returns.

        Points for which it decides otherwise than it was recorded for are asked about again, by
        another recording, until there are none.
        """
        answers: dict[int, Any] = {}
        left, outcomes = list(range(len(points))), list[Any]()
        while left:
            recipe = yield from self.function.path(_args(points[left[0]]), outcomes)
            found = yield from _evaluated(recipe, [points[i] for i in left])
            otherwise: list[tuple[int, list[Any]]] = []
            for i, outputs in zip(left, found, strict=True):
                decided = recipe.outcomes(outputs)
                if recipe.holds(decided):
                    answers[i] = recipe.result(outputs)
                else:
                    otherwise.append((i, decided))
            left = [i for i, _ in otherwise]
            outcomes = otherwise[0][1] if otherwise else []
        return [answers[i] for i in range(len(points))]


def _evaluated(recipe: Recipe, points: Sequence[Point]) -> Steps[list[Any]]:
    """What a recording gives, guards included, at each of several points."""
    stacked = list(_stacked(points))
    varying = {name: stacked[i] for name, i in recipe.arguments.items()}
    options = Options(outputs=list(recipe.outputs))
    with placed(recipe.written):
        return (yield from _at_each(recipe.text, recipe.constants, varying, options, len(points)))


def _at_each(
    program: Program,
    shared: Mapping[str, Any],
    varying: Mapping[str, Any],
    options: Options,
    count: int,
) -> Steps[list[Any]]:
    """The outputs at each of so many points, of which ``varying`` has the variables' stacks."""
    given = Options(**options)
    if varying:
        given["batch"] = list(varying)
    of = at_point(program, {**shared, **varying})
    answer = yield from questions.evaluation(of, given)
    if not varying:
        return [answer.outputs] * count
    return [_nth(answer.outputs, i) for i in range(count)]


def _args(point: Point) -> tuple[Any, ...]:
    args: tuple[Any, ...] = unflatten(point.structure, iter(point.leaves))
    return args


def _chunks(alike: Iterator[Point], chunk: int | None) -> Iterator[list[Point]]:
    for first in alike:
        size = chunk or min(MOST_POINTS, max(1, MOST_BYTES // max(1, first.nbytes)))
        yield [first, *itertools.islice(alike, size - 1)]


def _stacked(points: Sequence[Point]) -> Iterator[Any]:
    """The leaves of several points, each along a first axis."""
    return (np.stack(leaves) for leaves in zip(*(p.leaves for p in points), strict=True))


def _nth(value: Any, i: int) -> Any:
    """What example ``i`` has of nested answers to a batch."""
    if isinstance(value, Mapping):
        return {key: _nth(item, i) for key, item in value.items()}
    if is_list(value) and not (value and isinstance(value[0], SparseArray | RaggedArray)):
        return type(value)(_nth(item, i) for item in value)  # type: ignore[call-arg]
    return value if value is None or isinstance(value, str) else value[i]


def _number(leaf: Any, index: int) -> Any:
    array = as_array(leaf, f"points[{index}]")
    if array is None or is_wire_leaf(leaf):
        raise UsageError(
            f"points[{index}] has a {type(leaf).__name__}: points hold numbers and arrays, "
            "and what all of them share goes into variables"
        )
    return array


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def progress_of(given: Sequence[Iterable[Any]], wanted: bool | None) -> Progress:
    """A bar of what is done: where it is ``wanted``, or where tqdm is there and has a screen."""
    if wanted is False:
        return nullcontext(_ignore)
    try:
        from tqdm.auto import tqdm
    except ModuleNotFoundError:
        if wanted:
            raise NotInstalled(
                "progress is shown by tqdm: pip install 'gradwire[progress]'"
            ) from None
        return nullcontext(_ignore)
    total = min((len(each) for each in given if isinstance(each, Sized)), default=None)
    delay, disable = (0.0, False) if wanted else (PROGRESS_AFTER_SECONDS, None)
    return _advancing(tqdm(total=total, unit=" points", delay=delay, disable=disable))


@contextmanager
def _advancing(bar: Any) -> Iterator[Callable[[int], Any]]:
    with bar:
        yield bar.update


def _ignore(_: int) -> None:
    """What is done with progress that nobody sees."""
