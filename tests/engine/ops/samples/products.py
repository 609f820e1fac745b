"""Sample points of products."""

import numpy as np
from gradwire_engine.check import Call

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
    *[Call.of("matmul", RNG.normal(size=x), RNG.normal(size=y)) for x, y in SHAPES],
    *[Call.of("dot", *pair) for pair in ((V, V), (A, B), (A, V), (S, V), (A, C))],
    *[Call.of("inner", *pair) for pair in ((V, V), (A, B), (A, V), (S, A))],
    *[Call.of(name, A, B) for name in ("outer", "kron")],
    *[Call.of(name, V, C) for name in ("outer", "kron")],
    Call.of("vdot", A, A * 2),
    Call.of("vecdot", C, C[0]),
    Call.of("vecdot", C, C, 0),
    *[Call.of("matvec", *pair) for pair in ((A, V), (B, C[0].T.copy()))],
    Call.of("linalg.vecmat", C[:, :, :3], B),
    Call.of("vecmat", V[:2], A),
    Call.of("khatri_rao", A, B),
    *[Call.of("tensordot", B, B * 2, axes) for axes in (0, 1, 2, (1, 0), ((0, 1), (1, 0)))],
    Call.of("tensordot", C, A, ((1, 0), (1, 0))),
    Call.of("cross", A, B[:1]),
    Call.of("linalg.cross", B, B.T.copy(), 0),
    Call.of("linalg.multi_dot", [V, B, A.T.copy(), A, V]),
    Call.of("multi_dot", [A, B]),
]
