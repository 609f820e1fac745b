"""Products, solutions and factorisations as in NumPy and SciPy."""

from typing import Any

import numpy as np
import scipy.fft
import scipy.linalg
import scipy.spatial.distance
from scipy import linalg as sl
from scipy.linalg import expm, solve_triangular

RNG = np.random.default_rng(4)
A = RNG.uniform(-0.5, 0.5, (3, 3)) + 2 * np.eye(3)
B = RNG.uniform(-0.5, 0.5, (3, 3)) + np.diag([1.0, 2.0, 3.0])
R = RNG.uniform(0.2, 1.0, (4, 3))
V = RNG.uniform(0.2, 1.0, 3)
U = RNG.uniform(0.2, 1.0, 3)
K = RNG.uniform(-0.5, 0.5, (2, 3, 3)) + np.diag([1.0, 2.0, 3.0])
Z = A + 0.3j * B


def spd(a):
    return a @ a.T + np.eye(3)


CASES: list[Any] = [
    (
        "dot vec",
        lambda v, u: (v @ u, np.dot(v, u), v.dot(u), np.vdot(v, u), np.linalg.vecdot(v, u)),
        V,
        U,
    ),
    (
        "matmul",
        lambda a, b: (a @ b, np.matmul(a, b), np.dot(a, b), a.dot(b), np.linalg.matmul(a, b)),
        A,
        B,
    ),
    ("matvec", lambda a, v: (a @ v, v @ a, np.matvec(a, v), np.vecmat(v, a)), A, V),
    ("batched matmul", lambda k, a: (k @ a, a @ k, k @ k), K, A),
    (
        "outer",
        lambda v, u: (
            np.outer(v, u),
            np.multiply.outer(v, u),
            np.linalg.outer(v, u),
            np.subtract.outer(v, u),
        ),
        V,
        U,
    ),
    (
        "inner/tensordot",
        lambda a, v: (
            np.inner(a, v),
            np.tensordot(a, v, 1),
            np.tensordot(a, a),
            np.tensordot(a, a, axes=([0], [1])),
        ),
        A,
        V,
    ),
    (
        "einsum",
        lambda a, v: (
            np.einsum("ij,j->i", a, v),
            np.einsum("ii", a),
            np.einsum("ij,kj->ik", a, a),
            np.einsum(a, [0, 1], [1, 0]),
        ),
        A,
        V,
    ),
    ("kron", np.kron, A, V),
    (
        "trace",
        lambda a, k: (np.trace(a), a.trace(), np.linalg.trace(k), np.trace(a, offset=1)),
        A,
        K,
    ),
    (
        "transpose",
        lambda a, k: (
            a.T,
            np.transpose(a),
            k.mT,
            np.transpose(k, (2, 0, 1)),
            k.transpose(1, 2, 0),
            np.matrix_transpose(k),
            np.permute_dims(k, (1, 0, 2)),
        ),
        A,
        K,
    ),
    ("cross", lambda v, u: (np.cross(v, u), np.linalg.cross(v, u)), V, U),
    ("vander", lambda v: (np.vander(v), np.vander(v, 2, increasing=True)), V),
    ("inv", lambda a, k: (np.linalg.inv(a), np.linalg.inv(k), sl.inv(a)), A, K),
    ("inv", lambda z: (np.linalg.inv(z), np.linalg.det(z)), Z),
    ("pinv", lambda r: (np.linalg.pinv(r), sl.pinv(r)), R),
    ("det", lambda a, k: (np.linalg.det(a), np.linalg.det(k), sl.det(a)), A, K),
    ("slogdet", lambda a, k: (np.linalg.slogdet(a), np.linalg.slogdet(k).logabsdet), A, K),
    (
        "solve",
        lambda a, v, k: (np.linalg.solve(a, v), np.linalg.solve(k, a), sl.solve(a, v)),
        A,
        V,
        K,
    ),
    (
        "solve",
        lambda a, v: (sl.solve(spd(a), v, assume_a="pos"), scipy.linalg.solve(a, v, lower=True)),
        A,
        V,
    ),
    (
        "solve_triangular",
        lambda a, v: (
            solve_triangular(a, v),
            sl.solve_triangular(a, v, lower=True, trans="T"),
            sl.solve_triangular(a, v, unit_diagonal=True),
        ),
        A,
        V,
    ),
    ("cho_solve", lambda a, v: sl.cho_solve(sl.cho_factor(spd(a)), v), A, V),
    ("cho_solve", lambda a, v: sl.cho_solve((np.linalg.cholesky(spd(a)), True), v), A, V),
    (
        "cholesky",
        lambda a: (
            np.linalg.cholesky(spd(a)),
            sl.cholesky(spd(a)),
            sl.cholesky(spd(a), lower=True),
            np.linalg.cholesky(spd(a), upper=True),
        ),
        A,
    ),
    (
        "qr",
        lambda r: (
            abs(np.linalg.qr(r).Q),
            abs(np.linalg.qr(r)[1]),
            np.abs(np.linalg.qr(r, mode="r")),
            abs(sl.qr(r, mode="economic")[1]),
        ),
        R,
    ),
    ("lu", lambda a: (sl.lu(a), sl.lu(a, permute_l=True)), A),
    ("lu", lambda a, v: sl.lu_solve(sl.lu_factor(a), v), A, V),
    (
        "lstsq",
        lambda r: (
            np.linalg.lstsq(r, r[:, 0] ** 2)[0],
            np.linalg.lstsq(r, r[:, 0] ** 2)[1],
            sl.lstsq(r, r[:, 0] ** 2)[0],
        ),
        R,
    ),
    (
        "eigh values",
        lambda a: (
            np.linalg.eigh(spd(a)).eigenvalues,
            np.linalg.eigh(spd(a))[0],
            sl.eigh(spd(a), eigvals_only=True),
        ),
        A,
    ),
    (
        "eigh vectors (abs)",
        lambda a: (abs(np.linalg.eigh(spd(a)).eigenvectors), abs(sl.eigh(spd(a))[1])),
        A,
    ),
    (
        "eigvalsh",
        lambda a, b: (
            np.linalg.eigvalsh(spd(a)),
            sl.eigvalsh(spd(a)),
            sl.eigh(spd(a), spd(b), eigvals_only=True),
        ),
        A,
        B,
    ),
    (
        "eig values (abs)",
        lambda b: (np.sort(abs(np.linalg.eig(b).eigenvalues)), np.sort(abs(np.linalg.eigvals(b)))),
        B,
    ),
    (
        "svd singular values",
        lambda r: (
            np.linalg.svd(r).S,
            np.linalg.svd(r, compute_uv=False),
            np.linalg.svdvals(r),
            sl.svdvals(r),
        ),
        R,
    ),
    (
        "svd U (abs)",
        lambda r: (
            abs(np.linalg.svd(r, full_matrices=False).U),
            abs(sl.svd(r, full_matrices=False)[2]),
        ),
        R,
    ),
    ("nuclear norm", lambda r: (np.linalg.norm(r, "nuc"), np.linalg.norm(r, "fro"), sl.norm(r)), R),
    ("matrix_power", lambda a: (np.linalg.matrix_power(a, 3), np.linalg.matrix_power(a, -1)), A),
    ("expm", lambda a: (expm(a), scipy.linalg.expm(-a)), A),
    ("sqrtm", lambda a: sl.sqrtm(spd(a)), A),
    ("logm/funm", lambda a: (sl.logm(spd(a)), sl.sinm(a), sl.cosm(a)), A),
    ("solve_sylvester", lambda a, b: sl.solve_sylvester(a, b, a @ b), A, B),
    (
        "solve_banded / tridiagonal",
        lambda a, v: sl.solve_banded(
            (1, 1), a + 2 * np.ones((3, 1)) * np.array([[0], [1], [0]]), v
        ),
        A,
        V,
    ),
    ("multi_dot", lambda a, b, v: np.linalg.multi_dot([a, b, v]), A, B, V),
    (
        "tril / triu",
        lambda a, k: (np.tril(a), np.triu(a, 1), np.tril(k, -1), a[np.tril_indices(3)]),
        A,
        K,
    ),
    (
        "diag / diagonal",
        lambda a, v: (
            np.diag(a),
            np.diag(v),
            np.diagonal(a, 1),
            a.diagonal(),
            np.diagflat(v),
            np.linalg.diagonal(a),
            np.diag(v, -1),
        ),
        A,
        V,
    ),
    ("block_diag", lambda a, r: sl.block_diag(a, r, 2.0), A, R),
    ("cond number", lambda a: (np.linalg.cond(a), np.linalg.cond(a, 1)), A),
    (
        "toeplitz",
        lambda v, u: (sl.toeplitz(v), sl.toeplitz(v, u), sl.circulant(v), sl.hankel(v)),
        V,
        U,
    ),
    (
        "cdist",
        lambda r, a: (
            scipy.spatial.distance.cdist(r, a),
            scipy.spatial.distance.cdist(r, a, "sqeuclidean"),
        ),
        R,
        A,
    ),
    (
        "others",
        lambda a, k: (
            np.linalg.matrix_rank(a),
            np.linalg.tensorinv(a, 1),
            np.linalg.tensorsolve(a, a[0]),
        ),
        A,
        K,
    ),
    (
        "others",
        lambda z: (
            z @ z.conj().T,
            abs(np.linalg.eigvalsh(z + z.conj().T)),
            np.linalg.norm(z),
            np.linalg.slogdet(z),
        ),
        Z,
    ),
]


def test_linear_algebra_agrees_with_numpy_and_scipy(case, check):
    _, f, *args = case
    check(f, *args)
