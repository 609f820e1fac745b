"""PyTorch's ``torch.masked``: reductions of those elements where a mask is true."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.dialects.torch.scatters import held
from gradwire_engine.ops.base import Static

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder

#: The operation of each, and its neutral element.
_REDUCTIONS = {
    "sum": ("sum", 0),
    "prod": ("prod", 1),
    "amax": ("max", -math.inf),
    "amin": ("min", math.inf),
    "logsumexp": ("logsumexp", -math.inf),
    "argmax": ("argmax", -math.inf),
    "argmin": ("argmin", math.inf),
}
_ALONG = {
    "softmax": ("softmax", -math.inf),
    "log_softmax": ("log_softmax", -math.inf),
    "cumsum": ("cumsum", 0),
    "cumprod": ("cumprod", 1),
}


def _filled(b: Builder, input: Any, dtype: Any, mask: Any, value: float) -> Any:
    x = input if dtype is None else recorded("astype")(b, input, dtype)
    return x if mask is None else recorded("where")(b, mask, x, value)


def _reduction(operation: str, nothing: float) -> Callable[..., Any]:
    def reduction(
        b: Builder,
        input: Any,
        dim: Static = None,
        *,
        keepdim: Static = False,
        dtype: Static = None,
        mask: Any = None,
    ) -> Any:
        """The reduction over ``dim`` of the elements where ``mask`` is true, perhaps of none."""
        x = b.array(_filled(b, input, dtype, None, 0))
        neutral = nothing if operation == "logsumexp" else held(nothing, x.dtype)
        return recorded(operation)(b, _filled(b, x, None, mask, neutral), dim, keepdims=keepdim)

    return reduction


def _along(operation: str, nothing: float) -> Callable[..., Any]:
    def along(
        b: Builder, input: Any, dim: Static, *, dtype: Static = None, mask: Any = None
    ) -> Any:
        """The function along ``dim``, as if the elements were not there where ``mask`` is false."""
        return recorded(operation)(b, _filled(b, input, dtype, mask, nothing), dim)

    return along


for _name, _of in _REDUCTIONS.items():
    TORCH.macro(f"masked.{_name}")(_reduction(*_of))
for _name, _of in _ALONG.items():
    TORCH.macro(f"masked.{_name}")(_along(*_of))
