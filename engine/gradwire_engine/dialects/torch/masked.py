"""PyTorch's ``torch.masked``: reductions of those elements where a mask is true."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.elementwise import held
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.dialects.torch.ordering import nanmedian
from gradwire_engine.ops.axes import axis_of, flag
from gradwire_engine.ops.base import Static

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder

#: Which operation each is, and what changes nothing there.
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


@TORCH.macro("masked.softmin")
def softmin(b: Builder, input: Any, dim: Static, *, dtype: Static = None, mask: Any = None) -> Any:
    """Softmax of ``-x`` along ``dim``, as if elements were not there where ``mask`` is false."""
    x = _filled(b, input, dtype, mask, math.inf)
    return recorded("softmax")(b, recorded("negative")(b, x), dim)


@TORCH.macro("masked.logaddexp")
def logaddexp(
    b: Builder,
    input: Any,
    other: Any,
    *,
    dtype: Static = None,
    input_mask: Any = None,
    other_mask: Any = None,
) -> Any:
    """``z = ln(exp input + exp other)``, of those where their masks are true."""
    parts = ((input, input_mask), (other, other_mask))
    return recorded("logaddexp")(b, *[_filled(b, x, dtype, m, -math.inf) for x, m in parts])


def _count(b: Builder, x: Any, mask: Any, dim: Any, keepdim: Any) -> Any:
    given = recorded("ones_like")(b, x, dtype="bool") if mask is None else mask
    _, there = recorded("broadcast_arrays")(b, x, given)
    return recorded("count_nonzero")(b, there, dim, keepdims=keepdim)


@TORCH.macro("masked.mean")
def mean(
    b: Builder,
    input: Any,
    dim: Static = None,
    *,
    keepdim: Static = False,
    dtype: Static = None,
    mask: Any = None,
) -> Any:
    """Mean over ``dim`` of the elements where ``mask`` is true; of none NaN."""
    x = _filled(b, input, dtype, mask, 0)
    total = recorded("sum")(b, x, dim, keepdims=keepdim)
    return recorded("divide")(b, total, _count(b, x, mask, dim, keepdim))


def _apart(
    b: Builder, x: Any, dim: Any, unbiased: Any, correction: Any, dtype: Any, mask: Any
) -> tuple[Any, Any]:
    """Distances from the mean, and the number of elements less the correction."""
    less = int(flag(unbiased, "unbiased")) if correction is None else correction
    middle = mean(b, x, dim, keepdim=True, dtype=dtype, mask=mask)
    apart = _filled(b, recorded("subtract")(b, x, middle), None, mask, 0)
    count = recorded("subtract")(b, _count(b, apart, mask, dim, True), less)
    return apart, recorded("maximum")(b, count, 0)


@TORCH.macro("masked.var")
def var(
    b: Builder,
    input: Any,
    dim: Static = None,
    unbiased: Static = True,
    *,
    correction: Static = None,
    keepdim: Static = False,
    dtype: Static = None,
    mask: Any = None,
) -> Any:
    """Variance over ``dim`` of the elements where ``mask`` is true, with ``n - correction``."""
    apart, count = _apart(b, input, dim, unbiased, correction, dtype, mask)
    squares = recorded("square")(b, recorded("abs")(b, apart))
    z = recorded("divide")(b, recorded("sum")(b, squares, dim, keepdims=True), count)
    return z if flag(keepdim, "keepdim") else recorded("sum")(b, z, dim)


@TORCH.macro("masked.std")
def std(
    b: Builder,
    input: Any,
    dim: Static = None,
    unbiased: Static = True,
    *,
    correction: Static = None,
    keepdim: Static = False,
    dtype: Static = None,
    mask: Any = None,
) -> Any:
    """Root of the variance over ``dim`` of the elements where ``mask`` is true.

    Convention: derivative 0 where these are equal.
    """
    apart, count = _apart(b, input, dim, unbiased, correction, dtype, mask)
    length = recorded("vector_norm")(b, apart, dim, True)
    z = recorded("divide")(b, length, recorded("sqrt")(b, count))
    return z if flag(keepdim, "keepdim") else recorded("sum")(b, z, dim)


@TORCH.macro("masked.norm")
def norm(
    b: Builder,
    input: Any,
    ord: Static = 2.0,
    dim: Static = None,
    *,
    keepdim: Static = False,
    dtype: Static = None,
    mask: Any = None,
) -> Any:
    """Norm ``ord`` over ``dim`` of the elements where ``mask`` is true."""
    x = _filled(b, input, dtype, mask, math.inf if ord == -math.inf else 0)
    return recorded("vector_norm")(b, x, dim, keepdim, ord)


@TORCH.macro("masked.normalize")
def normalize(
    b: Builder,
    input: Any,
    ord: Static,
    dim: Static,
    *,
    eps: Any = 1e-12,
    dtype: Static = None,
    mask: Any = None,
) -> Any:
    """Elements where ``mask`` is true over their norm ``ord`` along ``dim``, 0 elsewhere."""
    x = _filled(b, input, dtype, mask, 0)
    length = recorded("maximum")(b, norm(b, x, ord, dim, keepdim=True, mask=mask), eps)
    return recorded("divide")(b, x, length)


@TORCH.macro("masked.median")
def median(
    b: Builder,
    input: Any,
    dim: Static = -1,
    *,
    keepdim: Static = False,
    dtype: Static = None,
    mask: Any = None,
) -> Any:
    """The middle element along ``dim`` where ``mask`` is true, of an even number the lower."""
    x = b.array(_filled(b, input, dtype, mask, math.nan))
    return nanmedian(b, x, axis_of(dim, x.ndim, "masked.median"), keepdim)[0]
