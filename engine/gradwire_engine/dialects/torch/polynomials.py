"""PyTorch's Chebyshev polynomials of the third and fourth kind, and on the interval (0, 1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.ops.axes import integer
from gradwire_engine.ops.base import Static

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


def _of_second_kind(b: Builder, name: str, n: Any, x: Any) -> Any:
    """``U_n - U_(n-1)`` or the sum.  Source: DLMF 18.7.3-4 and 18.9."""
    z = recorded("eval_chebyu")(b, n, x)
    return z if not n else recorded(name)(b, z, recorded("eval_chebyu")(b, n - 1, x))


def _kind(kind: str, b: Builder, n: Any, x: Any) -> Any:
    if kind in "vw":
        return _of_second_kind(b, "subtract" if kind == "v" else "add", integer(n, "n"), x)
    return recorded(f"eval_cheby{kind}")(b, n, x)


def _plain(kind: str) -> Callable[..., Any]:
    def polynomial(b: Builder, input: Any, n: Static) -> Any:
        """Chebyshev polynomial of degree ``n``, of the third (``v``) or fourth (``w``) kind."""
        return _kind(kind, b, n, b.inexact(input))

    return polynomial


def _shifted(kind: str) -> Callable[..., Any]:
    def polynomial(b: Builder, input: Any, n: Static) -> Any:
        """Chebyshev polynomial of degree ``n`` and the kind named, at ``2 x - 1``."""
        x = b.inexact(input)
        return _kind(kind, b, n, 2 * x - 1)

    return polynomial


for _of in "vw":
    TORCH.macro(f"special.chebyshev_polynomial_{_of}")(_plain(_of))
for _of in "tuvw":
    TORCH.macro(f"special.shifted_chebyshev_polynomial_{_of}")(_shifted(_of))
