"""Lists of recorded numbers, nested too, in NumPy's functions of arrays."""

import numpy as np

X = np.array([0.3, 0.7, 1.1])


def put_into(x):
    a = np.zeros(4)
    np.put(a, [0, 2], [x[0], x[1]])
    b = np.zeros((2, 2))
    np.fill_diagonal(b, [x[1], x[2]])
    np.copyto(a[2:], [x[2], 1.0], where=[True, False])
    total = np.zeros(2)
    np.sum([[x[0], 1.0], [x[1], x[2]]], axis=0, out=total)
    return a, b, total


def copied(x):
    y = x * 1.0
    z = np.asarray(y, copy=True)
    y[0] = 5.0
    return y, z


CASES = [
    ("put into an array", put_into),
    ("copies", copied),
    ("append", lambda x: np.append([[x[0], 2.0], [3.0, 4.0]], [[x[1], 1.0]], axis=0)),
    ("append to an array", lambda x: np.append(x, [x[0], [1.0][0]])),
    ("append a number", lambda x: np.append([1.0, 2.0], x[0])),
    ("concatenate", lambda x: np.concatenate([[x[0], 1.0], x, [2.0]])),
    ("concatenate rows", lambda x: np.concatenate(([[x[0], 1.0]], [[x[1], x[2]]]), axis=1)),
    ("stack", lambda x: np.stack([[x[0], 1.0], [x[1], x[2]]], axis=1)),
    ("vstack", lambda x: np.vstack([x, [1.0, x[0], 2.0], (3.0, 4.0, x[1])])),
    ("hstack", lambda x: np.hstack([[x[0]], [x[1], 2.0]])),
    ("column stack", lambda x: np.column_stack([[1.0, x[0]], [x[1], 2.0]])),
    ("array", lambda x: np.array([[x[0], [1.0][0]], [2.0, x[1]]]) @ np.array((x[0], x[2]))),
    ("array of rows", lambda x: np.array([x, x**2, [1.0, 2.0, x[0]]])),
    ("array of a dtype", lambda x: np.asarray([x[0], 1], dtype=np.complex128)),
    ("norm", lambda x: np.linalg.norm([x[0], x[1]]) + np.sum([x[0], [2.0][0]])),
    ("where", lambda x: np.where(x > 0.5, [x[0], 1.0, 2.0], (0.0, x[1], x[2]))),
    ("quantile", lambda x: np.median([x[0], x[1], 9.0]) + np.max([x[2], 0.0])),
    ("reshape", lambda x: np.reshape([x[0], 1.0, 2.0, x[1]], (2, 2)) @ np.tile([x[0]], 2)),
    ("nanmax", lambda x: np.nanmax([x[0], np.nan, x[2]]) + np.linalg.matrix_norm([[x[0]], [2.0]])),
    ("copy", lambda x: np.copy([x[0], 2.0]) + np.ones_like([x[0], 1.0]) + np.zeros_like([x[1]])),
    ("linspace", lambda x: np.linspace([x[0], 1.0], [2.0, x[1]], 3)),
    ("concat", lambda x: np.concat([[x[0]], [x[1], x[2]]])),
    ("multi_dot", lambda x: np.linalg.multi_dot([[x[0], 1.0], [[x[1], 2.0], [0.0, 1.0]], x[:2]])),
    ("block", lambda x: np.block([[x[:2], x[2:]], [np.ones(3)]])),
    ("select", lambda x: np.select([x > 1, x > 0.5], [x, x**2], 0.1)),
    ("cross", lambda x: np.cross([x[0], 1.0, 2.0], x)),
    ("cross of columns", lambda x: np.cross(np.outer(x, x + 1), np.eye(3), axisa=0, axisc=0)),
    ("cross along an axis", lambda x: np.cross(np.outer(x, x + 1), np.ones((3, 3)), axis=0)),
    (
        "cross by its last",
        lambda x: np.cross(np.outer(x, x)[:2], np.eye(3)[:, :2], axisb=0, axisc=-2),
    ),
]


def test_values_and_derivatives_are_those_of_numpy(case, check):
    _, f = case
    check(f, X)
