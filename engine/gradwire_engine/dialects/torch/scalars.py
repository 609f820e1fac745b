"""Axes as PyTorch reads them: of arrays without any, and where none are listed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwire_engine.dialects.base import Dialect, Recorded, recorded
from gradwire_engine.ops.builder import Var

#: Names of parameters that name axes.
_AXES = ("dim", "dims", "dim0", "dim1", "axis0", "axis1", "source", "destination")
#: Functions that need an array with axes, or say themselves what they make of one without.
_APART = frozenset(
    "unsqueeze gather quantile nanquantile chunk split split_with_sizes tensor_split unbind narrow "
    "select select_scatter slice_scatter unflatten diff trapezoid cumulative_trapezoid cross "
    "linalg.cross gradient renorm permute roll rot90 tile tensordot linalg.tensorsolve "
    "repeat_interleave take_along_dim nn.functional.glu diagonal linalg.diagonal diag_embed "
    "diagonal_scatter Tensor.unfold".split()
)
#: Functions that take an empty list of axes at its word; to others it means all, as None does.
_LITERAL = ("all", "any", "squeeze")


class PyTorch(Dialect):
    """PyTorch's functions, most of which take an array without axes as a single element."""

    def _recorded(self, names: str, record: Callable[..., Any], parameters: str | None) -> Recorded:
        first = names.split(maxsplit=1)[0]
        apart = first in _APART or first.startswith("fft.")
        kind = Recorded if apart else LiteralAxes if first in _LITERAL else Axes
        return kind(record, parameters, self.ignored, self.synonyms)


class LiteralAxes(Recorded):
    """Records a call; where the first array has no axes and one is named, of a single element."""

    def of(self, values: dict[str, Any]) -> Any:
        """Record with axes of length 1, which results of one element then lose."""
        _, x, *_ = [*values.values(), None]
        named = [axes for axes in map(values.get, _AXES) if isinstance(axes, int | list | tuple)]
        if not named or not all(is_axis_of_scalar(x, axes) for axes in named):
            return super().of(values)
        return _without_axis(super().of({name: _with_axis(v) for name, v in values.items()}))


class Axes(LiteralAxes):
    """Records a call, along all axes where none are listed."""

    def of(self, values: dict[str, Any]) -> Any:
        """Record with None for an empty list, if that is what ``dim`` is by default."""
        parameter = self.__signature__.parameters.get("dim")
        if parameter and parameter.default is None and values["dim"] in ([], ()):
            values["dim"] = None
        return super().of(values)


def is_axis_of_scalar(x: Any, axes: Any) -> bool:
    """True if ``x`` is an array without axes, and ``axes`` name the one that it has all the same.

    Naming it twice is left to the function to refuse.
    """
    listed = axes if isinstance(axes, list | tuple) else [axes]
    known = bool(listed) and all(type(axis) is int and axis in (0, -1) for axis in listed)
    return known and isinstance(x, Var) and not x.ndim


def _with_axis(x: Any) -> Any:
    return recorded("reshape")(x.builder, x, (1,)) if isinstance(x, Var) and not x.ndim else x


def _without_axis(z: Any) -> Any:
    if isinstance(z, list):
        return [_without_axis(item) for item in z]
    return recorded("reshape")(z.builder, z, ()) if isinstance(z, Var) and z.shape == (1,) else z
