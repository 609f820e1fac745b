"""PyTorch's statistics: spreads, counts in bins, norms kept small."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.dialects.torch.scalars import is_axis_of_scalar
from gradwire_engine.ops.base import Static

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


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
