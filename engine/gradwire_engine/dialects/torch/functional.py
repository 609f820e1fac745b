"""PyTorch's ``torch.nn.functional``: activations, layers, normalisations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.axes import choice, integer, integers
from gradwire_engine.ops.base import Static

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

#: What the modes of padding are called without prefix.
_PADDINGS = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
#: Modes that repeat what is left when negative widths are cut off; the others what was there.
_CUT_FIRST = ("constant", "circular")


@TORCH.macro("cosine_similarity nn.functional.cosine_similarity")
def cosine_similarity(b: Builder, x1: Any, x2: Any, dim: Static = 1, eps: Any = 1e-8) -> Any:
    """``z = x1 · x2 / (max(‖x1‖, eps) max(‖x2‖, eps))`` along ``dim`` of both broadcast."""
    pair = recorded("broadcast_arrays")(b, x1, x2)
    product = recorded("sum")(b, recorded("multiply")(b, *pair), dim)
    lengths = [recorded("maximum")(b, recorded("vector_norm")(b, x, dim), eps) for x in pair]
    return recorded("divide")(b, product, recorded("multiply")(b, *lengths))


@TORCH.macro("nn.functional.pdist pdist")
def pdist(b: Builder, input: Any, p: Static = 2.0) -> Any:
    """Distances in norm ``p`` of all pairs of rows, the first of each pair slowest.

    Convention: derivative 0 where two rows are equal.
    """
    x = b.array(input)
    if x.ndim != 2:
        raise ShapeMismatch(f"pdist takes a matrix, got {x.type}")
    pairs = recorded("triu_indices")(b, x.type.shape[0], 1)
    apart = [recorded("take")(b, x, index, 0) for index in pairs]
    return recorded("vector_norm")(b, recorded("subtract")(b, *apart), -1, ord=p)


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


@TORCH.macro("channel_shuffle nn.functional.channel_shuffle")
def channel_shuffle(b: Builder, input: Any, groups: Static) -> Any:
    """Channels, along axis 1, that stood group after group, the first of each group first."""
    x, count = b.array(input), integer(groups, "groups")
    if x.ndim < 2 or count < 1 or x.type.shape[1] % count:
        raise ShapeMismatch(f"channel_shuffle cannot divide the channels of {x.type} by {count}")
    batch, channels, *rest = x.type.shape
    grouped = recorded("reshape")(b, x, (batch, count, channels // count, *rest))
    return recorded("reshape")(b, recorded("swapaxes")(b, grouped, 1, 2), x.type.shape)
