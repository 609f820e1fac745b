"""Sample points of embeddings."""

import numpy as np
from gradwire_engine.check import Call

TABLE = np.random.default_rng(30).permutation(np.linspace(-1.1, 1.9, 15)).reshape(5, 3)
BAGS = np.array([[2, 0, 4], [1, 3, 1]])
IDS = np.array([2, 0, 4, 1, 3, 1])
WEIGHTS = np.linspace(0.5, 2.0, 6)

SAMPLES = [
    *[Call.of("embedding", ids, TABLE) for ids in (BAGS, IDS, IDS[:0], np.array(2))],
    *[Call.of("embedding_bag", BAGS, TABLE, mode=mode) for mode in ("sum", "mean", "max")],
    *[Call.of("embedding_bag", BAGS, TABLE, None, mode, padding_idx=0) for mode in ("sum", "mean")],
    Call.of("embedding_bag", BAGS, TABLE, None, "max", None, False, -1),
    Call.of("embedding_bag", IDS, TABLE, [0, 2, 2, 5]),
    Call.of("embedding_bag", IDS, TABLE, [0, 2, 6], "max", include_last_offset=True),
    Call.of("embedding_bag", IDS, TABLE, [0, 2, 2, 5], "sum", WEIGHTS),
    Call.of("embedding_bag", BAGS, TABLE, None, "sum", WEIGHTS.reshape(2, 3)),
    Call.of("embedding_bag", IDS[:0], TABLE, [0, 0], "max"),
    Call.of("embedding_bag", BAGS[:0], TABLE),
]
