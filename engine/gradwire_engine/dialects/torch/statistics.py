"""PyTorch's statistics: spreads, counts in bins, norms kept small."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.dialects.torch.scalars import is_axis_of_scalar
from gradwire_engine.ops.axes import axis_of, flag
from gradwire_engine.ops.base import Static

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


@TORCH.macro("var")
def var(
    b: Builder,
    input: Any,
    dim: Static = None,
    unbiased: Static = None,
    keepdim: Static = False,
    *,
    correction: Static = 1,
) -> Any:
    """Variance over ``dim`` of ``n`` elements: ``z = sum |x - mean x|² / (n - correction)``."""
    return _spread(b, "var", input, dim, unbiased, keepdim, correction)[0]


@TORCH.macro("std")
def std(
    b: Builder,
    input: Any,
    dim: Static = None,
    unbiased: Static = None,
    keepdim: Static = False,
    *,
    correction: Static = 1,
) -> Any:
    """Standard deviation over ``dim``, the root of ``sum |x - mean x|² / (n - correction)``."""
    return _spread(b, "std", input, dim, unbiased, keepdim, correction)[0]


@TORCH.macro("var_mean")
def var_mean(
    b: Builder,
    input: Any,
    dim: Static = None,
    unbiased: Static = None,
    keepdim: Static = False,
    *,
    correction: Static = 1,
) -> Any:
    """A list of the variance over ``dim`` and the mean."""
    return _spread(b, "var", input, dim, unbiased, keepdim, correction)


@TORCH.macro("std_mean")
def std_mean(
    b: Builder,
    input: Any,
    dim: Static = None,
    unbiased: Static = None,
    keepdim: Static = False,
    *,
    correction: Static = 1,
) -> Any:
    """A list of the standard deviation over ``dim`` and the mean."""
    return _spread(b, "std", input, dim, unbiased, keepdim, correction)


def _spread(
    b: Builder, name: str, x: Any, dim: Any, unbiased: Any, keepdim: Any, correction: Any
) -> list[Any]:
    if isinstance(dim, bool):  # the older order: std(x, unbiased)
        dim, unbiased = None, dim
    less = 1 if correction is None else correction
    less = less if unbiased is None else int(flag(unbiased, "unbiased"))
    spread = recorded(name)(b, x, dim, correction=less, keepdims=keepdim)
    return [spread, recorded("mean")(b, x, dim, keepdims=keepdim)]


def _quantiles(name: str) -> Callable[..., Any]:
    def quantile(
        b: Builder,
        input: Any,
        q: Any,
        dim: Static = None,
        keepdim: Static = False,
        *,
        interpolation: Static = "linear",
    ) -> Any:
        """Quantiles ``q`` over ``dim``, NaN where there is one; nanquantile goes without them.

        The axes of ``q`` come first.
        """
        x = b.array(input)
        axes = () if is_axis_of_scalar(x, dim) else dim
        return recorded(name)(b, x, q, axes, keepdims=keepdim, method=interpolation)

    return quantile


for _name in ("quantile", "nanquantile"):
    TORCH.macro(_name)(_quantiles(_name))


@TORCH.macro("histc")
def histc(b: Builder, input: Any, bins: Static = 100, min: Any = 0, max: Any = 0) -> Any:
    """How many elements lie in each of ``bins`` equal bins between ``min`` and ``max``.

    Both equal means from the least to the largest element, or from 1 less to 1 more of one value.
    """
    x = b.array(input)
    ends: Any = (min, max)
    if isinstance(min, int | float) and min == max and x.type.size:
        low, high = (recorded(name)(b, x) for name in ("min", "max"))
        apart = recorded("where")(b, recorded("equal")(b, low, high), 1, 0)
        ends = (recorded("subtract")(b, low, apart), recorded("add")(b, high, apart))
    return b.cast(recorded("histogram")(b, x, bins, ends)[0], x.dtype)


@TORCH.macro("histogram")
def histogram(
    b: Builder,
    input: Any,
    bins: Any,
    *,
    range: Any = None,
    weight: Any = None,
    density: Static = False,
) -> Any:
    """A list of how many elements, or what sum of ``weight``, is in each bin, and of its edges."""
    x = b.array(input)
    counts, edges = recorded("histogram")(
        b, x, bins, range, weights=weight, density=flag(density, "density")
    )
    return [b.cast(counts, x.dtype), edges]


@TORCH.macro("renorm")
def renorm(b: Builder, input: Any, p: Static, dim: Static, maxnorm: Any) -> Any:
    """The parts along ``dim``, those of a norm ``p`` beyond ``maxnorm`` scaled down to it."""
    x = b.inexact(input)
    place = axis_of(dim, x.ndim, "renorm")
    others = tuple([axis for axis in range(x.ndim) if axis != place])
    length = recorded("vector_norm")(b, x, others, keepdims=True, ord=p)
    within = recorded("divide")(b, maxnorm, recorded("add")(b, length, 1e-7))
    long = recorded("greater")(b, length, maxnorm)
    return recorded("multiply")(b, x, recorded("where")(b, long, within, 1.0))


@TORCH.macro("dist")
def dist(b: Builder, input: Any, other: Any, p: Static = 2) -> Any:
    """Norm ``p`` of the difference of all elements."""
    return recorded("vector_norm")(b, recorded("subtract")(b, input, other), ord=p)


@TORCH.macro("gradient")
def gradient(
    b: Builder, input: Any, *, spacing: Any = 1, dim: Static = None, edge_order: Static = 1
) -> Any:
    """A list of the slopes of a table along each axis of ``dim``, by default all.

    ``spacing`` is a number for all axes, or for each a number or its coordinates.
    """
    x = b.array(input)
    axes = tuple(range(x.ndim)) if dim is None else dim
    several = list(axes) if isinstance(axes, list | tuple) else [axes]
    spacing = 1 if spacing is None else spacing
    spacings = list(spacing) if isinstance(spacing, list | tuple) else [spacing]
    slopes = recorded("gradient")(b, x, *spacings, axis=several, edge_order=edge_order)
    return slopes if len(several) > 1 else [slopes]
