"""Sample points of products."""

import numpy as np

from tests.engine.ops.calls import call, calls

RNG = np.random.default_rng(6)
SHAPES = [
    ((3,), (3,)),
    ((3,), (3, 2)),
    ((2, 3), (3,)),
    ((2, 3), (3, 4)),
    ((3,), (5, 3, 2)),
    ((5, 2, 3), (3,)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((6, 1, 2, 3), (5, 3, 4)),
    ((2, 1), (1, 3)),
    ((1, 1), (1, 1)),
    ((2, 0), (0, 3)),
    ((0, 2), (2, 3)),
]
A, B, V = RNG.normal(size=(2, 3)), RNG.normal(size=(3, 3)), RNG.normal(size=3)
C, S = RNG.normal(size=(2, 3, 4)), RNG.normal(size=())

SAMPLES = [
    *[call("matmul", RNG.normal(size=x), RNG.normal(size=y)) for x, y in SHAPES],
    *[call("dot", *pair) for pair in ((V, V), (A, B), (A, V), (S, V), (A, C))],
    *[call("inner", *pair) for pair in ((V, V), (A, B), (A, V), (S, A))],
    *calls("outer kron", A, B),
    *calls("outer kron", V, C),
    call("vdot", A, A * 2),
    call("vecdot", C, C[0]),
    call("vecdot", C, C, 0),
    *[call("matvec", *pair) for pair in ((A, V), (B, C[0].T.copy()))],
    call("linalg.vecmat", C[:, :, :3], B),
    call("vecmat", V[:2], A),
    call("khatri_rao", A, B),
    *[call("tensordot", B, B * 2, axes) for axes in (0, 1, 2, (1, 0), ((0, 1), (1, 0)))],
    call("tensordot", C, A, ((1, 0), (1, 0))),
    call("cross", A, B[:1]),
    call("linalg.cross", B, B.T.copy(), 0),
    call("linalg.multi_dot", [V, B, A.T.copy(), A, V]),
    call("multi_dot", [A, B]),
]
