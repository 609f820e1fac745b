"""Sample points of attention."""

import numpy as np

from tests.engine.ops.calls import call

RNG = np.random.default_rng(43)
Q, K, V = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(2, 5, 4)), RNG.normal(size=(2, 5, 2))
SEEN = RNG.uniform(size=(3, 5)) > 0.4
SEEN[1] = False

SAMPLES = [
    call("scaled_dot_product_attention", Q, K, V),
    call("scaled_dot_product_attention", Q, K, V, SEEN),
    call("scaled_dot_product_attention", Q, K, V, RNG.normal(size=(2, 1, 5)), scale=0.3),
    call("scaled_dot_product_attention", Q, K, V, None, True, np.array(0.7)),
    call("scaled_dot_product_attention", Q[0], K[:, :1], V[:, :1], is_causal=True),
    call("scaled_dot_product_attention", Q, K[:, :0], V[:, :0]),
    call("scaled_dot_product_attention", Q[:, :0], K, V),
]
