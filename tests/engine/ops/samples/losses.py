"""Sample points of losses and normalisations."""

import numpy as np

from tests.engine.ops.calls import call

X = np.array([[-1.3, -0.4, 0.2, 0.9], [0.7, 1.1, 2.3, -3.1], [0.4, 0.3, -1.2, 0.1]])
Y = np.array([[0.2, 0.3, 0.1, 0.4], [0.6, 0.25, 0.2, 0.1], [0.0, 0.9, 0.1, 0.0]])
LABELS = np.array([2, 0, 3])
RAGGED = ("mse_loss", "l1_loss", "huber_loss", "smooth_l1_loss", "binary_cross_entropy_with_logits")

SAMPLES = [
    *[call(name, X, Y, r) for name in RAGGED for r in ("mean", "sum", "none")],
    call("huber_loss", X, Y, "none", 0.75),
    call("smooth_l1_loss", X, Y, beta=0.75),
    call("huber_loss", X[:0], Y[:0], "sum"),
    call("sigmoid_cross_entropy_with_logits", Y, X),
    *[call("softmax_cross_entropy_with_logits", Y, X, axis) for axis in (-1, 0)],
    call("sparse_softmax_cross_entropy_with_logits", LABELS, X),
    call("sparse_softmax_cross_entropy_with_logits", np.array(1), X[0]),
    *[call("cross_entropy", X, target) for target in (LABELS, Y)],
    *[call("one_hot", LABELS, 3, axis) for axis in (-1, 0)],
    call("one_hot", np.array(1), 0, dtype="float32"),
    *[call("glu", X[:2], axis) for axis in (-1, 0)],
    *[call("layer_norm", X, axis=axis) for axis in (-1, (0, 1))],
    call("layer_norm", X, Y[0], X[1]),
    call("layer_norm", X, bias=X[1], epsilon=0.1),
    *[call("normalize", X, axis) for axis in (-1, 0, None)],
]
