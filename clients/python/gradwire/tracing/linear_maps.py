"""SciPy's functions that are linear in their data, as the matrices that they are.

SciPy itself computes the matrix: the function of each unit vector. It is a constant of the
recording, sparse where most of it is 0, so that values and derivatives are those of SciPy's own
method, whatever its options.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from gradwire.tracing.lazy_arrays import holds_recorded
from gradwire.tracing.traces import not_traceable

#: NumPy without its annotations, which do not know recorded arrays.
_np: Any = np
#: Most elements of a matrix.
MOST_ELEMENTS = 1 << 23
#: Above it, a matrix is sparse if less than a tenth of it is not 0.
_SMALL = 1 << 12


def linear_map(function: Callable[[Any], Any], data: Any, name: str, axis: int = -1) -> Any:
    """``function(data)``, which is linear and acts along the last axis of what it is given.

    The result's last axis goes back to ``axis``.
    """
    moved = _np.moveaxis(data, axis, -1)
    length = moved.shape[-1]
    if length * length > MOST_ELEMENTS:
        raise not_traceable(
            f"{name} of {length} elements is a matrix too large for a program",
            f"apply it to parts of at most {int(MOST_ELEMENTS**0.5)} elements, or before",
        )
    matrix = function(np.eye(length))
    return _np.moveaxis(times(moved, matrix), -1, axis)


def times(rows: Any, matrix: Any) -> Any:
    """``rows @ matrix`` for a constant matrix, in the precision of the rows."""
    if rows.dtype.char in "fF":
        matrix = matrix.astype(matrix.dtype.char.replace("d", "f").replace("D", "F"))
    if matrix.size > _SMALL and 10 * np.count_nonzero(matrix) < matrix.size and rows.ndim <= 2:
        from scipy.sparse import csr_array  # noqa: PLC0415 - SciPy is loaded

        made = csr_array(matrix.T) @ _np.transpose(rows)
        return _np.transpose(made)
    return rows @ matrix


def arguments(
    original: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """The arguments of a call by name, defaults included."""
    bound = inspect.signature(original).bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


def record_linear(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A function of SciPy's that is linear in its first argument, along ``axis``."""
    name = f"{original.__module__.rpartition('.')[0].replace('._', '.')}.{original.__name__}"
    given = arguments(original, args, kwargs)
    first, *rest = given
    if holds_recorded([given[each] for each in rest]):
        raise not_traceable(
            f"{name} with recorded parameters cannot be recorded",
            f"all but its {first} need to be known; gradwire.scan writes recurrences",
        )
    data, axis = given[first], given.get("axis", -1)
    beside = {each: value for each, value in given.items() if each not in (first, "axis")}
    if "overwrite_data" in beside:
        beside["overwrite_data"] = False

    def along(rows: Any) -> Any:
        return np.asarray(original(rows, **beside, axis=-1))

    constant = along(np.zeros(data.shape[axis], data.dtype))
    if constant.dtype.kind not in "fc":
        raise not_traceable(
            f"{name} of integers cannot be recorded", "convert them: x.astype(float)"
        )
    made = linear_map(lambda rows: along(rows) - constant, data, name, axis)
    if not constant.any():
        return made
    shape = [1] * made.ndim
    shape[axis] = -1
    return made + constant.reshape(shape).astype(made.dtype)
