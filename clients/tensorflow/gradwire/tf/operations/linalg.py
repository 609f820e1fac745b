"""``tf.linalg``: matrices.

Written by clients/tensorflow/tools/operations.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gradwire.tf.operations import kinds, rules
from gradwire.tf.operations.types import Axis, Ints, Order, TensorLike
from gradwire.tf.tensors import Tensor
from gradwire.tf.unregistered import unregistered

__all__ = [
    "adjoint",
    "band_part",
    "cholesky",
    "cholesky_solve",
    "cross",
    "det",
    "diag",
    "diag_part",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "expm",
    "inv",
    "logdet",
    "logm",
    "lstsq",
    "lu_matrix_inverse",
    "lu_reconstruct",
    "lu_solve",
    "matrix_rank",
    "matrix_transpose",
    "matvec",
    "norm",
    "normalize",
    "pinv",
    "qr",
    "set_diag",
    "slogdet",
    "solve",
    "sqrtm",
    "tensor_diag",
    "tensor_diag_part",
    "trace",
    "triangular_solve",
    "tridiagonal_matmul",
    "tridiagonal_solve",
]


def adjoint(matrix: TensorLike, name: str | None = None) -> Tensor:
    """Conjugate transpose of each matrix."""
    return rules.like("tf.linalg.adjoint", "Transpose", None, {"matrix": matrix}, {})


def band_part(input: TensorLike, num_lower: int, num_upper: int, name: str | None = None) -> Tensor:
    """Each matrix within so many diagonals below and above the main one, else 0; -1 means all."""
    return rules.like(
        "tf.linalg.band_part",
        "MatrixBandPart",
        None,
        {"input": input},
        {"num_lower": num_lower, "num_upper": num_upper},
    )


def cholesky(input: TensorLike, name: str | None = None) -> Tensor:
    """Lower triangular ``z`` with ``a = z z^H`` for each Hermitian positive definite matrix."""
    return rules.like(
        "tf.linalg.cholesky", "Cholesky", kinds.SOLVABLE, {"input": input}, {}, refuses=True
    )


def cholesky_solve(chol: TensorLike, rhs: TensorLike, name: str | None = None) -> Tensor:
    """Solution ``z`` of ``a z = rhs`` from the lower Cholesky factor of ``a``."""
    return rules.like(
        "tf.linalg.cholesky_solve",
        "MatrixTriangularSolve",
        kinds.SOLVABLE,
        {"chol": chol, "rhs": rhs},
        {},
        refuses=True,
    )


def cross(a: TensorLike, b: TensorLike, name: str | None = None) -> Tensor:
    """Cross product of vectors of 3 along ``axis``: ``z_i = a_{i+1} b_{i+2} - a_{i+2} b_{i+1}``."""
    return rules.like("tf.linalg.cross", "Cross", kinds.ORDERED, {"a": a, "b": b}, {})


def det(input: TensorLike, name: str | None = None) -> Tensor:
    """Determinant of each matrix."""
    return rules.batch(
        2, "tf.linalg.det", "MatrixDeterminant", kinds.DETERMINABLE, {"input": input}, {}
    )


class SlogDet(NamedTuple):
    """What ``slogdet`` gives."""

    sign: Tensor
    log_abs_determinant: Tensor


def slogdet(input: TensorLike, name: str | None = None) -> SlogDet:
    """Sign and logarithm of the absolute value of each determinant, a pair: ``det = s exp l``."""
    return SlogDet(
        *rules.list(
            2,
            "tf.linalg.slogdet",
            "LogMatrixDeterminant",
            kinds.DETERMINABLE,
            {"input": input},
            {},
            refuses=True,
        )
    )


def logdet(matrix: TensorLike, name: str | None = None) -> Tensor:
    """Logarithm of the determinant of each Hermitian positive definite matrix."""
    return rules.batch(
        2, "tf.formulas.logdet", "Cholesky", kinds.SOLVABLE, {"matrix": matrix}, {}, refuses=True
    )


def diag(
    diagonal: TensorLike,
    name: str | None = None,
    k: Ints = 0,
    num_rows: int = -1,
    num_cols: int = -1,
    padding_value: TensorLike = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Matrices with the last axis of ``diagonal`` on diagonal ``k``, or with its rows on those
    of a pair (lowest, highest), from the highest on; elsewhere ``padding_value``.
    """
    return rules.like(
        "tf.linalg.diag",
        "MatrixDiagV3",
        None,
        {"diagonal": diagonal, "padding_value": padding_value},
        {"k": k, "num_rows": num_rows, "num_cols": num_cols, "align": align},
    )


def diag_part(
    input: TensorLike,
    name: str | None = None,
    k: Ints = 0,
    padding_value: TensorLike = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Diagonal ``k`` of each matrix, or those of a pair (lowest, highest) as rows, from the
    highest on.
    """
    return rules.like(
        "tf.linalg.diag_part",
        "MatrixDiagPartV3",
        None,
        {"input": input, "padding_value": padding_value},
        {"k": k, "align": align},
    )


def set_diag(
    input: TensorLike,
    diagonal: TensorLike,
    name: str | None = None,
    k: Ints = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Each matrix with diagonal ``k``, or those of a pair (lowest, highest), replaced."""
    return rules.like(
        "tf.linalg.set_diag",
        "MatrixSetDiagV3",
        None,
        {"input": input, "diagonal": diagonal},
        {"k": k, "align": align},
    )


def eigh(tensor: TensorLike, name: str | None = None) -> list[Tensor]:
    """Ascending eigenvalues and eigenvectors, a pair, of Hermitian matrices: ``a = v w v^H``."""
    return rules.spectrum(
        2,
        "tf.linalg.eigh",
        "SelfAdjointEigV2",
        kinds.SOLVABLE,
        {"tensor": tensor},
        {},
        refuses=True,
    )


def eigvalsh(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Ascending eigenvalues of Hermitian matrices, of which the triangle ``UPLO`` is read."""
    return rules.real_like(
        "tf.linalg.eigvalsh",
        "SelfAdjointEigV2",
        kinds.SOLVABLE,
        {"tensor": tensor},
        {},
        refuses=True,
    )


def eig(tensor: TensorLike, name: str | None = None) -> list[Tensor]:
    """Eigenvalues and eigenvectors, a pair, complex also of real matrices: ``a v = v w``."""
    return rules.complex_list(
        2, "tf.linalg.eig", "Eig", kinds.SOLVABLE, {"tensor": tensor}, {}, refuses=True
    )


def eigvals(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Eigenvalues of square matrices, complex also of real ones."""
    return rules.complex(
        "tf.linalg.eigvals", "Eig", kinds.SOLVABLE, {"tensor": tensor}, {}, refuses=True
    )


def expm(input: TensorLike, name: str | None = None) -> Tensor:
    """Exponential of each square matrix: ``z = sum_k a^k / k!``."""
    return rules.like("tf.linalg.expm", "MatrixExponential", kinds.SOLVABLE, {"input": input}, {})


def logm(input: TensorLike, name: str | None = None) -> Tensor:
    """Principal logarithm of each square matrix: ``exp z = a``."""
    return unregistered(
        "MatrixLogarithm",
        [input],
        lambda: rules.like(
            "tf.linalg.logm", "MatrixLogarithm", kinds.SOLVABLE, {"input": input}, {}, refuses=True
        ),
    )


def sqrtm(input: TensorLike, name: str | None = None) -> Tensor:
    """Principal square root of each square matrix: ``z z = a``."""
    return rules.like(
        "tf.linalg.sqrtm", "MatrixSquareRoot", kinds.SOLVABLE, {"input": input}, {}, refuses=True
    )


def inv(input: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Inverse of each matrix, or of its conjugate transpose."""
    return rules.like(
        "tf.linalg.inv",
        "MatrixInverse",
        kinds.SOLVABLE,
        {"input": input},
        {"adjoint": adjoint},
        refuses=True,
    )


def pinv(
    a: TensorLike, rcond: float | None = None, validate_args: Any = False, name: str | None = None
) -> Tensor:
    """Pseudoinverse of each matrix; small singular values, up to ``rcond`` of the largest,
    count 0.
    """
    return rules.like("tf.linalg.pinv", "Svd", kinds.SOLVABLE, {"a": a}, {"rcond": rcond})


def lstsq(
    matrix: TensorLike,
    rhs: TensorLike,
    l2_regularizer: float = 0.0,
    fast: bool = True,
    name: str | None = None,
) -> Tensor:
    """The ``z`` of each matrix that minimises ``|rhs - matrix z|² + l2_regularizer |z|²``, the
    shortest one; ``fast`` or not, it is computed exactly.
    """
    return rules.like(
        "tf.linalg.lstsq",
        "MatrixSolveLs",
        kinds.SOLVABLE,
        {"matrix": matrix, "rhs": rhs},
        {"l2_regularizer": l2_regularizer, "fast": fast},
        refuses=True,
    )


def lu_matrix_inverse(
    lower_upper: TensorLike, perm: TensorLike, validate_args: Any = False, name: str | None = None
) -> Tensor:
    """Inverse of each matrix from what ``lu`` gives of it."""
    return rules.like(
        "tf.linalg.lu_matrix_inverse",
        "MatrixSolve",
        kinds.SOLVABLE,
        {"lower_upper": lower_upper, "perm": perm},
        {},
        places=("perm",),
    )


def lu_reconstruct(
    lower_upper: TensorLike, perm: TensorLike, validate_args: Any = False, name: str | None = None
) -> Tensor:
    """Each matrix from what ``lu`` gives of it."""
    return rules.like(
        "tf.linalg.lu_reconstruct",
        "MatMul",
        kinds.SOLVABLE,
        {"lower_upper": lower_upper, "perm": perm},
        {},
        places=("perm",),
    )


def lu_solve(
    lower_upper: TensorLike,
    perm: TensorLike,
    rhs: TensorLike,
    validate_args: Any = False,
    name: str | None = None,
) -> Tensor:
    """Solution of ``a z = rhs`` from what ``lu`` gives of ``a``."""
    return rules.like(
        "tf.linalg.lu_solve",
        "MatrixTriangularSolve",
        kinds.SOLVABLE,
        {"lower_upper": lower_upper, "perm": perm, "rhs": rhs},
        {},
        places=("perm",),
    )


def matrix_rank(
    a: TensorLike, tol: float | None = None, validate_args: Any = False, name: str | None = None
) -> Tensor:
    """Rank of each matrix: how many singular values exceed ``tol``."""
    return rules.typed(
        "int32", "tf.linalg.matrix_rank", "Svd", kinds.SOLVABLE, {"a": a}, {"tol": tol}
    )


def matrix_transpose(a: TensorLike, name: str | None = None, conjugate: bool = False) -> Tensor:
    """Each matrix transposed, conjugate if so asked."""
    return rules.like(
        "tf.linalg.matrix_transpose", "Transpose", None, {"a": a}, {"conjugate": conjugate}
    )


def matvec(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: Any = False,
    b_is_sparse: Any = False,
    name: str | None = None,
) -> Tensor:
    """Product of matrices with vectors in the last axis: ``z = a b``."""
    return rules.like(
        "tf.linalg.matvec",
        "MatMul",
        kinds.PRODUCTS,
        {"a": a, "b": b},
        {"transpose_a": transpose_a, "adjoint_a": adjoint_a},
    )


def norm(
    tensor: TensorLike,
    ord: Order = "euclidean",
    axis: Axis = None,
    keepdims: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """Norm of all elements as one vector, of vectors along ``axis``, of matrices in two axes."""
    return rules.real_reduce(
        "tf.formulas.norm",
        "Sqrt",
        kinds.INEXACT,
        {"tensor": tensor},
        {"ord": ord, "axis": axis, "keepdims": keepdims},
    )


def normalize(
    tensor: TensorLike, ord: Order = "euclidean", axis: Axis = None, name: str | None = None
) -> list[Tensor]:
    """A list of ``tensor`` divided by its norm, and that norm, with axes of length 1."""
    return rules.list(
        2,
        "tf.formulas.normalize",
        "Sqrt",
        kinds.INEXACT,
        {"tensor": tensor},
        {"ord": ord, "axis": axis},
    )


class Qr(NamedTuple):
    """What ``qr`` gives."""

    q: Tensor
    r: Tensor


def qr(input: TensorLike, full_matrices: bool = False, name: str | None = None) -> Qr:
    """Unitary ``q`` and upper triangular ``r``, ``input = q r``; a square ``q`` if ``full``."""
    return Qr(
        *rules.list(
            2,
            "tf.linalg.qr",
            "Qr",
            kinds.SOLVABLE,
            {"input": input},
            {"full_matrices": full_matrices},
            refuses=True,
        )
    )


def solve(
    matrix: TensorLike, rhs: TensorLike, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Solution ``z`` of ``matrix z = rhs``, or with the conjugate transpose of ``matrix``."""
    return rules.like(
        "tf.linalg.solve",
        "MatrixSolve",
        kinds.SOLVABLE,
        {"matrix": matrix, "rhs": rhs},
        {"adjoint": adjoint},
        refuses=True,
    )


def triangular_solve(
    matrix: TensorLike,
    rhs: TensorLike,
    lower: bool = True,
    adjoint: bool = False,
    name: str | None = None,
) -> Tensor:
    """Solution with the lower (or upper) triangle of ``matrix``; the other one is not read."""
    return rules.like(
        "tf.linalg.triangular_solve",
        "MatrixTriangularSolve",
        kinds.SOLVABLE,
        {"matrix": matrix, "rhs": rhs},
        {"lower": lower, "adjoint": adjoint},
        refuses=True,
    )


def tensor_diag(diagonal: TensorLike, name: str | None = None) -> Tensor:
    """Zeros with the axes of ``diagonal`` twice, and its elements where both indices agree."""
    return rules.like("tf.linalg.tensor_diag", "Diag", None, {"diagonal": diagonal}, {})


def tensor_diag_part(input: TensorLike, name: str | None = None) -> Tensor:
    """Elements where the indices of the first half of the axes are those of the second."""
    return rules.like("tf.linalg.tensor_diag_part", "DiagPart", None, {"input": input}, {})


def trace(x: TensorLike, name: str | None = None) -> Tensor:
    """Sum of diagonal ``offset`` of each matrix in the last two axes."""
    return rules.batch(2, "tf.linalg.trace", "MatrixDiagPartV3", None, {"x": x}, {})


def tridiagonal_matmul(
    diagonals: TensorLike,
    rhs: TensorLike,
    diagonals_format: str = "compact",
    name: str | None = None,
) -> Tensor:
    """Product ``z = a rhs`` with tridiagonal matrices, given as for ``tridiagonal_solve``."""
    return rules.like(
        "tf.linalg.tridiagonal_matmul",
        "TridiagonalMatMul",
        kinds.SOLVABLE,
        {"diagonals": diagonals, "rhs": rhs},
        {"diagonals_format": diagonals_format},
    )


def tridiagonal_solve(
    diagonals: TensorLike,
    rhs: TensorLike,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> Tensor:
    """Solution of ``a z = rhs``, pivoted, with tridiagonal matrices given by the rows above, on
    and below the diagonal, by a list of these ("sequence"), or whole ("matrix").
    """
    return rules.like(
        "tf.linalg.tridiagonal_solve",
        "TridiagonalSolve",
        kinds.SOLVABLE,
        {"diagonals": diagonals, "rhs": rhs},
        {
            "diagonals_format": diagonals_format,
            "transpose_rhs": transpose_rhs,
            "conjugate_rhs": conjugate_rhs,
            "partial_pivoting": partial_pivoting,
            "perturb_singular": perturb_singular,
        },
        refuses=True,
    )
