"""Sample points of sparse matrices; some nonzeros share a place."""

import numpy as np

from tests.engine.ops.calls import call

RNG = np.random.default_rng(29)
ROW, COLUMN = np.array([2, 0, 1, 2, 2]), np.array([0, 3, 1, 0, 2])
VALUES = RNG.normal(size=5)
NONE = VALUES[:0], ROW[:0], COLUMN[:0]
#: A regular matrix, also with rows or columns in reverse order.
SQUARE = np.array([3.0, -2.0, 4.0, 0.5, -0.6, 0.7]), np.array([0, 1, 2, 2, 1, 0])
PLACES = np.array([0, 1, 2, 0, 2, 1])

RIGHT = [RNG.normal(size=shape) for shape in ((4,), (4, 2), (2, 4, 3), (2, 0, 4, 1), (4, 0))]
LEFT = [RNG.normal(size=shape) for shape in ((3,), (3, 2), (2, 3, 1))]

SAMPLES = [
    *[call("sparse.coo_matmul", VALUES, ROW, COLUMN, (3, 4), x) for x in RIGHT],
    *[call("sparse.coo_matmul", VALUES, ROW, COLUMN, (3, 4), x, True) for x in LEFT],
    call("sparse.coo_matmul", *NONE, (3, 4), RIGHT[1]),
    call("sparse.coo_matmul", *NONE, (0, 4), RIGHT[0]),
    call("sparse.coo_matmul", *NONE, (3, 0), RIGHT[0][:0]),
    call("sparse.coo_matmul", [2.0], [0], [1], (1, 4), RIGHT[1]),
    *[call("sparse.coo_solve", *SQUARE, PLACES, x) for x in LEFT],
    call("sparse.coo_solve", *NONE, LEFT[0][:0]),
    call("sparse.coo_solve", *SQUARE, PLACES, [1, 2, 3]),
    call("sparse.sddmm", ROW, COLUMN, LEFT[1], RIGHT[1]),
    call("sparse.sddmm", ROW[:0], COLUMN[:0], LEFT[1], RIGHT[1]),
    call("sparse.sddmm", ROW, COLUMN, LEFT[1][:, :0], RIGHT[1][:, :0]),
    call("sparse.coo_todense", VALUES, ROW, COLUMN, (3, 4)),
    call("sparse.coo_todense", *NONE, (0, 2)),
]
