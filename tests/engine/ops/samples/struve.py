"""Sample points of Struve functions."""

import numpy as np

from tests.engine.ops.calls import calls

P = np.array([[0.4, 1.7, 4.2], [0.9, 2.2, 6.1]])

SAMPLES = [
    *calls("struve modstruve", [0.0, 1.0, 2.5], P),
    *calls("struve modstruve", 0.7, np.array(1.3)),
]
