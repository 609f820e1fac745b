"""The seeds of operations without a state of their own: the global seed and theirs."""

from __future__ import annotations

import random
import secrets
import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from gradwire.tf.nodes import noticing
from gradwire.tf.philox import RESERVED, Philox

_LARGEST = 2**31 - 1
_DEFAULT_SEED = 87654321


class Draws:
    """The draws of the operations of one function, in the order in which it calls them."""

    def __init__(self, seed: int | None = None) -> None:
        #: The global seed when the function ran first.
        self.seed: int | None = seed
        #: The number of times the global seed had been set when it drew last; 0 at first.
        self.begun: int = 0
        self.drawn: dict[int, int] = {}
        self.within: dict[Hashable, Draws] = {}
        self.called: int = 0
        self.unseeded: int = 0
        #: True if XLA compiles the function, whose random numbers are other ones.
        self.compiled: bool = False
        #: True if it is called only to find shapes.
        self.is_scratch: bool = False


class _RunningFunctions(threading.local):
    """The functions that run in this thread, the innermost last."""

    def __init__(self) -> None:
        self.functions: list[Draws] = []


class Seeds:
    """The seeds of operations, and how far each of them has drawn.

    An operation with a seed of its own goes on where it stopped when it was called last; one
    without has the next of a sequence that the global seed begins. Within a ``tf.function`` an
    operation is one by its place in it: the first without a seed has the number 0, whatever was
    drawn elsewhere, and each goes on where it stopped when the function was called last.
    """

    def __init__(self) -> None:
        self._global: int | None = None
        self._times_set: int = 1
        self._sequence: random.Random = random.Random(0)  # noqa: S311 - TensorFlow's, no secret
        self._drawn: dict[tuple[str, int, int], int] = {}
        self._running: _RunningFunctions = _RunningFunctions()

    def set(self, seed: int) -> None:
        """Begin anew from this global seed."""
        self._global = seed
        self._times_set += 1
        self._sequence = random.Random(seed)  # noqa: S311 - TensorFlow's, no secret
        self._drawn.clear()

    def restart(self) -> None:
        """Let operations with seeds of their own draw their first numbers again."""
        self._drawn.clear()

    @contextmanager
    def function(
        self, known: dict[Hashable, Draws], signature: Hashable, compiled: bool = False
    ) -> Iterator[None]:
        """A call of a function, whose ``known`` draws are by the signatures of its arguments."""
        key: Hashable = signature
        functions = self._running.functions
        if functions:  # functions that call it have operations of it as their own
            outer = functions[-1]
            outer.called += 1
            known, key = outer.within, (id(known), signature, outer.called)
        draws = known.setdefault(key, Draws())
        if not draws.begun:
            draws.seed = self.first
        if draws.begun != self._times_set:
            draws.begun = self._times_set
            draws.drawn.clear()
            draws.within.clear()
        draws.compiled = compiled or (self.outer is not None and self.outer.compiled)
        with self.running(draws):
            yield

    @contextmanager
    def running(self, draws: Draws | None) -> Iterator[None]:
        """A call of a function that has drawn so far; of none, nothing changes."""
        if draws is None:
            yield
            return
        draws.called = draws.unseeded = 0
        functions = self._running.functions
        functions.append(draws)
        try:
            yield
        finally:
            last = next(i for i in reversed(range(len(functions))) if functions[i] is draws)
            del functions[last]

    @contextmanager
    def scratch(self) -> Iterator[None]:
        """A call that only finds shapes: what it draws is drawn again afterwards."""
        draws = Draws(self.first)
        draws.is_scratch = True
        with self.running(draws):
            yield

    @property
    def is_scratch(self) -> bool:
        """True if a call runs that only finds shapes."""
        return any(each.is_scratch for each in self._running.functions)

    def part(self) -> Draws | None:
        """A branch or the body of a loop in the function that runs: a graph of its own, too."""
        outer = self.outer
        if outer is None:
            return None
        outer.called += 1
        found = outer.within.setdefault(("part", outer.called), Draws(outer.seed))
        found.compiled = outer.compiled
        return found

    @contextmanager
    def eagerly(self) -> Iterator[None]:
        """A context for draws outside of all functions though some of them run."""
        before, self._running.functions = self._running.functions, []
        try:
            yield
        finally:
            self._running.functions = before

    @property
    def outer(self) -> Draws | None:
        """The draws of the innermost function that runs; None outside of functions."""
        return self._running.functions[-1] if self._running.functions else None

    @property
    def first(self) -> int | None:
        """The global seed, or the one that the function had which runs."""
        return self._global if self.outer is None else self.outer.seed

    def pair(self, seed: int | None) -> tuple[int, int] | None:
        """The two seeds of an operation; None if neither of them decides what it draws."""
        first = self.first
        if first is None and seed is None:
            return None
        second = self._next(self.outer) if seed is None else seed
        pair = (_DEFAULT_SEED if first is None else first) % _LARGEST, second % _LARGEST
        return (0, _LARGEST) if pair == (0, 0) else pair

    def source(self, op: str, seed: int | None, count: int, blocks: int = RESERVED) -> Philox:
        """A generator for ``count`` numbers of an operation, each of so many blocks at most."""
        self.check()
        draws, pair = self.outer, self.pair(seed)
        if pair is None:
            return Philox(secrets.randbits(64), secrets.randbits(128))
        source = Philox.of_seeds(*pair)
        if draws is not None:
            place = draws.called = draws.called + 1
            drawn = draws.drawn.get(place, 0)
            draws.drawn[place] = drawn + count * blocks
            return source.skip(drawn)
        if seed is None:
            return source
        drawn = self._drawn.get((op, *pair), 0)
        self._drawn[(op, *pair)] = drawn + count * blocks
        return source.skip(drawn)

    def check(self) -> None:
        """Refuse to draw what XLA would draw; runs are not repeated but for what draws again."""
        for run in noticing():
            run.is_whole = False
        if self.outer is not None and self.outer.compiled:
            raise NotImplementedError(
                "random operations are not implemented in functions with jit_compile=True: their "
                "numbers are not those of other functions"
            )

    def _next(self, draws: Draws | None) -> int:
        if draws is None:
            return self._sequence.randint(0, _LARGEST)
        draws.unseeded += 1
        return draws.unseeded - 1


SEEDS = Seeds()
