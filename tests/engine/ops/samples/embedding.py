"""Sample points of embeddings."""

import numpy as np

from tests.engine.ops.calls import call

TABLE = np.random.default_rng(30).permutation(np.linspace(-1.1, 1.9, 15)).reshape(5, 3)
BAGS = np.array([[2, 0, 4], [1, 3, 1]])
IDS = np.array([2, 0, 4, 1, 3, 1])
WEIGHTS = np.linspace(0.5, 2.0, 6)

SAMPLES = [
    *[call("embedding", ids, TABLE) for ids in (BAGS, IDS, IDS[:0], np.array(2))],
    *[call("embedding_bag", BAGS, TABLE, mode=mode) for mode in ("sum", "mean", "max")],
    *[call("embedding_bag", BAGS, TABLE, None, mode, padding_idx=0) for mode in ("sum", "mean")],
    call("embedding_bag", BAGS, TABLE, None, "max", None, False, -1),
    call("embedding_bag", IDS, TABLE, [0, 2, 2, 5]),
    call("embedding_bag", IDS, TABLE, [0, 2, 6], "max", include_last_offset=True),
    call("embedding_bag", IDS, TABLE, [0, 2, 2, 5], "sum", WEIGHTS),
    call("embedding_bag", BAGS, TABLE, None, "sum", WEIGHTS.reshape(2, 3)),
    call("embedding_bag", IDS[:0], TABLE, [0, 0], "max"),
    call("embedding_bag", BAGS[:0], TABLE),
]
