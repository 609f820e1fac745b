"""``tf.nn.ctc_loss``: connectionist temporal classification."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwire.tf import static
from gradwire.tf.arrays import transpose
from gradwire.tf.calls import call
from gradwire.tf.conversion import convert_to_tensor
from gradwire.tf.nodes import Spec
from gradwire.tf.operations.reductions import log_softmax
from gradwire.tf.operations.types import TensorLike
from gradwire.tf.tensors import Tensor


def ctc_loss(
    labels: Any,
    logits: TensorLike,
    label_length: TensorLike | None,
    logit_length: TensorLike,
    logits_time_major: bool = True,
    unique: Any = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Negative log-likelihood of each example's labels, without blanks and repeats between."""
    scores = convert_to_tensor(logits)
    if not logits_time_major:
        scores = transpose(scores, [1, 0, 2])
    _, examples, classes = scores._lengths()
    if hasattr(labels, "dense_shape"):
        targets, lengths = _dense(labels, examples)
        blank = classes - 1 if blank_index is None else blank_index
    else:
        targets, lengths = static.array(labels), static.array(label_length)
        blank = 0 if blank_index is None else blank_index
    return call(
        "F.ctc_loss",
        log_softmax(scores),
        targets.astype(np.int64),
        static.array(logit_length).astype(np.int64),
        lengths.astype(np.int64),
        blank=blank % classes,
        reduction="none",
        spec=Spec(scores.dtype, (examples,)),
        now=True,
    )


def _dense(labels: Any, examples: int) -> tuple[Any, Any]:
    rows = static.array(labels.indices)[:, 0]
    lengths = np.bincount(rows, minlength=examples)
    targets = np.zeros((examples, max(int(lengths.max(initial=0)), 1)), np.int64)
    places = static.array(labels.indices)
    targets[places[:, 0], places[:, 1]] = static.array(labels.values)
    return targets, lengths
