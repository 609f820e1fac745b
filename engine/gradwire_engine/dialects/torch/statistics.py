"""PyTorch's statistics: spreads, counts in bins, norms kept small."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.dialects.torch.scalars import is_axis_of_scalar
from gradwire_engine.ops.axes import flag
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
