"""The runs of a ``tf.function`` that later calls repeat, for each way through its Python."""

from __future__ import annotations

import random
import weakref
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradwire.tf.nodes import TensorNode
from gradwire.tf.repetitions import Differs, Repetition
from gradwire.tf.seeds import Draws

#: A function whose Python decides in more ways than this is run anew in each call.
MOST_PATHS: int = 8


class Runs:
    """The common state of the runs of a function: their steps and draws, by signature."""

    __slots__ = ("__weakref__", "calls", "draws", "paths")

    def __init__(self) -> None:
        self.calls: int = 0
        #: The draws of its random operations, by the signatures of arguments.
        self.draws: dict[Hashable, Draws] = {}
        self.paths: dict[Hashable, Paths] = {}

    def __deepcopy__(self, memo: Any) -> Runs:
        return Runs()

    def __reduce__(self) -> tuple[type[Runs], tuple[()]]:
        return Runs, ()


class Paths:
    """The ways through a function for one signature: each decision of Python's begins another."""

    __slots__ = ("_are_too_many", "_found", "_streams")

    def __init__(self) -> None:
        self._found: list[Repetition] = []
        self._are_too_many: bool = False
        #: The states of NumPy's and Python's random numbers before the first run.
        self._streams: Any = None

    def repeated(self, arguments: Sequence[TensorNode], *, is_recorded: bool) -> tuple[Any]:
        """The result of a way that has been gone, in a tuple.

        Raises:
            Differs: there is none.
        """
        if not self._are_too_many:
            for place, each in enumerate(self._found):
                try:
                    found = each.of(arguments, is_recorded=is_recorded)
                except Differs:
                    continue
                self._found.insert(0, self._found.pop(place))
                return (found,)
        raise Differs

    def add(self, repetition: Repetition | None) -> None:
        """Another way; None for one that cannot be repeated."""
        if repetition is None or len(self._found) >= MOST_PATHS:
            self._are_too_many = True
            self._found.clear()
        else:
            self._found.insert(0, repetition)

    @contextmanager
    def streams(self) -> Iterator[None]:
        """A context in which random numbers of NumPy's and Python's are those of the first run."""
        if self._streams is None:
            self._streams = np.random.get_state(), random.getstate()
            yield
            return
        before = np.random.get_state(), random.getstate()
        _set_streams(self._streams)
        try:
            yield
        finally:
            _set_streams(before)


def _set_streams(states: Any) -> None:
    np.random.set_state(states[0])
    random.setstate(states[1])


def runs_of(instance: Any, function: Hashable) -> Runs:
    """The runs of a method of one object, which are kept with it."""
    held = getattr(instance, "__dict__", None)
    if held is None:
        return Runs()
    of: _Methods | None = held.get("_tf_methods")
    if of is None or of.instance() is not instance:  # that of an object that it is a copy of
        held["_tf_methods"] = of = _Methods(instance)
    return of.runs.setdefault(function, Runs())


class _Methods:
    """The runs of an object's methods; copies of the object have none."""

    __slots__ = ("instance", "runs")

    def __init__(self, instance: Any = None) -> None:
        self.instance: Callable[[], Any] = (
            (lambda: None) if instance is None else weakref.ref(instance)
        )
        self.runs: dict[Hashable, Runs] = {}

    def __deepcopy__(self, memo: Any) -> _Methods:
        return _Methods()

    def __reduce__(self) -> tuple[type[_Methods], tuple[()]]:
        return _Methods, ()
