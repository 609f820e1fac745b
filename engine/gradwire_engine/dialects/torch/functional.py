"""PyTorch's ``torch.nn.functional``: activations, layers, normalisations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.axes import choice, integers
from gradwire_engine.ops.base import Static

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

#: The modes of padding, by their names without prefix.
_PADDINGS = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
#: Modes that repeat what is left when negative widths are cut off; the others what was there.
_CUT_FIRST = ("constant", "circular")


#: Ways to compute Euclidean distances, which are all of differences here.
_COMPUTED = (
    "use_mm_for_euclid_dist_if_necessary",
    "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)


@TORCH.macro("cdist")
def cdist(
    b: Builder, x1: Any, x2: Any, p: Static = 2.0, compute_mode: Static = _COMPUTED[0]
) -> Any:
    """Distances of all pairs of rows in the norm ``p``: ``z[i, j] = |x1[i] - x2[j]|``.

    ``compute_mode`` changes nothing.  Convention: derivative 0 where two rows are equal.
    """
    if compute_mode is not None:
        choice(compute_mode, _COMPUTED, "compute_mode")
    return recorded("cdist")(b, x1, x2, p)


@TORCH.macro("nn.functional.pad")
def padded(b: Builder, input: Any, pad: Static, mode: Static = "constant", value: Any = 0) -> Any:
    """The array with ``value`` around it, or (``reflect``, ``replicate``, ``circular``) itself.

    ``pad`` is (before, after) for the last axis first; negative widths cut off.
    """
    x, widths = b.array(input), integers(pad, "pad")
    if len(widths) % 2 or len(widths) > 2 * x.ndim:
        raise BadArgument(f"pad needs pairs for at most {x.ndim} axes, got {len(widths)} numbers")
    choice(mode, _PADDINGS, "mode")
    pairs = [(widths[i], widths[i + 1]) for i in range(0, len(widths), 2)]
    pairs = [*[(0, 0)] * (x.ndim - len(pairs)), *pairs[::-1]]
    if any(sum(pair) + n < 0 for n, pair in zip(x.shape, pairs, strict=True)):
        raise BadArgument(f"pad cannot cut off more than there is, got {pairs} for {x.type}")
    grown = [(max(before, 0), max(after, 0)) for before, after in pairs]
    filled = () if value is None or mode != "constant" else (value,)
    before = mode in _CUT_FIRST
    x = _without_ends(b, x, pairs) if before else x
    z = recorded("pad")(b, x, grown, _PADDINGS[mode], *filled)
    return z if before else _without_ends(b, z, pairs)


def _without_ends(b: Builder, x: Var, pairs: list[tuple[int, int]]) -> Any:
    """``x`` with negative widths cut off."""
    for axis, (before, after) in enumerate(pairs):
        if min(before, after) < 0:
            stop = x.type.shape[axis] - max(-after, 0)
            x = recorded("split")(b, x, [max(-before, 0), stop], axis)[1]
    return x
