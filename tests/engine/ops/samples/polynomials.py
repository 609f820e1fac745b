"""Sample points of polynomials."""

import numpy as np

from tests.engine.ops.calls import call

RNG = np.random.default_rng(37)
P = RNG.normal(size=4)
AT = RNG.normal(size=(2, 3))
POINTS = np.linspace(-1, 1.5, 6)

REAL = ("roots",)
SAMPLES = [
    *[call("polyval", P[:n], AT) for n in (0, 1, 4)],
    call("polyval", P, np.array(0.3)),
    call("polyval", P[0], AT),
    *[call(name, P, P[:n]) for name in ("polyadd", "polysub", "polymul") for n in (1, 2, 4)],
    *[call("polyder", P, m) for m in (0, 1, 2, 5)],
    *[call("polyint", P, m) for m in (0, 1, 2)],
    call("polyint", P, 2, P[:2]),
    call("polyint", P, 2, np.array(0.3)),
    call("polyfit", POINTS, RNG.normal(size=6), 2),
    call("polyfit", POINTS, RNG.normal(size=(6, 2)), 3, w=RNG.uniform(0.5, 2, size=6)),
    call("polyfit", POINTS[:1], P[:1], 0),
    call("roots", np.array([1.0, -6.0, 11.0, -6.0])),
    call("roots", np.array([2.0, 1.0, 3.0])),
    call("roots", np.array([2.0, 1.0])),
    *[call("poly", P[:n]) for n in (0, 1, 4)],
]
