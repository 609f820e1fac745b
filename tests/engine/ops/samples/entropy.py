"""Sample points of entropies' terms."""

import numpy as np
from gradwire_engine.check import Call

P = np.array([[0.3, 0.8, 1.2], [1.7, 2.5, 4.1]])

SAMPLES = [
    Call.of("entr", P),
    *[Call.of(name, P, P[::-1] * 0.7) for name in ("rel_entr", "kl_div")],
]
