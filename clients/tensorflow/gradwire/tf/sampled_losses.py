"""Losses of many classes by a sample of them: noise-contrastive estimation, sampled softmax."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradwire.tf import dtypes, static
from gradwire.tf.arrays import reshape
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.custom import stop_gradient
from gradwire.tf.gathering import embedding_lookup
from gradwire.tf.joining import concat
from gradwire.tf.nn_losses import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
)
from gradwire.tf.operations.math import log
from gradwire.tf.operations.reductions import reduce_sum
from gradwire.tf.operators import cast, matmul
from gradwire.tf.random.candidates import log_uniform_candidate_sampler
from gradwire.tf.seeds import SEEDS
from gradwire.tf.tensors import Tensor

_LEAST = float(np.finfo(np.float32).min)


class AccidentalHits(NamedTuple):
    """Examples, places in the sample, and the least float for each."""

    indices: Tensor
    ids: Tensor
    weights: Tensor


def compute_accidental_hits(
    true_classes: Any,
    sampled_candidates: Any,
    num_true: int,
    seed: int | None = None,
    name: str | None = None,
) -> AccidentalHits:
    """The places of examples' true classes in the sample."""
    SEEDS.source("ComputeAccidentalHits", seed, 0)  # draws nothing, but counts among the seeds
    true = static.array(true_classes).reshape(-1, num_true)
    places = {int(each): i for i, each in enumerate(static.array(sampled_candidates))}
    found = [
        (row, places[int(each)])
        for row, classes in enumerate(true)
        for each in classes
        if int(each) in places
    ]
    rows, ids = np.asarray(found, np.int64).reshape(-1, 2).T
    weights = np.full(len(found), _LEAST, np.float32)
    return AccidentalHits(
        tensor_of(rows.astype(np.int32), dtypes.int32),
        tensor_of(ids, dtypes.int64),
        tensor_of(weights, dtypes.float32),
    )


def nce_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    name: str = "nce_loss",
) -> Tensor:
    """Noise-contrastive estimation: logistic losses of the true and of sampled classes.

    Source: Gutmann and Hyvärinen, Noise-contrastive estimation (2010).
    """
    logits, wanted = _sampled(
        (weights, biases, labels, inputs),
        (num_sampled, num_classes, num_true),
        sampled_values,
        remove_accidental_hits,
        None,
    )
    return reduce_sum(sigmoid_cross_entropy_with_logits(wanted, logits), 1)


def sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    seed: int | None = None,
    name: str = "sampled_softmax_loss",
) -> Tensor:
    """The cross entropy of the softmax over the true and sampled classes.

    Source: Jean and others, On using very large target vocabulary (2014).
    """
    logits, wanted = _sampled(
        (weights, biases, labels, inputs),
        (num_sampled, num_classes, num_true),
        sampled_values,
        remove_accidental_hits,
        seed,
    )
    return softmax_cross_entropy_with_logits(stop_gradient(wanted), logits)


def _sampled(
    given: tuple[Any, Any, Any, Any],
    counts: tuple[int, int, int],
    sampled_values: Any,
    remove_accidental_hits: bool,
    seed: int | None,
) -> tuple[Tensor, Tensor]:
    """The logits of true and sampled classes, and what they should be."""
    weights, biases, labels, inputs = given
    num_sampled, num_classes, num_true = counts
    true = cast(labels, dtypes.int64)
    if true.shape.rank == 1:
        true = reshape(true, [-1, 1])
    if sampled_values is None:
        sampled_values = log_uniform_candidate_sampler(
            true, num_true, num_sampled, True, num_classes, seed
        )
    sampled, true_expected, sampled_expected = map(convert_to_tensor, sampled_values)
    features = convert_to_tensor(inputs)
    classes = concat([reshape(true, [-1]), cast(sampled, dtypes.int64)], 0)
    count = features._lengths()[0] * num_true
    rows = embedding_lookup(weights, classes)
    offsets = embedding_lookup(biases, classes)
    dots = features[:, None, :] * reshape(rows[:count], [-1, num_true, features._lengths()[1]])
    true_logits = reduce_sum(dots, 2) + reshape(offsets[:count], [-1, num_true])
    others = matmul(features, rows[count:], transpose_b=True) + offsets[count:]
    if remove_accidental_hits:
        hits = compute_accidental_hits(true, sampled, num_true)
        removed = np.zeros(others._lengths(), np.float32)
        np.add.at(removed, (hits.indices.numpy(), hits.ids.numpy()), _LEAST)
        others = others + cast(removed, others.dtype)
    true_logits = true_logits - log(cast(true_expected, true_logits.dtype))
    others = others - log(cast(sampled_expected, others.dtype))
    logits = concat([true_logits, others], 1)
    wanted = np.zeros(logits._lengths())
    wanted[:, :num_true] = 1 / num_true
    return logits, convert_to_tensor(wanted, logits.dtype)
