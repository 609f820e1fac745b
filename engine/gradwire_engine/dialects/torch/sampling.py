"""PyTorch's draws and dropout: each takes the keyword ``key`` in place of a hidden generator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.axes import flag
from gradwire_engine.ops.base import Static

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


def _given(key: Any, name: str) -> Any:
    if key is None:
        hint = "key=7, or an integer variable; equal keys draw equal numbers"
        raise BadArgument(f"{name} needs a key", hint=hint)
    return key


def _size(size: tuple[Any, ...]) -> Any:
    return size[0] if len(size) == 1 else size


@TORCH.macro("rand")
def rand(b: Builder, *size: Static, key: Any = None, dtype: Static = None) -> Any:
    """Numbers evenly between 0 and 1, for a ``key``; not PyTorch's numbers."""
    return recorded("random.uniform")(b, _given(key, "rand"), _size(size), dtype)


@TORCH.macro("randn")
def randn(b: Builder, *size: Static, key: Any = None, dtype: Static = None) -> Any:
    """Standard normal numbers for a ``key``; not PyTorch's numbers."""
    return recorded("random.normal")(b, _given(key, "randn"), _size(size), dtype)


@TORCH.macro("rand_like")
def rand_like(b: Builder, input: Any, *, key: Any = None, dtype: Static = None) -> Any:
    """Numbers evenly between 0 and 1 in the shape and dtype of ``input``, for a ``key``."""
    kind = b.array(input).type
    return rand(b, kind.shape, key=key, dtype=dtype or kind.dtype)


@TORCH.macro("randn_like")
def randn_like(b: Builder, input: Any, *, key: Any = None, dtype: Static = None) -> Any:
    """Standard normal numbers in the shape and dtype of ``input``, for a ``key``."""
    kind = b.array(input).type
    return randn(b, kind.shape, key=key, dtype=dtype or kind.dtype)


@TORCH.macro("randint")
def randint(
    b: Builder,
    low: Any,
    high: Any,
    size: Static = None,
    *,
    key: Any = None,
    dtype: Static = "int64",
) -> Any:
    """Integers from ``low`` (0, if it is left out) to before ``high``, for a ``key``."""
    if size is None:
        low, high, size = 0, low, high
    return recorded("random.randint")(b, _given(key, "randint"), size, low, high, dtype)


@TORCH.macro("randperm")
def randperm(b: Builder, n: Static, *, key: Any = None) -> Any:
    """The integers from 0 to before ``n`` in random order, for a ``key``."""
    return recorded("random.permutation")(b, _given(key, "randperm"), n)


@TORCH.macro("normal")
def normal(b: Builder, mean: Any, std: Any = 1.0, size: Static = None, *, key: Any = None) -> Any:
    """Normal numbers: ``z = mean + std n``, for a ``key``."""
    return recorded("random.normal")(b, _given(key, "normal"), size, loc=mean, scale=std)


@TORCH.macro("bernoulli")
def bernoulli(b: Builder, input: Any, *, key: Any = None) -> Any:
    """1 with probability ``input``, else 0, in its dtype, for a ``key``; no gradient."""
    x = b.inexact(input)
    return b.cast(recorded("random.bernoulli")(b, _given(key, "bernoulli"), x), x.dtype)


@TORCH.macro("poisson")
def poisson(b: Builder, input: Any, *, key: Any = None) -> Any:
    """Counts of mean ``input``, in its dtype, for a ``key``; no gradient."""
    x = b.inexact(input)
    return b.cast(recorded("random.poisson")(b, _given(key, "poisson"), x), x.dtype)


@TORCH.macro("multinomial")
def multinomial(
    b: Builder, input: Any, num_samples: Static, replacement: Static = False, *, key: Any = None
) -> Any:
    """Indices along the last axis, with probabilities proportional to ``input``; no gradient."""
    key, logs = _given(key, "multinomial"), recorded("log")(b, input)
    if flag(replacement, "replacement"):
        rows = recorded("expand_dims")(b, logs, -2)
        shape = (*logs.type.shape[:-1], num_samples)
        return recorded("random.categorical")(b, key, rows, -1, shape)
    noise = recorded("random.gumbel")(b, key, logs.type.shape)
    return recorded("top_k")(b, recorded("add")(b, logs, noise), num_samples)[1]


@TORCH.macro("nn.functional.dropout")
def dropout(
    b: Builder,
    input: Any,
    p: Any = 0.5,
    training: Static = True,
    *,
    key: Any = None,
) -> Any:
    """Elements zeroed with probability ``p``, the others divided by ``1 - p``, for a ``key``.

    Without ``training`` the ``input`` itself, and no key is needed.
    """
    if not flag(training, "training"):
        return b.array(input)
    return recorded("random.dropout")(b, _given(key, "dropout"), input, p)


@TORCH.macro("nn.functional.dropout1d nn.functional.dropout2d nn.functional.dropout3d")
def dropout_channels(
    b: Builder,
    input: Any,
    p: Any = 0.5,
    training: Static = True,
    *,
    key: Any = None,
) -> Any:
    """Channels, along axis 1, zeroed as a whole with probability ``p``, the others scaled."""
    if not flag(training, "training"):
        return b.array(input)
    shape = b.array(input).type.shape
    each = (*shape[:2], *[1 for _ in shape[2:]])
    return recorded("random.dropout")(b, _given(key, "dropout"), input, p, each)


@TORCH.macro("nn.functional.gumbel_softmax")
def gumbel_softmax(
    b: Builder,
    logits: Any,
    tau: Any = 1,
    hard: Static = False,
    eps: Static = 1e-10,
    dim: Static = -1,
    *,
    key: Any = None,
) -> Any:
    """A relaxed choice of class along ``dim`` for a ``key``; straight-through if ``hard``.

    ``eps`` has no effect, as in PyTorch.
    """
    key = _given(key, "gumbel_softmax")
    return recorded("random.gumbel_softmax")(b, key, logits, tau, hard, dim)
