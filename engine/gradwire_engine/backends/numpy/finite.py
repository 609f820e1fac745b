"""Whether outputs are finite, as quickly as they can be read."""

from __future__ import annotations

from cmath import isfinite
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradwire_engine.backends.numpy.quiet import quiet


def all_finite(outputs: Sequence[Any]) -> bool:
    """Whether there is neither NaN nor infinity."""
    verdicts = [_finite(x) if x.ndim else isfinite(x) for x in outputs]
    return all(verdicts)


def _finite(x: Any) -> bool:
    """The same of an array's elements, most quickly of small vectors."""
    if x.dtype.kind not in "fc":
        return True
    # A sum, of the elements or of their squares, is finite only if all of them are; where it
    # overflowed, the elements tell.
    if x.ndim == 1:
        total = quiet.run(x.dot, x)
    elif x.flags.forc:
        flat = x.ravel("K")
        total = quiet.run(flat.dot, flat)
    else:
        total = quiet.run(np.add.reduce, x, None)
    return isfinite(total) or bool(np.isfinite(x).all())
