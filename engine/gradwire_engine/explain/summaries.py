"""Arrays as people look at them: few elements as they are, many by their range."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradwire_engine.answer import Array

#: Arrays of more elements are summarised.
MOST_ELEMENTS = 64


class Summary(NamedTuple):
    """The finite elements of an array: least, greatest and mean, of complex ones of their size.

    They are None where no element is finite; ``nonfinite`` counts those that are not.
    """

    min: float | None
    max: float | None
    mean: float | None
    nonfinite: int


def summarised(value: Any) -> Array | Summary:
    """A copy of an array of at most ``MOST_ELEMENTS`` elements, another's summary."""
    array = np.asarray(value)
    if array.size <= MOST_ELEMENTS:
        return array.copy()  # it may be a view of a large one
    finite = np.isfinite(array)
    nonfinite = array.size - int(np.count_nonzero(finite))
    elements = array[finite] if nonfinite else array
    if not elements.size:
        return Summary(None, None, None, nonfinite)
    with np.errstate(over="ignore"):  # sizes, and the sum for the mean, may be infinite
        if elements.dtype.kind == "c":
            elements = np.abs(elements)
        mean = elements.mean(dtype=np.float64)
    return Summary(float(elements.min()), float(elements.max()), float(mean), nonfinite)
