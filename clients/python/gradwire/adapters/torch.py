"""PyTorch: functions that a service evaluates, for autograd and ``torch.func``.

>>> loss = gradwire.adapters.torch.function(loss)
>>> loss(w, x, y).backward()

A request is an ``autograd.Function``, and so is its derivative, to any order. A function of one
number is requested with its gradient where that will be needed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwire.adapters.requirements import blocking_client, needs
from gradwire.adapters.routines import Avals, Nested, Routine
from gradwire.bfloat16 import BFLOAT16, FLOATING, INEXACT, dtype_of, result_type, rounded
from gradwire.tracing.arguments import leaf_names
from gradwire.tracing.functions import Runs
from gradwire.tracing.shapes import Aval
from gradwire.tracing.structures import flatten, unflatten

with needs("torch"):
    import torch


def function(f: Callable[..., Any], *, client: Runs | None = None) -> Callable[..., Any]:
    """A Python function, or one of Gradwire's, as a function of nested tensors.

    What it gives is where its first tensor is.

    >>> torch.func.vmap(torch.func.grad(gradwire.adapters.torch.function(loss)), (None, 0, 0))
    """
    own = blocking_client(f, client)
    kinds: dict[Any, Nested] = {}

    @functools.wraps(f)
    def called(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = flatten((args, kwargs))
        nested = kinds.get(structure)
        if nested is None:
            nested = kinds[structure] = Nested(
                f,
                own,
                lambda leaves: unflatten(structure, iter(leaves)),
                leaf_names(f, structure),
            )
        leaves = [leaf if _is_plain(leaf) else torch.as_tensor(leaf) for leaf in leaves]
        avals = _avals(leaves)
        types = nested.routine.types(avals)
        one = len(types) == 1 and types[0].shape == () and types[0].dtype.kind in FLOATING
        results = (_number if one else _Request.apply)(nested.routine, *leaves)
        return unflatten(nested.structure(avals), iter(results))

    return called


def _number(routine: Routine, *leaves: Any) -> tuple[Any, ...]:
    """A routine of one number: its gradient comes with the same request."""
    wanted = torch.is_grad_enabled()
    sources = tuple([i for i, leaf in enumerate(leaves) if wanted and _is_source(leaf)])
    if not sources:
        only: tuple[Any, ...] = _Request.apply(routine, *leaves)
        return only
    value, *gradients = _Request.apply(routine.with_gradient(sources), *leaves)
    return (_Number.apply(value.detach(), *gradients, *[leaves[i] for i in sources]),)


class _Request(torch.autograd.Function):  # type: ignore[misc]
    """A routine's results for tensors."""

    @staticmethod
    def forward(routine: Routine, *leaves: Any) -> tuple[Any, ...]:
        device = next((leaf.device for leaf in leaves if not _is_plain(leaf)), None)
        given = [leaf if _is_plain(leaf) else _array(leaf) for leaf in leaves]
        types = routine.types(_avals(leaves))
        results = zip(routine(*given), types, strict=True)
        return tuple([_tensor(part, aval.dtype).to(device) for part, aval in results])

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:
        ctx.routine, *leaves = inputs
        ctx.plain = [leaf if _is_plain(leaf) else None for leaf in leaves]
        tensors = [None if _is_plain(leaf) else leaf for leaf in leaves]
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)
        ctx.mark_non_differentiable(*[part for part in output if not _is_inexact(part)])
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> tuple[Any, ...]:
        sources = tuple([i for i, needed in enumerate(ctx.needs_input_grad[1:]) if needed])
        targets = tuple([i for i, part in enumerate(cotangents) if part is not None])
        if not targets:
            return (None,) * (1 + len(ctx.plain))
        weights = [cotangents[i] for i in targets]
        pulled = ctx.routine.pulled(sources, targets)
        gradients = iter(_Request.apply(pulled, *_leaves(ctx), *weights))
        return None, *[next(gradients) if i in sources else None for i in range(len(ctx.plain))]

    @staticmethod
    def jvp(ctx: Any, _: Any, *tangents: Any) -> tuple[Any, ...]:
        sources = tuple([i for i, part in enumerate(tangents) if part is not None])
        types = ctx.routine.types(_avals(_leaves(ctx)))
        targets = tuple([i for i, aval in enumerate(types) if aval.dtype.kind in INEXACT])
        moving = [tangents[i] for i in sources]
        along = iter(_Request.apply(ctx.routine.pushed(sources, targets), *_leaves(ctx), *moving))
        return tuple([next(along) if i in targets else None for i in range(len(types))])

    @staticmethod
    def vmap(_: Any, axes: tuple[int | None, ...], routine: Routine, *leaves: Any) -> Any:
        results = _Request.apply(routine.mapped(axes[1:]), *leaves)
        return results, (0,) * len(results)


class _Number(torch.autograd.Function):  # type: ignore[misc]
    """A number whose gradients in some tensors are known: ``(value, *gradients, *tensors)``."""

    generate_vmap_rule = True

    @staticmethod
    def forward(value: Any, *_: Any) -> Any:
        return value.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        gradients = inputs[1 : 1 + len(inputs) // 2]
        ctx.save_for_backward(*gradients)
        ctx.save_for_forward(*gradients)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> tuple[Any, ...]:
        gradients = ctx.saved_tensors
        weighted = [cotangents[0] * gradient for gradient in gradients]
        return None, *[None] * len(gradients), *weighted

    @staticmethod
    def jvp(ctx: Any, _: Any, *tangents: Any) -> Any:
        gradients = ctx.saved_tensors
        pairs = zip(gradients, tangents[len(gradients) :], strict=True)
        return sum((gradient.conj() * moved).sum().real for gradient, moved in pairs)


def _leaves(ctx: Any) -> list[Any]:
    """The arguments of a request."""
    pairs = zip(ctx.plain, ctx.saved_tensors, strict=True)
    return [plain if tensor is None else tensor for plain, tensor in pairs]


def _is_plain(leaf: Any) -> bool:
    """True if a leaf is a Python number, which takes the dtype of its operands."""
    return type(leaf) in (float, complex)


def _is_source(leaf: Any) -> bool:
    return not _is_plain(leaf) and bool(leaf.requires_grad)


def _is_inexact(tensor: Any) -> bool:
    return bool(tensor.is_floating_point() or tensor.is_complex())


def _avals(leaves: Sequence[Any]) -> Avals:
    """Shapes and dtypes; numbers have the dtype of the tensors that they are combined with."""
    dtypes = [None if _is_plain(leaf) else _dtype(leaf) for leaf in leaves]
    inexact = [dtype for dtype in dtypes if dtype is not None and dtype.kind in INEXACT]
    return tuple(
        [
            Aval((), result_type(*inexact, type(leaf)))
            if dtype is None
            else Aval(tuple(leaf.shape), dtype)
            for leaf, dtype in zip(leaves, dtypes, strict=True)
        ]
    )


def _dtype(tensor: Any) -> np.dtype[Any]:
    return dtype_of(str(tensor.dtype).removeprefix("torch."))


def _array(tensor: Any) -> Any:
    """The array that is sent for a tensor; PyTorch converts bfloat16 by its bits alone."""
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy(force=True).view(BFLOAT16)
    return tensor.numpy(force=True)


def _tensor(array: Any, dtype: Any) -> Any:
    """The tensor of a result; one of bfloat16 may be in float32, exactly."""
    if BFLOAT16 in (dtype, array.dtype):
        held = array if array.dtype == BFLOAT16 else rounded(array)
        return _tensor(held.view(np.int16), None).view(torch.bfloat16)
    return torch.from_numpy(array if array.flags.writeable else array.copy())
