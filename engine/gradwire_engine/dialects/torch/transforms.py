"""PyTorch's Fourier transforms of Hermitian signals over several axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.ops.axes import choice
from gradwire_engine.ops.base import Static

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder

#: The norm of the transform in the other direction that scales as this one.
_OPPOSITE = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def _opposite(norm: Any) -> str:
    return _OPPOSITE[choice(norm, _OPPOSITE, "norm")]


def _hermitian(default: Any) -> Callable[..., Any]:
    def hfftn(
        b: Builder, input: Any, s: Static = None, dim: Static = default, norm: Static = None
    ) -> Any:
        """Real spectrum of a signal that is Hermitian along the last axis, given to its half.

        The conjugate's inverse transform, scaled as a transform.
        """
        conjugated = recorded("conj")(b, input)
        return recorded("fft.irfftn")(b, conjugated, s, dim, _opposite(norm))

    return hfftn


def _inverse(default: Any) -> Callable[..., Any]:
    def ihfftn(
        b: Builder, input: Any, s: Static = None, dim: Static = default, norm: Static = None
    ) -> Any:
        """Half of the signal, Hermitian along the last axis, that has a real spectrum.

        The conjugate of the transform, scaled as an inverse.
        """
        return recorded("conj")(b, recorded("fft.rfftn")(b, input, s, dim, _opposite(norm)))

    return ihfftn


for _name, _axes in (("2", (-2, -1)), ("n", None)):
    TORCH.macro(f"fft.hfft{_name}")(_hermitian(_axes))
    TORCH.macro(f"fft.ihfft{_name}")(_inverse(_axes))
