"""PyTorch's functions that values decide on: how many elements there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument
from gradwire_engine.record.functions.counted import COUNTED
from gradwire_engine.record.indexing import nonzero
from gradwire_engine.record.recorder import Recorder
from gradwire_engine.record.scope import Transformed

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


def _where(r: Recorder, condition: Any, input: Any = None, other: Any = None) -> Any:
    """``input`` where the condition is true, else ``other``; alone, the indices where it is."""
    if input is None and other is None:
        return nonzero(r, condition)
    return r.operation("where", condition, input, other)


def _nonzero(r: Recorder, input: Any, *, as_tuple: Any = False) -> Any:
    """Indices of the elements that are not zero, a row for each, or an array for each axis."""
    if as_tuple:
        return nonzero(r, r.operation("atleast_1d", input))
    return _argwhere(r, input)


def _argwhere(r: Recorder, input: Any) -> Any:
    """Indices of the elements that are not zero, a row for each."""
    return COUNTED["argwhere"](r, input)


def _masked_select(r: Recorder, input: Any, mask: Any) -> Var:
    """The elements where ``mask`` is true, in row-major order, both broadcast together."""
    x, chosen = r.operation("broadcast_arrays", input, mask)
    selected: Var = COUNTED["extract"](r, chosen, x)
    return selected


def _bincount(r: Recorder, input: Any, weights: Any = None, minlength: Any = 0) -> Any:
    """The count of each of 0, 1, 2, … in ``input``, or the sum of its ``weights``."""
    return COUNTED["bincount"](r, input, weights, minlength)


def _unique(
    r: Recorder,
    input: Any,
    sorted: Any = True,
    return_inverse: Any = False,
    return_counts: Any = False,
    dim: Any = None,
) -> Any:
    """The different elements in rising order; a list with which of them each element is, and how
    often each occurs, if asked.
    """
    if dim is not None:
        raise BadArgument("unique compares elements, not parts along an axis", hint="leave dim out")
    inverse, counts = bool(return_inverse), bool(return_counts)
    found = COUNTED["unique"](r, input, False, inverse, counts)
    if inverse:
        found[1] = r.operation("reshape", found[1], r.b.array(input).shape)
    return found


def _module(name: str) -> Callable[..., Any]:
    function = f"torch.nn.functional.{name}"

    def module(r: Recorder, *args: Any, **named: Any) -> Transformed:
        def forward(r: Recorder, tensors: Sequence[Any], by_name: Mapping[str, Any]) -> Any:
            return r.operation(function, *tensors, *args, **named, **by_name)

        return Transformed(forward)

    module.__doc__ = f"The function of tensors ``{function}``, with these further arguments."
    return module


#: The functions that modules without parameters of their own apply.
_MODULES = {
    "MSELoss": "mse_loss",
    "L1Loss": "l1_loss",
    "HuberLoss": "huber_loss",
    "SmoothL1Loss": "smooth_l1_loss",
    "CrossEntropyLoss": "cross_entropy",
    "NLLLoss": "nll_loss",
    "KLDivLoss": "kl_div",
    "BCELoss": "binary_cross_entropy",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "CosineSimilarity": "cosine_similarity",
    "LeakyReLU": "leaky_relu",
    "LogSoftmax": "log_softmax",
} | {
    name: name.lower()
    for name in (
        "ReLU ReLU6 ELU SELU CELU GELU GLU SiLU Mish Sigmoid LogSigmoid Hardsigmoid Hardswish "
        "Hardtanh Tanh Tanhshrink Softplus Softsign Softshrink Hardshrink Softmax Softmin".split()
    )
}
#: Called as ``function(recorder, *args, **named)``.
COUNTED_BY_TORCH: dict[str, Callable[..., Any]] = {
    "torch.where": _where,
    "torch.nonzero": _nonzero,
    "torch.argwhere": _argwhere,
    "torch.masked_select": _masked_select,
    "torch.bincount": _bincount,
    "torch.unique": _unique,
    **{f"torch.nn.{name}": _module(function) for name, function in _MODULES.items()},
}
