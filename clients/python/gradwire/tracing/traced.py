"""A recorded function as a program: its request for arguments, guards and results."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradwire import endpoints
from gradwire.call import Call, Steps
from gradwire.endpoints import ProgramAt
from gradwire.errors import APIError, GradwireError
from gradwire.hidden import plain
from gradwire.results import Evaluation, Notice
from gradwire.stored import RemoteArray
from gradwire.tracing.evaluation import LocalValues, NotHere
from gradwire.tracing.failures import explained
from gradwire.tracing.lazy_arrays import RecordableArray
from gradwire.tracing.numpy_trace import NumpyTrace
from gradwire.tracing.recorded import as_recorded
from gradwire.tracing.rolling import rolled
from gradwire.tracing.shapes import Aval
from gradwire.tracing.structures import Structure, flatten, unflatten
from gradwire.tracing.terms import Leaf, Place, Term
from gradwire.tracing.tracer import Tracer
from gradwire.tracing.traces import Guard, same_values
from gradwire.tracing.wrappers import check_argument
from gradwire.tracing.writing import Written, write
from gradwire.trees import Level, Static
from gradwire.usage import caller_level
from gradwire.values import encode
from gradwire.warnings import DerivativeWarning

#: The codes of warnings that the answer is not the derivative; without a path it is rightly 0.
OF_DERIVATIVES = frozenset({"singular", "degenerate", "state", "rebound", "real_part"})
#: Sends a call while a function is recorded.
Ask = Callable[[Call[Any]], Any]


@dataclass(frozen=True, slots=True)
class TracedProgram:
    """A program recorded from a Python function, for arguments of one structure."""

    written: Written
    #: What it computes, guards' values last, and the arguments' leaves.
    roots: Sequence[Term]
    inputs: Sequence[Leaf]
    #: The index of the argument's leaf behind each variable.
    arguments: Mapping[str, int]
    #: Captured arrays.
    constants: Mapping[str, Any]
    outputs: Sequence[str]
    structure: Structure
    guards: Sequence[Guard]
    #: True if files were read while it was recorded.
    reads_files: bool

    @property
    def text(self) -> str:
        """The program."""
        return self.written.text

    @property
    def returned(self) -> Sequence[str]:
        """The names of the function's results, without guards' values."""
        return self.outputs[: len(self.outputs) - len(self.guards)]

    def reading(
        self, places: Sequence[str], names: AbstractSet[str]
    ) -> tuple[Written, Sequence[str]]:
        """The program that reads its arguments' leaves at these places, and its results' names.

        Only variables have the ``names``. Raises: ``UsageError`` if it needs one of them itself.
        """
        roots = self.roots[: len(self.returned)]
        written = write(roots, places=dict(zip(self.inputs, places, strict=True)), names=names)
        return written, [written.names[root] for root in roots]

    def variables(self, leaves: Sequence[Any]) -> dict[str, Any]:
        """The program's variables for these arguments."""
        return {name: leaves[i] for name, i in self.arguments.items()} | dict(self.constants)

    def call(self, leaves: Sequence[Any]) -> Call[Evaluation]:
        """The request for these arguments; its outputs are results, then guards' values."""
        return evaluation(self.written, self.variables(leaves), self.outputs)

    def difference(self, other: TracedProgram) -> tuple[Place | None, str] | None:
        """Where and how another recording for the same arguments differs, if it does."""
        ours, theirs = self.text.splitlines(), other.text.splitlines()
        for i, (mine, its) in enumerate(zip(ours, theirs, strict=False)):
            if mine != its:
                return self.written.places[i], f"`{mine}`"
        if len(ours) != len(theirs) or _outline(self.structure) != _outline(other.structure):
            return self.written.places[-1], "other steps or results"
        for name, value in self.constants.items():
            if not same_values(value, other.constants[name]):
                return self._first_use(name), f"the array `{name}`"
        return None

    def _first_use(self, name: str) -> Place | None:
        lines = self.text.splitlines()
        uses = [i for i, line in enumerate(lines) if re.search(rf"\b{name}\b", line)]
        return self.written.places[uses[0]] if uses else None

    def ask(self, leaves: Sequence[Any]) -> Steps[tuple[Sequence[Any], list[Any]]]:
        """The outputs for these arguments, and the guards' values as ``guard_values`` has them.

        A program of other decisions may fail: then its guards say so, and there are no outputs.
        """
        try:
            with with_source_notes(self.written):
                answer = yield from self.call(leaves)
        except APIError:
            decided = yield from self.decided(leaves)
            if self.guards_hold(decided):
                raise
            return (), decided
        found = self.guard_values(answer.outputs)
        if self.guards_hold(found):
            self.warn(answer.warnings)
        return answer.outputs, found

    def warn(self, notices: Sequence[Notice]) -> None:
        """Warn of derivatives that do not exist, once of each, at the line that asked for them."""
        seen = set()
        for notice in notices:
            node, place = notice.node, None
            if node is not None:
                place = self.written.place_of(node.line)
            if notice.code in OF_DERIVATIVES and (notice.detail, place) not in seen:
                seen.add((notice.detail, place))
                warning = DerivativeWarning(notice.detail, notice.code, place)
                warnings.warn(warning, stacklevel=caller_level())

    def decided(self, leaves: Sequence[Any]) -> Steps[list[Any]]:
        """The guards' values by themselves, up to the first that differs from the recording."""
        variables = self.variables(leaves)
        given = {leaf: variables[name] for name, leaf in self.written.leaves.items()}
        local = LocalValues(lambda leaf: given.get(leaf, leaf.value))
        found: list[Any] = []
        while len(found) < len(self.guards) and self.guards_hold(found):
            guard = self.guards[len(found)]
            try:
                (value,) = local.of([guard.term])
            except NotHere as missing:
                value = yield from _asked(missing.term, local)
                local.learn(missing.term, value)
            else:
                found.append(guard.read(value))
        return found

    def guard_values(self, outputs: Sequence[Any]) -> list[Any]:
        """The guards' values in an answer, up to the first that differs from the recording."""
        if not self.guards:
            return []
        looked_at = outputs[len(self.outputs) - len(self.guards) :]
        found = []
        for guard, value in zip(self.guards, looked_at, strict=True):
            found.append(guard.read(np.asarray(value)))
            if found[-1] != guard.outcome:
                break
        return found

    def guards_hold(self, guard_values: Sequence[Any]) -> bool:
        """True if the recording's guards begin with these values."""
        if not guard_values:
            return True
        own = [guard.outcome for guard in self.guards[: len(guard_values)]]
        return own == list(guard_values)

    def result(self, outputs: Sequence[Any]) -> Any:
        """The function's result."""
        return unflatten(self.structure, iter(outputs))


def record(
    function: Callable[..., Any],
    names: Sequence[str],
    structure: Structure,
    leaves: Sequence[Any],
    ask: Ask,
    guard_values: Sequence[Any],
    *,
    decides_truths: bool = False,
) -> TracedProgram:
    """Run a function on recorded arrays. ``structure`` is that of its ``(args, kwargs)``."""
    inputs = [Leaf(value, hint) for value, hint in zip(leaves, names, strict=True)]

    def fetch(terms: Sequence[Term]) -> Sequence[Any]:
        written = write(terms, inputs)
        asked = [written.names[term] for term in terms]
        try:
            with with_source_notes(written):
                answer = ask(evaluation(written, written.variables, asked))
        except GradwireError as error:
            trace.refused = trace.refused or error
            raise
        values: Sequence[Any] = answer.outputs
        return values

    trace = NumpyTrace(fetch, guard_values)
    trace.decides_truths = decides_truths
    with trace.recording():
        args, kwargs = unflatten(structure, map(argument, inputs))
        try:
            result = function(*args, **kwargs)
        except Exception as error:
            translated = explained(error)
            if translated is error:  # the user's own
                raise
            raise translated from (None if translated is error.__cause__ else error)
        if trace.refused is not None:  # by code that catches what it does not expect
            raise trace.refused
        trace.finish()
        parts, shape = flatten(result, lambda part: isinstance(part, (Tracer, RecordableArray)))
        results = as_recorded(parts)
    roots = rolled(
        [part._term for part in results] + [guard.term for guard in trace.guards], trace.local
    )
    written = write(roots, inputs)
    places = {leaf: i for i, leaf in enumerate(inputs)}
    used = written.leaves.items()
    return TracedProgram(
        written,
        roots,
        inputs,
        {name: places[leaf] for name, leaf in used if leaf in places},
        {name: leaf.value for name, leaf in used if leaf not in places},
        [written.names[root] for root in roots],
        shape,
        tuple(trace.guards),
        trace.reads_files,
    )


def _outline(structure: Structure) -> Any:
    """A structure without its objects, which each run may make anew."""
    if isinstance(structure, Level):
        return structure.kind, structure.keys, [*map(_outline, structure.parts)]
    if isinstance(structure, Static):
        plain = isinstance(structure.value, (bool, int, str, type(None)))
        return type(structure.value), structure.value if plain else None
    return None


def _asked(term: Term, local: LocalValues) -> Steps[Any]:
    """A term's value, by the service."""
    written = write([term])
    variables = {name: local.given(leaf) for name, leaf in written.leaves.items()}
    with with_source_notes(written):
        answer = yield from evaluation(written, variables, [written.names[term]])
    return answer.outputs[0]


def argument(leaf: Leaf) -> Tracer:
    """An argument as a recorded array."""
    value = leaf.value
    check_argument(value)
    given = value if isinstance(value, RemoteArray) else plain(value, "an argument")
    return Tracer(
        leaf,
        Aval(given.shape, given.dtype),
        weak=isinstance(value, (float, complex)) and not isinstance(value, np.generic),
        is_argument=True,
        is_ordered=isinstance(given, RemoteArray) or given.flags.c_contiguous,
    )


def evaluation(
    written: Written, variables: Mapping[str, Any], outputs: Sequence[str]
) -> Call[Evaluation]:
    """The request for some values of a program."""
    sent = {name: encode(value, name) for name, value in variables.items()}
    document = {"program": written.text, "variables": sent}
    return endpoints.evaluation(
        ProgramAt("/v1", document, written.text, None), {"outputs": list(outputs)}
    )


class with_source_notes:  # noqa: N801 - a context, like suppress
    """Adds the user's line to errors that name a line of a recorded program."""

    def __init__(self, written: Written) -> None:
        self._written = written

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, APIError) and error.node is not None:
            place = self._written.place_of(error.node.line)
            if place is not None:
                error.add_note(f"  recorded at {place}")
