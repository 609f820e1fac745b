"""Sample points of distribution functions and quantiles, in the middle and at Student's 0."""

import numpy as np
from gradwire_engine.check import Call

DF = np.array([[1.0], [4.7]])
D = np.array([3.3, 1.8, 6.0])
T = np.array([-2.3, 0.4, 1.7])
X = np.array([0.3, 1.4, 3.7])
P = np.array([0.15, 0.4, 0.85])
K = np.array([0, 2, 4])

SAMPLES = [
    Call.of("stdtr", DF, T),
    Call.of("stdtr", DF, np.zeros(1)),
    Call.of("stdtrit", DF, P),
    Call.of("stdtrit", np.array(3.0), np.array(0.5)),
    *[Call.of(name, DF, X) for name in ("chdtr", "chdtrc")],
    Call.of("chdtri", DF, P),
    *[Call.of(name, D, DF, X) for name in ("gdtr", "gdtrc", "fdtr", "fdtrc")],
    Call.of("fdtri", D, DF, P),
    *[Call.of(name, K, X) for name in ("pdtr", "pdtrc")],
    *[Call.of(name, K, 4, P) for name in ("bdtr", "bdtrc")],
    *[Call.of(name, K, D, P) for name in ("nbdtr", "nbdtrc")],
]
