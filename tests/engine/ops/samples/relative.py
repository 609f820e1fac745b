"""Sample points of functions less what cancels, powers of ten, degrees, Box and Cox's transform."""

import numpy as np

from tests.engine.ops.calls import call, calls

X = np.array([[-1.3, -0.4, 0.0], [0.3, 1.1, 2.3]])
P = np.array([[0.3, 0.8, 1.0], [1.7, 2.5, 4.1]])
POWER = np.array([-0.7, 0.0, 1.4])

SAMPLES = [
    *calls("exprel cosm1 exp10", X),
    *calls("sindg cosdg cotdg", X * 40 + 50),
    call("tandg", X * 20),
    call("log1mexp", P),
    *calls("powm1 boxcox boxcox1p", P, POWER),
    *calls("inv_boxcox inv_boxcox1p", P[0] - 0.5, POWER),
    *calls("powm1 boxcox inv_boxcox", np.empty((0, 3)), POWER),
]
