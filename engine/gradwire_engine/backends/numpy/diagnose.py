"""Where a value first stopped being finite: replay again, looking at every instruction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from gradwire_engine.answer import Array
from gradwire_engine.backends.numpy.namespace import NUMPY
from gradwire_engine.ops.constants import Constant, Input
from gradwire_engine.tape import Tape

Direction = Literal["forward", "backward"]


def first_nonfinite(tape: Tape, inputs: Sequence[Array]) -> dict[Direction, int]:
    """Origins of the first instructions, forward and backward, whose results are not finite."""
    found: dict[Direction, int] = {}
    values: list[Any] = []
    with np.errstate(all="ignore"):
        for op, args, _, origin in tape.instructions:
            operands = [values[a] for a in args]
            if isinstance(op, Input):
                operands = [inputs[op.index]]
            value = op.kernel(NUMPY, *operands)
            values.append(value)
            direction: Direction = "forward" if origin >= 0 else "backward"
            computed = not isinstance(op, Constant | Input)
            if computed and direction not in found and not _finite(value):
                found[direction] = origin
    return found


def _finite(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_finite(item) for item in value)
    array = np.asarray(value)
    return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())
