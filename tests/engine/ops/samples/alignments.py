"""Sample points of losses over alignments."""

import numpy as np

from tests.engine.ops.calls import call

LOGS = np.array(
    [
        [[-0.4, -1.9, -1.7], [-1.1, -1.3, -0.9]],
        [[-1.6, -0.5, -1.8], [-0.7, -1.4, -1.5]],
        [[-0.9, -1.2, -1.3], [-1.0, -0.8, -1.9]],
        [[-1.5, -0.6, -1.4], [-1.2, -1.1, -0.9]],
    ]
)
LABELS = np.array([[1, 1], [2, 0]])

SAMPLES = [
    call("ctc_loss", LOGS, LABELS, np.array([4, 3]), np.array([2, 1])),
    call("ctc_loss", LOGS, LABELS, np.array([4, 4]), np.array([1, 0])),
    call("ctc_loss", LOGS, np.array([[0, 1], [1, 0]]), np.array([4, 2]), np.array([2, 2]), 2),
    call("ctc_loss", LOGS[:1], LABELS[:, :1], np.array([1, 1]), np.array([1, 1])),
    call("ctc_loss", LOGS, LABELS[:, :0], np.array([2, 4]), np.array([0, 0])),
]
