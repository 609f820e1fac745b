"""Indices of every form, as texts that mean the same in NumPy and in programs."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
SHAPES = ((), (3,), (3, 4), (2, 3, 4))
#: One entry of an index each: they are combined.
ENTRIES = (
    "1 -1 : ::-1 1: 2:0 -1:0:-2 3:0:-1 ... None [0,1] [-1,0,0] [] [[1],[0]] i j True False yes no "
    "m3 m34 m23"
).split()
_DRAWN = np.random.default_rng(11)
#: The arrays that indices name: masks of each shape, true and false ones, and integers.
NAMED: Mapping[str, Any] = {
    "yes": np.array(1.0),
    "no": np.array(-1.0),
    "m3": np.array([1.0, -1.0, 1.0]),
    "m34": _DRAWN.normal(size=(3, 4)),
    "m23": _DRAWN.normal(size=(2, 3)),
}
#: Written before an index is used.
PRELUDE = (
    "yes = yes > 0\nno = no > 0\nm3 = m3 > 0\nm34 = m34 > 0\nm23 = m23 > 0\n"
    "i = np.array(1)\nj = np.array([1, 0])\n"
)


def forms(ndim: int) -> list[str]:
    """Indices of one entry, of two, and of three where there are axes for as many."""
    few = [entry for entry in ENTRIES if entry in "1 ::-1 ... None j yes no m3 m23".split()]
    found = [one for one in ENTRIES if one != ":"]
    found += [f"{a},{b}" for a, b in product(few if ndim != 2 else ENTRIES, repeat=2)]
    if ndim > 2:
        found += [",".join(entries) for entries in product(few, repeat=3)]
    return [form for form in found if form.count("...") < 2]


def names() -> dict[str, Any]:
    """What the prelude makes, with NumPy."""
    made: dict[str, Any] = {**NAMED, "np": np}
    exec(PRELUDE, made)
    return made


def point(shape: tuple[int, ...]) -> Array:
    """Values that differ."""
    return np.asarray(np.arange(1.0, 1.0 + np.prod(shape, dtype=int)).reshape(shape) / 8)
