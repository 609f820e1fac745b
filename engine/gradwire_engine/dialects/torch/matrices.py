"""PyTorch's functions of matrices and its norms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.errors import ShapeMismatch
from gradwire_engine.ops.base import Static

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


@TORCH.macro("einsum")
def einsum(b: Builder, equation: Static, *operands: Any) -> Any:
    """Sum of products over the indices, ``...`` too, that ``equation`` leaves out at its end."""
    several = len(operands) == 1 and isinstance(operands[0], list | tuple)
    given = operands[0] if several else operands
    terms, arrow, kept = (
        equation.partition("->") if isinstance(equation, str) else (equation, "", "")
    )
    if not arrow or "..." not in terms or "..." in kept:
        return recorded("einsum")(b, equation, *given)
    z = recorded("einsum")(b, f"{terms}->...{kept}", *given)
    return recorded("sum")(b, z, tuple(range(z.ndim - len(kept.replace(" ", "")))))


@TORCH.macro("adjoint")
def conjugate_transpose(b: Builder, input: Any) -> Any:
    """Conjugate transpose of each matrix."""
    return recorded("conj")(b, recorded("matrix_transpose")(b, input))


@TORCH.macro("cross")
def cross(b: Builder, input: Any, other: Any, dim: Static = None) -> Any:
    """Vector product along ``dim``, by default the first axis of length 3."""
    if dim is not None:
        return recorded("cross")(b, input, other, dim)
    x, y = recorded("broadcast_arrays")(b, input, other)
    if 3 not in x.type.shape:
        raise ShapeMismatch(f"cross needs an axis of length 3, got {x.type}")
    return recorded("cross")(b, x, y, x.type.shape.index(3))
