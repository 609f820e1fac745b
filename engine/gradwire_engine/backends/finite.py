"""Checks that values are finite, as quickly as they can be read."""

from __future__ import annotations

from cmath import isfinite
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradwire_engine.backends.errstate import errstate
from gradwire_engine.tape import INEXACT


def all_finite(values: Sequence[Any]) -> bool:
    """True if there is neither NaN nor infinity."""
    return all(errstate.run(_is_finite, x) if x.ndim else isfinite(x) for x in values)


def _is_finite(x: Any) -> bool:
    """The same of an array's elements, which decide where their sum overflows."""
    if x.dtype.kind not in INEXACT:
        return True
    if x.dtype.itemsize == 2:  # few squares of these are finite, and no BLAS adds them up
        return bool(np.isfinite(x).all())
    total = sum_of_squares(x) if x.flags.forc else np.add.reduce(x, None)
    return isfinite(total) or bool(np.isfinite(x).all())


def sum_of_squares(x: Any) -> Any:
    """The sum of squares: BLAS is quicker than looking at each element."""
    flat = x.ravel("K")
    return flat.dot(flat)
