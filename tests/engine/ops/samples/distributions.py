"""Sample points of distribution functions and quantiles, in the middle and at Student's 0."""

import numpy as np

from tests.engine.ops.calls import call, calls

DF = np.array([[1.0], [4.7]])
D = np.array([3.3, 1.8, 6.0])
T = np.array([-2.3, 0.4, 1.7])
X = np.array([0.3, 1.4, 3.7])
P = np.array([0.15, 0.4, 0.85])
K = np.array([0, 2, 4])

SAMPLES = [
    call("stdtr", DF, T),
    call("stdtr", DF, np.zeros(1)),
    call("stdtrit", DF, P),
    call("stdtrit", np.array(3.0), np.array(0.5)),
    *calls("chdtr chdtrc", DF, X),
    call("chdtri", DF, P),
    *calls("gdtr gdtrc fdtr fdtrc", D, DF, X),
    call("fdtri", D, DF, P),
    *calls("pdtr pdtrc", K, X),
    *calls("bdtr bdtrc", K, 4, P),
    *calls("nbdtr nbdtrc", K, D, P),
]
