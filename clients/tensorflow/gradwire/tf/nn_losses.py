"""Losses of logits, dropout and other functions of ``tf.nn`` with operands of their own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradwire.tf import dtypes, static
from gradwire.tf.arguments import only, only_philox
from gradwire.tf.arrays import reshape
from gradwire.tf.calls import call
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.creation import ones_like
from gradwire.tf.dtypes import DType
from gradwire.tf.errors import invalid
from gradwire.tf.gathering import embedding_lookup, gather, where
from gradwire.tf.nodes import Spec
from gradwire.tf.operations import operands
from gradwire.tf.operations.arrays import broadcast_to
from gradwire.tf.operations.image import extract_patches
from gradwire.tf.operations.math import divide_no_nan, sqrt, square
from gradwire.tf.operations.nn import batch_normalization
from gradwire.tf.operations.reductions import reduce_sum
from gradwire.tf.operations.types import Axis, Ints, Shape, TensorLike
from gradwire.tf.operators import cast, multiply
from gradwire.tf.operators import truediv as divide
from gradwire.tf.philox import Philox
from gradwire.tf.random import laws
from gradwire.tf.random.stateless import source_of
from gradwire.tf.seeds import SEEDS
from gradwire.tf.segments import unsorted_segment_sum
from gradwire.tf.steps import again
from gradwire.tf.tensors import Operand, Tensor


def sigmoid_cross_entropy_with_logits(
    labels: TensorLike | None = None, logits: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """Cross entropy of independent classes, element by element."""
    if labels is None or logits is None:
        raise ValueError("pass `labels` and `logits`; one of them is None")
    scores = convert_to_tensor(logits)
    wanted = convert_to_tensor(labels, None if isinstance(labels, Operand) else scores.dtype)
    if wanted._lengths() != scores._lengths():
        raise ValueError(
            f"`labels` must be of the shape of `logits`, {scores._lengths()}; got "
            f"{wanted._lengths()}"
        )
    multiply(scores, wanted)  # refuses what is of another dtype
    spec = Spec(scores.dtype, scores._node.shape)
    return call("tf.nn.sigmoid_cross_entropy_with_logits", wanted, scores, spec=spec)


def softmax_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, axis: int = -1, name: str | None = None
) -> Tensor:
    """Cross entropy of classes that exclude one another; labels are their probabilities."""
    scores = convert_to_tensor(logits)
    wanted = convert_to_tensor(labels, None if isinstance(labels, Operand) else scores.dtype)
    if wanted.dtype != scores.dtype:
        wanted = cast(wanted, scores.dtype)
    lengths = scores._lengths()
    if len(wanted._lengths()) != len(lengths) or any(
        a != b and a != 1 for a, b in zip(wanted._lengths(), lengths, strict=True)
    ):
        raise invalid(
            f"logits and labels must be broadcastable: logits_size={static.listed(lengths)} "
            f"labels_size={static.listed(wanted._lengths())} "
            "[Op:SoftmaxCrossEntropyWithLogits] name: "
        )
    if wanted._lengths() != lengths:
        wanted = broadcast_to(wanted, lengths)
    place = axis % len(lengths)
    spec = Spec(scores.dtype, (*lengths[:place], *lengths[place + 1 :]))
    return call("tf.formulas.softmax_cross_entropy_with_logits", wanted, scores, axis, spec=spec)


@again(effect=False)
def _check_labels(places: Tensor, count: int) -> None:
    """Raise for a label that there is not."""
    numbers = places._value()
    wrong = numbers[(numbers < 0) | (numbers >= count)]
    if wrong.size:
        raise invalid(
            f"Received a label value of {wrong[0]} which is outside the valid range of "
            f"[0, {count}).  Label values: {' '.join(map(str, numbers.reshape(-1)))} "
            "[Op:SparseSoftmaxCrossEntropyWithLogits]"
        )


def sparse_softmax_cross_entropy_with_logits(
    labels: TensorLike, logits: TensorLike, name: str | None = None
) -> Tensor:
    """Cross entropy of classes that exclude one another; labels are their numbers."""
    places, scores = convert_to_tensor(labels), convert_to_tensor(logits)
    lengths, given = scores._lengths(), places._lengths()
    if not lengths:
        raise ValueError(f"`logits` needs an axis of classes, got the scalar {scores}")
    if given != lengths[:-1]:
        raise ValueError(
            f"`logits` of shape {lengths} needs `labels` of shape {lengths[:-1]}, got {given}"
        )
    if not places.dtype.is_integer:
        raise invalid(
            f"Value for attr 'Tlabels' of {places.dtype.names_in_errors} is not in the list of "
            "allowed values: int32, int64\n\t; NodeDef: {{node "
            "SparseSoftmaxCrossEntropyWithLogits}} [Op:SparseSoftmaxCrossEntropyWithLogits] name: "
        )
    _check_labels(places, lengths[-1])
    spec = Spec(scores.dtype, lengths[:-1])
    return call("tf.nn.sparse_softmax_cross_entropy_with_logits", places, scores, spec=spec)


def dropout(
    x: TensorLike,
    rate: TensorLike,
    noise_shape: Shape | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Elements zeroed with probability ``rate``, the others divided by ``1 - rate``."""
    tensor, chance = _for_dropout(x, rate)
    if chance == 0:
        return tensor
    kept = _kept(_noise_shape(tensor, noise_shape), tensor.dtype, seed, chance)
    return _dropped(tensor, kept, rate, chance)


def stateless_dropout(
    x: TensorLike,
    rate: TensorLike,
    seed: TensorLike,
    rng_alg: str = "auto_select",
    noise_shape: Shape | None = None,
    name: str | None = None,
) -> Tensor:
    """Dropout that the seed alone decides."""
    only_philox("stateless_dropout", rng_alg)
    tensor, chance = _for_dropout(x, rate)
    if chance == 0:
        return tensor
    kept = _kept_by(_noise_shape(tensor, noise_shape), tensor.dtype, seed, chance)
    return _dropped(tensor, kept, rate, chance)


@again()
def _kept(shape: tuple[int, ...], dtype: DType, seed: int | None, chance: float) -> Tensor:
    """Where elements are kept."""
    source = SEEDS.source(f"RandomUniform:{dtype.name}", seed, math.prod(shape))
    return _kept_of(source, shape, dtype, chance)


@again(effect=False)
def _kept_by(shape: tuple[int, ...], dtype: DType, seed: TensorLike, chance: float) -> Tensor:
    return _kept_of(source_of(seed), shape, dtype, chance)


def _kept_of(source: Philox, shape: tuple[int, ...], dtype: DType, chance: float) -> Tensor:
    drawn = laws.uniform(source, math.prod(shape), dtype).reshape(shape)
    return tensor_of(drawn >= dtype.storage.type(chance))


def _for_dropout(x: Any, rate: Any) -> tuple[Tensor, float]:
    tensor = convert_to_tensor(x)
    if not tensor.dtype.is_floating:
        raise ValueError(
            f"dropout scales `x`, which therefore needs a floating dtype; got {tensor.dtype}"
        )
    chance = float(static.array(rate))
    if not 0 <= chance < 1 and not isinstance(rate, Operand):
        raise ValueError(f"`rate` is a probability from 0 to below 1, got {rate}")
    return tensor, chance


def _noise_shape(tensor: Tensor, noise_shape: Any) -> tuple[int, ...]:
    lengths = tensor._lengths()
    if noise_shape is None:
        return lengths
    pairs = zip(list(noise_shape), lengths, strict=True)
    return tuple([length if wanted is None else static.integer(wanted) for wanted, length in pairs])


def _dropped(tensor: Tensor, kept: Tensor, rate: Any, chance: float) -> Tensor:
    if isinstance(rate, Operand):
        scaled = divide(tensor, 1 - cast(rate, tensor.dtype))
    else:
        scaled = multiply(tensor, np.asarray(1 / (1 - chance), tensor.dtype.storage))
    return where(kept, scaled, np.zeros((), tensor.dtype.storage))


def sufficient_statistics(
    x: TensorLike,
    axes: Axis,
    shift: TensorLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """The number of elements over ``axes``, their sum, their squares' sum, and ``shift``."""
    tensor = convert_to_tensor(x)
    lengths, along = tensor._lengths(), operands.axes(axes)
    places = range(len(lengths)) if along is None else np.atleast_1d(along).tolist()
    count = math.prod(lengths[place] for place in places)
    moved = tensor if shift is None else tensor - shift
    total, squares = (reduce_sum(part, along, keepdims) for part in (moved, square(moved)))
    number = tensor_of(np.asarray(count, tensor.dtype.storage), tensor.dtype)
    return number, total, squares, None if shift is None else convert_to_tensor(shift)


def compute_average_loss(
    per_example_loss: TensorLike,
    sample_weight: TensorLike | None = None,
    global_batch_size: Ints | None = None,
) -> Tensor:
    """Sum of the losses, weighted if so asked, over how many examples there are."""
    loss = convert_to_tensor(per_example_loss)
    size = loss._lengths()[0] if global_batch_size is None else static.integer(global_batch_size)
    if sample_weight is not None:
        loss = multiply(loss, convert_to_tensor(sample_weight, loss.dtype))
    return divide(reduce_sum(loss), np.asarray(size, loss.dtype.storage))


def scale_regularization_loss(regularization_loss: TensorLike) -> Tensor:
    """Sum of the losses: there is one replica."""
    return reduce_sum(regularization_loss)


def batch_norm_with_global_normalization(
    input: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    beta: TensorLike,
    gamma: TensorLike,
    variance_epsilon: float,
    scale_after_normalization: bool,
    name: str | None = None,
) -> Tensor:
    """Normalised by a mean and variance of each channel."""
    scale = gamma if scale_after_normalization else None
    return batch_normalization(input, mean, variance, beta, scale, variance_epsilon)


def embedding_lookup_sparse(
    params: TensorLike,
    sp_ids: Any,
    sp_weights: Any,
    combiner: str | None = None,
    max_norm: float | None = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """Rows of a table named by each row of ``sp_ids``, combined."""
    table = convert_to_tensor(params)
    how = combiner or "mean"
    if how not in ("mean", "sqrtn", "sum"):
        raise ValueError(f"`combiner` {combiner!r} is unknown; use 'mean', 'sqrtn' or 'sum'")
    rows, ids, count = _rows_of(sp_ids)
    found = embedding_lookup(table, ids, max_norm)
    given = ones_like(ids, table.dtype) if sp_weights is None else _values_of(sp_weights)
    weights = cast(given, table.dtype)
    total = unsorted_segment_sum(found * weights[:, None], rows, count)
    if how == "sum":
        return total
    squares = weights if how == "mean" else weights * weights
    sizes = unsorted_segment_sum(squares, rows, count)
    if how == "sqrtn":
        sizes = sqrt(sizes)
    return divide_no_nan(total, sizes[:, None])


def safe_embedding_lookup_sparse(
    embedding_weights: TensorLike,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str = "mean",
    default_id: int | None = None,
    max_norm: float | None = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """The same, where rows without ids give the row of ``default_id``, or zeros."""
    found = embedding_lookup_sparse(
        embedding_weights, sparse_ids, sparse_weights, combiner, max_norm
    )
    if default_id is None:
        return found
    rows, _, count = _rows_of(sparse_ids)
    present = np.isin(np.arange(count), rows)[:, None]
    return where(present, found, convert_to_tensor(embedding_weights)[default_id])


def _rows_of(ids: Any) -> tuple[Any, Tensor, int]:
    if hasattr(ids, "dense_shape"):
        count = static.lengths(ids.dense_shape)[0]
        return static.array(ids.indices)[:, 0], ids.values, count
    return static.array(ids.value_rowids()), ids.values, int(static.array(ids.nrows()))


def _values_of(weights: Any) -> Tensor:
    values: Tensor = weights.values
    return values


def max_pool_with_argmax(
    input: TensorLike,
    ksize: Ints,
    strides: Ints,
    padding: str,
    data_format: str = "NHWC",
    output_dtype: Any = dtypes.int64,
    include_batch_in_index: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Largest elements of windows, and their places in each picture."""
    only("max_pool_with_argmax", data_format=(data_format, "NHWC"))
    x = convert_to_tensor(input)
    batches, height, width, channels = x._lengths()
    sides = _windows(ksize), _windows(strides)
    numbers = np.arange(1, height * width * channels + 1, dtype=np.float64)
    places = np.broadcast_to(numbers.reshape(1, height, width, channels), x._lengths())
    patches = [
        static.array(extract_patches(each, sides[0], sides[1], [1, 1, 1, 1], padding))
        for each in (x._value(), places.copy())
    ]
    found = [p.reshape(*p.shape[:3], -1, channels) for p in patches]
    hidden = np.where(found[1] == 0, -np.inf, found[0])
    chosen = np.take_along_axis(found[1], hidden.argmax(3)[:, :, :, None], 3)[:, :, :, 0] - 1
    start = np.arange(batches).reshape(-1, 1, 1, 1) * (height * width * channels)
    flat = reshape(x, [-1])
    values = gather(flat, (chosen + start).astype(np.int64))
    index = (chosen + start if include_batch_in_index else chosen).astype(np.int64)
    indices = tensor_of(index.astype(dtypes.as_dtype(output_dtype).storage))
    indices._beside = values
    return values, indices


def _windows(given: Any) -> list[int]:
    sides = list(static.lengths(given))
    if len(sides) == 4:
        return sides
    return [1, *(sides * 2 if len(sides) == 1 else sides), 1]
