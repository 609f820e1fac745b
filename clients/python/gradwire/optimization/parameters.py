"""The parameters of an optimisation: their names on the wire, their shapes and their bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradwire.errors import UsageError
from gradwire.hidden import check_hides_nothing, plain
from gradwire.trees import is_list
from gradwire.usage import used


class Parameter(NamedTuple):
    """One array, or number, that is optimised."""

    #: Its name in requests.
    name: str
    #: The caller's path to it, such as ``layers.0.w``; empty if it is all there is.
    path: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of its elements."""
        return int(np.prod(self.shape))


def bounds_document(given: Any, parameters: Sequence[Parameter]) -> dict[str, Any] | None:
    """The member ``bounds`` of a request: a pair for each parameter that is bounded.

    Given are SciPy's forms, for the elements of all parameters in their order: a pair for each, or
    ``scipy.optimize.Bounds``; or pairs by path, of numbers, arrays, or None for no bound.
    """
    if given is None:
        return None
    with used("bounds"):
        if isinstance(given, Mapping):
            found = _by_path(given, parameters)
        elif hasattr(given, "lb") and hasattr(given, "ub"):
            found = _flat(given.lb, given.ub, parameters)
        elif is_list(given) or isinstance(given, np.ndarray):
            found = _flat(*_ends(given, parameters), parameters)
        else:
            raise UsageError(
                f"bounds need a pair (low, high) for each element, got {type(given).__name__}",
                hint='by path, {"w": (0, None)}, scipy.optimize.Bounds, or a list of pairs',
            )
    return found or None


def ends_document(given: Any, parameters: Sequence[Parameter]) -> dict[str, Any] | None:
    """As ``bounds_document``, of ``least_squares``: a pair has all lower and all upper ends."""
    if not is_list(given):
        return bounds_document(given, parameters)
    if len(given) != 2:
        raise UsageError(
            f"bounds of least_squares are a pair (low, high), got {len(given)} items",
            hint="as in SciPy, each end is a number or has one for each element",
        )
    low, high = given
    with used("bounds"):
        return _flat(low, high, parameters) or None


def _ends(pairs: Any, parameters: Sequence[Parameter]) -> tuple[list[float], list[float]]:
    """The lower and the upper ends of pairs."""
    if isinstance(pairs, np.ndarray) and pairs.dtype.kind != "O":  # of objects, None is no bound
        check_hides_nothing(pairs, "bounds")
    size = sum(parameter.size for parameter in parameters)
    if len(pairs) != size:
        raise UsageError(
            f"bounds need a pair (low, high) for each of {size} elements, got {len(pairs)}"
        )
    for i, pair in enumerate(pairs):
        if np.shape(pair) != (2,):
            raise UsageError(
                f"bounds[{i}] is no pair (low, high): {pair!r}"[:200],
                hint="(None, None) is an element without bounds",
            )
    for end in (end for pair in pairs for end in pair if end is not None):
        check_hides_nothing(end, "bounds")
    lows = [-np.inf if low is None else float(low) for low, _ in pairs]
    return lows, [np.inf if high is None else float(high) for _, high in pairs]


def _flat(low: Any, high: Any, parameters: Sequence[Parameter]) -> dict[str, Any]:
    """Bounds of all elements in a row, by parameter."""
    size = sum(parameter.size for parameter in parameters)
    lows, highs = (np.broadcast_to(plain(end, "bounds", np.float64), size) for end in (low, high))
    found: dict[str, Any] = {}
    start = 0
    for parameter in parameters:
        part = slice(start, start + parameter.size)
        start += parameter.size
        low, high = (each[part].reshape(parameter.shape) for each in (lows, highs))
        ends = [_end(low, -np.inf), _end(high, np.inf)]
        if any(end is not None for end in ends):
            found[parameter.name] = ends
    return found


def _end(values: NDArray[np.float64], unbounded: float) -> Any:
    """One end of a parameter's bounds: ``None`` without any, a number if all are the same."""
    if np.all(values == unbounded):
        return None
    first = float(values.flat[0])
    return first if np.all(values == first) else values


def _by_path(given: Mapping[str, Any], parameters: Sequence[Parameter]) -> dict[str, Any]:
    """Bounds by the path of a parameter, or of all those below it."""
    found: dict[str, Any] = {}
    for path, pair in given.items():
        under = [each for each in parameters if _is_under(each.path, path)]
        if not under:
            known = ", ".join(each.path or "(one array)" for each in parameters)
            raise UsageError(
                f"bounds have {path!r}, which is not optimised", hint=f"these: {known}"
            )
        if not is_list(pair) or len(pair) != 2:
            raise UsageError(f"bounds of {path} are a pair (low, high), got {pair!r}")
        for each in under:
            found[each.name] = [None if end is None else _shaped(end, each) for end in pair]
    return found


def _is_under(path: str, given: str) -> bool:
    plain = given.replace("[", ".").replace("]", "")
    return path == plain or path.startswith(f"{plain}.") or not plain


def _shaped(end: Any, parameter: Parameter) -> Any:
    values = plain(end, "bounds", np.float64)
    if values.ndim and values.shape != parameter.shape:
        problem = f"bounds of {parameter.path} have the shape {values.shape}"
        raise UsageError(f"{problem}, but it has {parameter.shape}")
    return values if values.ndim else float(values)
