"""Sample points of entropies' terms."""

import numpy as np

from tests.engine.ops.calls import call, calls

P = np.array([[0.3, 0.8, 1.2], [1.7, 2.5, 4.1]])

SAMPLES = [
    call("entr", P),
    *calls("rel_entr kl_div", P, P[::-1] * 0.7),
]
