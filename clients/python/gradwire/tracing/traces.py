"""One run of a Python function on recorded arrays.

Python itself may ask for a value: ``if x > 0``, ``range(n)``. It is computed then, and what was
decided is kept as a guard: the recording answers for other values only where they decide the same.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gradwire.bfloat16 import widened
from gradwire.errors import GradwireError, NotTraceable
from gradwire.tracing.evaluation import LocalValues, NotHere
from gradwire.tracing.terms import Leaf, Scope, Term, user_place
from gradwire.usage import used

#: Evaluates terms, each to an array.
Fetch = Callable[[Sequence[Term]], Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Guard:
    """A value that Python branched on: its term, its conversion and the outcome."""

    term: Term
    read: Callable[[Any], Any]
    outcome: Any


#: Folders of code that is not the user's: Gradwire, what is installed, and the standard library.
LIBRARIES = (
    str(Path(__file__).parent.parent),
    str(Path(np.__file__).parent.parent),
    str(Path(inspect.__file__).parent),
)
#: The attributes that a sparse array is made of.
_PARTS = ("row", "col", "data")
_CURRENT: ContextVar[Trace | None] = ContextVar("gradwire_trace", default=None)


class Trace(ABC):
    """A recording: its guards, constants and scope, and how calls become terms."""

    #: NumPy's functions that change their first argument.
    mutations: ClassVar[frozenset[Any]] = frozenset()

    def __init__(self, fetch: Fetch, guard_values: Sequence[Any] = ()) -> None:
        self.guards: list[Guard] = []
        self._fetch = fetch
        self._decided: dict[tuple[Term, Callable[[Any], Any]], Any] = {}
        #: The values of the first guards, if they are known already.
        self._guard_values = list(guard_values)
        self._constants: dict[int, tuple[Leaf, Any]] = {}
        #: The values of constants as they were when they were first used.
        self._used: dict[Leaf, Any] = {}
        #: The values of terms, as far as they can be computed here.
        self.local: LocalValues = LocalValues(lambda leaf: self._used.get(leaf, leaf.value))
        #: True if comparisons of Python's numbers are decided, for code with ``is True``.
        self.decides_truths = False
        #: True if the recorded code has read a file.
        self.reads_files = False
        #: The first refusal, which the recorded code may have caught.
        self.refused: GradwireError | None = None
        #: The function of the program whose body is being recorded.
        self.scope: Scope | None = None

    @abstractmethod
    def operator(self, ufunc: np.ufunc, operands: tuple[Any, ...]) -> Any:
        """Record an operator, by its ufunc."""

    @abstractmethod
    def ufunc(
        self, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], given: dict[str, Any]
    ) -> Any:
        """Record a call of a ufunc, or of one of its methods."""

    @abstractmethod
    def function(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        """Record a call of one of NumPy's functions."""

    @abstractmethod
    def recorded_copy(self, array: NDArray[Any], scope: Scope | None) -> Any:
        """A recorded array with the elements of a plain one, made in a function of the program."""

    @abstractmethod
    def recorded_view(self, base: Any, places: NDArray[Any]) -> Any:
        """The view of a recorded array that has its elements at these places, in C order."""

    def constant(self, array: Any) -> Leaf:
        """The leaf of a captured array; one for each array.

        It may be one of SciPy's sparse arrays, too.
        """
        known = self._constants.get(id(array))
        if known is not None and same_values(array, known[1]):
            return known[0]
        if known is not None:  # changed in place since: the earlier one keeps what it was
            known[0].value = known[1]
        made = Leaf(array, "c")
        with used("an array of the function's"):
            self._used[made] = array.copy()
        self._constants[id(array)] = made, self._used[made]
        return made

    def finish(self) -> None:
        """Copy constants as they were used, if the function has changed them since."""
        for leaf, copy in self._constants.values():
            if not same_values(leaf.value, copy):
                leaf.value = copy

    def recording(self) -> AbstractContextManager[None]:
        """Make this the current recording."""
        return _current_is(self)

    @contextmanager
    def inside(self) -> Iterator[Scope]:
        """Record a function of the program."""
        outer, self.scope = self.scope, Scope(self.scope)
        try:
            yield self.scope
        finally:
            self.scope = outer

    def values(self, terms: Sequence[Term]) -> Sequence[Any]:
        """Evaluate terms outside of the program's functions, for the arguments of this call.

        By NumPy and SciPy, where these can: the service is asked for what they lack.
        """
        with _current_is(None):  # the service may be in this process
            while True:
                try:
                    return self.local.of(terms)
                except NotHere as missing:
                    self.finish()
                    self.local.learn(missing.term, self._fetch([missing.term])[0])

    def decide(self, term: Term, read: Callable[[Any], Any]) -> Any:
        """Convert a value to Python's, and add a guard that it stays so."""
        if term.scope is not None:
            raise unknown_inside()
        if (term, read) in self._decided:
            return self._decided[term, read]
        if len(self.guards) < len(self._guard_values):
            outcome = self._guard_values[len(self.guards)]
        elif isinstance(term, Leaf):
            outcome = read(np.asarray(term.value))
        else:
            outcome = read(self.values([term])[0])
        self.guards.append(Guard(term, read, outcome))
        self._decided[term, read] = outcome
        return outcome


@contextmanager
def _current_is(trace: Trace | None) -> Iterator[None]:
    token = _CURRENT.set(trace)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def same_values(array: Any, other: Any) -> bool:
    """True if two arrays, or sparse arrays, have equal elements; nan is equal to nan."""
    if not isinstance(array, np.ndarray):
        array, other = array.tocoo(), other.tocoo()
        return all(same_values(getattr(array, part), getattr(other, part)) for part in _PARTS)
    array, other = widened(array), widened(other)
    return bool(np.array_equal(array, other, equal_nan=array.dtype.kind in "fc"))


def current() -> Trace | None:
    """The current recording, if any."""
    return _CURRENT.get()


def recording() -> Trace:
    """The current recording, of what is recorded alone."""
    trace = _CURRENT.get()
    if trace is None:
        raise foreign()
    return trace


def foreign() -> NotTraceable:
    """The error for a recorded array where another recording is made, or none."""
    return not_traceable(
        "a recorded array was used outside of its recording",
        "pass it as an argument, or return it",
    )


def unknown_inside() -> NotTraceable:
    """The error of a conversion to Python's value inside a function of the program."""
    return not_traceable(
        "Python needs a value that is not known inside a function of vmap, cond, scan or a loop "
        "of the program",
        "branch inside the program: gradwire.cond, gradwire.while_loop or numpy.where",
    )


def not_traceable(problem: str, hint: str) -> NotTraceable:
    """The error of code that cannot be recorded, with the user's line.

    The recording keeps it: code that catches all errors would go on where NumPy raises none.
    """
    error = NotTraceable(problem, place=user_place(), hint=hint)
    trace = current()
    if trace is not None and trace.refused is None:
        trace.refused = error
    return error
