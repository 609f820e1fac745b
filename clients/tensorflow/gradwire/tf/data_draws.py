"""Random draws of datasets: the order of ``shuffle``, and the numbers of their functions.

``shuffle`` keeps a circular buffer. Each element that it gives is drawn among those waiting by one
word of a Philox generator, and the one that waited longest takes its place. The two seeds of the
generator are those of the operation, or, in each loop anew, two words of the generator that these
seed.

A function of a dataset is a graph of its own, with the global seed of the time when the dataset was
made. What it has drawn is remembered as long as one loop over the outermost dataset.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from gradwire.tf.philox import Philox
from gradwire.tf.seeds import SEEDS, Draws
from gradwire.tf.steps import once


class Orders:
    """The random words of a shuffled dataset, loop by loop."""

    def __init__(self, seed: int | None, again: bool) -> None:
        pair = SEEDS.pair(seed) or (secrets.randbits(31), secrets.randbits(31))
        self._first: Philox = Philox.of_seeds(*pair)
        self._seeds: Iterator[int] | None = _words(self._first) if again else None

    def next(self) -> Iterator[int]:
        """The words of the next loop."""
        if self._seeds is None or _running.looks:
            return _words(self._first)
        return _words(Philox.of_seeds(next(self._seeds), next(self._seeds)))


def shuffled(source: Iterable[Any], size: int, words: Iterator[int]) -> Iterator[Any]:
    """Elements, each drawn among ``size`` that wait; a negative size lets all of them wait.

    The loop over the source begins when the first element is needed.
    """
    waiting: list[Any] = []
    start = end = 0
    for each in source:
        if size < 0 or end < size:
            waiting.append(each)
        else:
            waiting[end % size] = each
        end += 1
        if end - start == size:
            yield _drawn(waiting, start, end, words)
            start += 1
    while start < end:
        yield _drawn(waiting, start, end, words)
        start += 1


def _drawn(waiting: list[Any], start: int, end: int, words: Iterator[int]) -> Any:
    oldest, place = start % len(waiting), (start + next(words) % (end - start)) % len(waiting)
    drawn, waiting[place] = waiting[place], waiting[oldest]
    return drawn


def _words(source: Philox) -> Iterator[int]:
    while True:
        yield from source.blocks(16).reshape(-1).tolist()
        source = source.skip(16)


class Loop:
    """A loop over a dataset: what the functions of all datasets within have drawn in it."""

    def __init__(self, begin: Callable[[], Iterator[Any]]) -> None:
        self.draws: dict[Hashable, Draws] = {}
        #: The input that the elements come from, for each dataset with several.
        self.branch: tuple[int, ...] = ()
        with _entered(self):
            self._source: Iterator[Any] = begin()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        once()
        with _entered(self):
            return next(self._source)


class Branch:
    """The loop over one of several inputs of a dataset, whose functions draw for themselves."""

    def __init__(self, dataset: Any, index: int) -> None:
        self._index: int = index
        with _branched(index):
            self._source: Iterator[Any] = iter(dataset)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        with _branched(self._index):
            return next(self._source)


class Drawing:
    """A function of a dataset, with the numbers that it draws."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function: Callable[..., Any] = function
        self._seed: int | None = SEEDS.first
        self._key: Hashable = id(self)
        #: Of a dataset that another one's function makes: what that function has drawn.
        self._outer: Draws | None = None if _running.loop is None else SEEDS.outer
        if self._outer is not None:
            self._outer.called += 1
            self._key = self._outer.called

    def __call__(self, *args: Any) -> Any:
        known, branch = (
            ({}, ()) if _running.loop is None else (_running.loop.draws, _running.loop.branch)
        )
        if self._outer is not None:
            known = self._outer.within
        with SEEDS.running(known.setdefault(("dataset", self._key, branch), Draws(self._seed))):
            return self._function(*args)


def loop(begin: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """The elements of a dataset in the loop that is running, or in a new one."""
    once()
    return Loop(begin) if _running.loop is None else begin()


@contextmanager
def look() -> Iterator[None]:
    """Loops that leave the orders of later ones as they are."""
    before, _running.looks = _running.looks, True
    try:
        yield
    finally:
        _running.looks = before


class _Running(threading.local):
    loop: Loop | None = None
    looks: bool = False


_running = _Running()


@contextmanager
def _entered(loop: Loop) -> Iterator[None]:
    before, _running.loop = _running.loop, loop
    try:
        yield
    finally:
        _running.loop = before


@contextmanager
def _branched(index: int) -> Iterator[None]:
    loop = _running.loop
    if loop is None:
        yield
        return
    before, loop.branch = loop.branch, (*loop.branch, index)
    try:
        yield
    finally:
        loop.branch = before
