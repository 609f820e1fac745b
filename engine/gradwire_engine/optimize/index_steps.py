"""Regular arrays of indices: one step along each axis."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradwire_engine.ops.patterns import Span
from gradwire_engine.tape import Shape


class Steps(NamedTuple):
    """Indices that are ``start + sum_k steps_k i_k`` at the places ``i`` of an array."""

    start: int
    steps: tuple[int, ...] = ()
    lengths: Shape = ()

    @classmethod
    def of(cls, index: Any) -> Steps | None:
        """The steps of indices along their axes, if these are all."""
        first = index[(slice(1),) * index.ndim]
        start, steps = int(first.item()), []
        regular = first.copy()
        for axis, length in enumerate(index.shape):
            ahead = (0,) * axis
            behind = (0,) * (index.ndim - axis - 1)
            step = int(index[(*ahead, 1, *behind)]) - start if length > 1 else 0
            places = np.arange(length).reshape((length, *[1] * len(behind)))
            regular = regular + step * places
            steps.append(step)
        return cls(start, tuple(steps), index.shape) if np.array_equal(index, regular) else None

    @property
    def merged(self) -> Steps:
        """The same in row-major order, without axes on which another's steps go on."""
        steps: list[int] = []
        lengths: list[int] = []
        for step, length in zip(self.steps, self.lengths, strict=True):
            if length == 1:
                continue
            if lengths and steps[-1] == step * length:
                steps[-1], lengths[-1] = step, lengths[-1] * length
            else:
                steps.append(step)
                lengths.append(length)
        return Steps(self.start, tuple(steps), tuple(lengths))

    @property
    def moving(self) -> Steps:
        """The same without axes along which indices are equal."""
        pairs = zip(self.steps, self.lengths, strict=True)
        lengths = tuple([length for step, length in pairs if step])
        return Steps(self.start, tuple(filter(None, self.steps)), lengths)

    @property
    def rising(self) -> Steps:
        """The same with the order of axes turned along which indices fall."""
        pairs = zip(self.steps, self.lengths, strict=True)
        least = self.start + sum([step * (length - 1) for step, length in pairs if step < 0])
        return Steps(least, tuple(map(abs, self.steps)), self.lengths)

    @property
    def slice(self) -> Span:
        """The slice of the indices along one axis."""
        (step,), (length,) = self.steps, self.lengths
        stop = self.start + step * length
        return Span(self.start, stop if stop >= 0 else None, None if step == 1 else step)

    @property
    def block(self) -> Span:
        """The slice from the first to the last of rising indices."""
        pairs = zip(self.steps, self.lengths, strict=True)
        last = self.start + sum([step * (length - 1) for step, length in pairs])
        return Span(self.start, last + 1, None)


def steps_of(index: Any) -> Steps | None:
    """The steps of indices in row-major order; those along one axis may be in rows of a length."""
    found = Steps.of(index)
    length = _run(index) if found is None and index.ndim == 1 else 0
    if 1 < length < index.size and not index.size % length:
        found = Steps.of(index.reshape(-1, length))
    return None if found is None else found.merged


def _run(row: Any) -> int:
    """The number of indices in a row that have equal steps from the first on."""
    changes = np.diff(row, 2) != 0
    return int(changes.argmax()) + 2 if changes.any() else int(row.size)
