"""Sample points of functions less what cancels, powers of ten, degrees, Box and Cox's transform."""

import numpy as np
from gradwire_engine.check import Call

X = np.array([[-1.3, -0.4, 0.0], [0.3, 1.1, 2.3]])
P = np.array([[0.3, 0.8, 1.0], [1.7, 2.5, 4.1]])
POWER = np.array([-0.7, 0.0, 1.4])

SAMPLES = [
    *[Call.of(name, X) for name in ("exprel", "cosm1", "exp10")],
    *[Call.of(name, X * 40 + 50) for name in ("sindg", "cosdg", "cotdg")],
    Call.of("tandg", X * 20),
    Call.of("log1mexp", P),
    *[Call.of(name, P, POWER) for name in ("powm1", "boxcox", "boxcox1p")],
    *[Call.of(name, P[0] - 0.5, POWER) for name in ("inv_boxcox", "inv_boxcox1p")],
    *[Call.of(name, np.empty((0, 3)), POWER) for name in ("powm1", "boxcox", "inv_boxcox")],
]
