"""``tf.linalg``: matrices."""

from __future__ import annotations

from typing import NamedTuple

from gradwire.tf.operations import kinds, rules
from gradwire.tf.operations.declaring import family, operation
from gradwire.tf.operations.types import Axis, Ints, Name, Order, Places, TensorLike, Unused
from gradwire.tf.tensors import Tensor

__all__ = [
    "adjoint", "band_part", "cholesky", "cholesky_solve", "cross", "det", "diag", "diag_part",
    "eig", "eigh", "eigvals", "eigvalsh", "expm", "inv", "logdet", "logm", "lstsq",
    "lu_matrix_inverse", "lu_reconstruct", "lu_solve", "matrix_rank", "matrix_transpose", "matvec",
    "norm", "normalize", "pinv", "qr", "set_diag", "slogdet", "solve", "sqrtm", "tensor_diag",
    "tensor_diag_part", "trace", "triangular_solve", "tridiagonal_matmul", "tridiagonal_solve",
]  # fmt: skip


@family(rules.like, kinds.SOLVABLE)
def _of_matrix(input: TensorLike, name: Name = None) -> Tensor:
    """The parameters of functions of square matrices."""


@family(rules.like, kinds.SOLVABLE)
def _of_factors(
    lower_upper: TensorLike, perm: Places, validate_args: Unused = False, name: Name = None
) -> Tensor:
    """The parameters of functions of factors by ``lu``."""


@operation(rules.like, "tf.linalg.adjoint", "Transpose")
def adjoint(matrix: TensorLike, name: Name = None) -> Tensor:
    """Conjugate transpose of each matrix."""


@operation(rules.like, "tf.linalg.band_part", "MatrixBandPart")
def band_part(input: TensorLike, num_lower: int, num_upper: int, name: Name = None) -> Tensor:
    """Each matrix within so many diagonals below and above the main one, else 0; -1 means all."""


@_of_matrix("tf.linalg.cholesky", "Cholesky", refuses=True)
def cholesky() -> None:
    """Lower triangular ``z`` with ``a = z z^H`` for each Hermitian positive definite matrix."""


@operation(
    rules.like, "tf.linalg.cholesky_solve", "MatrixTriangularSolve", kinds.SOLVABLE, refuses=True
)
def cholesky_solve(chol: TensorLike, rhs: TensorLike, name: Name = None) -> Tensor:
    """Solution ``z`` of ``a z = rhs`` from the lower Cholesky factor of ``a``."""


@operation(rules.like, "tf.linalg.cross", "Cross", kinds.ORDERED)
def cross(a: TensorLike, b: TensorLike, name: Name = None) -> Tensor:
    """Cross product of vectors of 3 along ``axis``: ``z_i = a_{i+1} b_{i+2} - a_{i+2} b_{i+1}``."""


@_of_matrix("tf.linalg.det", "MatrixDeterminant", kinds.DETERMINABLE, rule=rules.matrices)
def det() -> None:
    """Determinant of each matrix."""


class SlogDet(NamedTuple):
    """The result of ``slogdet``."""

    sign: Tensor
    log_abs_determinant: Tensor


@operation(
    rules.pair(SlogDet),
    "tf.linalg.slogdet",
    "LogMatrixDeterminant",
    kinds.DETERMINABLE,
    refuses=True,
)
def slogdet(input: TensorLike, name: Name = None) -> SlogDet:
    """Sign and logarithm of the absolute value of each determinant, a pair: ``det = s exp l``."""


@operation(rules.matrices, "tf.formulas.logdet", "Cholesky", kinds.SOLVABLE, refuses=True)
def logdet(matrix: TensorLike, name: Name = None) -> Tensor:
    """Logarithm of the determinant of each Hermitian positive definite matrix."""


@operation(rules.like, "tf.linalg.diag", "MatrixDiagV3")
def diag(
    diagonal: TensorLike,
    name: Name = None,
    k: Ints = 0,
    num_rows: int = -1,
    num_cols: int = -1,
    padding_value: TensorLike = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Matrices with the last axis of ``diagonal`` on diagonal ``k``, or with its rows on those
    of a pair (lowest, highest), from the highest on; elsewhere ``padding_value``.
    """


@operation(rules.like, "tf.linalg.diag_part", "MatrixDiagPartV3")
def diag_part(
    input: TensorLike,
    name: Name = None,
    k: Ints = 0,
    padding_value: TensorLike = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Diagonal ``k`` of each matrix, or those of a pair (lowest, highest) as rows, from the
    highest on.
    """


@operation(rules.like, "tf.linalg.set_diag", "MatrixSetDiagV3")
def set_diag(
    input: TensorLike,
    diagonal: TensorLike,
    name: Name = None,
    k: Ints = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Each matrix with diagonal ``k``, or those of a pair (lowest, highest), replaced."""


@operation(rules.spectrum, "tf.linalg.eigh", "SelfAdjointEigV2", kinds.SOLVABLE, refuses=True)
def eigh(tensor: TensorLike, name: Name = None) -> list[Tensor]:
    """Ascending eigenvalues and eigenvectors, a pair, of Hermitian matrices: ``a = v w v^H``."""


@operation(rules.real_like, "tf.linalg.eigvalsh", "SelfAdjointEigV2", kinds.SOLVABLE, refuses=True)
def eigvalsh(tensor: TensorLike, name: Name = None) -> Tensor:
    """Ascending eigenvalues of Hermitian matrices, of which the triangle ``UPLO`` is read."""


@operation(rules.two_complex, "tf.linalg.eig", "Eig", kinds.SOLVABLE, refuses=True)
def eig(tensor: TensorLike, name: Name = None) -> list[Tensor]:
    """Eigenvalues and eigenvectors, a pair, complex also of real matrices: ``a v = v w``."""


@operation(rules.complex, "tf.linalg.eigvals", "Eig", kinds.SOLVABLE, refuses=True)
def eigvals(tensor: TensorLike, name: Name = None) -> Tensor:
    """Eigenvalues of square matrices, complex also of real ones."""


@_of_matrix("tf.linalg.expm", "MatrixExponential")
def expm() -> None:
    """Exponential of each square matrix: ``z = sum_k a^k / k!``."""


@_of_matrix("tf.linalg.logm", "MatrixLogarithm", refuses=True, registered=False)
def logm() -> None:
    """Principal logarithm of each square matrix: ``exp z = a``."""


@_of_matrix("tf.linalg.sqrtm", "MatrixSquareRoot", refuses=True)
def sqrtm() -> None:
    """Principal square root of each square matrix: ``z z = a``."""


@operation(rules.like, "tf.linalg.inv", "MatrixInverse", kinds.SOLVABLE, refuses=True)
def inv(input: TensorLike, adjoint: bool = False, name: Name = None) -> Tensor:
    """Inverse of each matrix, or of its conjugate transpose."""


@operation(rules.like, "tf.linalg.pinv", "Svd", kinds.SOLVABLE)
def pinv(
    a: TensorLike, rcond: float | None = None, validate_args: Unused = False, name: Name = None
) -> Tensor:
    """Pseudoinverse of each matrix; small singular values, up to ``rcond`` of the largest,
    count 0.
    """


@operation(rules.like, "tf.linalg.lstsq", "MatrixSolveLs", kinds.SOLVABLE, refuses=True)
def lstsq(
    matrix: TensorLike,
    rhs: TensorLike,
    l2_regularizer: float = 0.0,
    fast: bool = True,
    name: Name = None,
) -> Tensor:
    """The ``z`` of each matrix that minimises ``|rhs - matrix z|² + l2_regularizer |z|²``, the
    shortest one; ``fast`` or not, it is computed exactly.
    """


@_of_factors("tf.linalg.lu_matrix_inverse", "MatrixSolve")
def lu_matrix_inverse() -> None:
    """Inverse of each matrix from what ``lu`` gives of it."""


@_of_factors("tf.linalg.lu_reconstruct", "MatMul")
def lu_reconstruct() -> None:
    """Each matrix from what ``lu`` gives of it."""


@operation(rules.like, "tf.linalg.lu_solve", "MatrixTriangularSolve", kinds.SOLVABLE)
def lu_solve(
    lower_upper: TensorLike,
    perm: Places,
    rhs: TensorLike,
    validate_args: Unused = False,
    name: Name = None,
) -> Tensor:
    """Solution of ``a z = rhs`` from what ``lu`` gives of ``a``."""


@operation(rules.typed("int32"), "tf.linalg.matrix_rank", "Svd", kinds.SOLVABLE)
def matrix_rank(
    a: TensorLike, tol: float | None = None, validate_args: Unused = False, name: Name = None
) -> Tensor:
    """Rank of each matrix: how many singular values exceed ``tol``."""


@operation(rules.like, "tf.linalg.matrix_transpose", "Transpose")
def matrix_transpose(a: TensorLike, name: Name = None, conjugate: bool = False) -> Tensor:
    """Each matrix transposed, conjugate if so asked."""


@operation(rules.like, "tf.linalg.matvec", "MatMul", kinds.ARITHMETIC)
def matvec(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: Unused = False,
    b_is_sparse: Unused = False,
    name: Name = None,
) -> Tensor:
    """Product of matrices with vectors in the last axis: ``z = a b``."""


@operation(rules.norm, "tf.formulas.norm", "Sqrt", kinds.INEXACT)
def norm(
    tensor: TensorLike,
    ord: Order = "euclidean",
    axis: Axis = None,
    keepdims: bool | None = None,
    name: Name = None,
) -> Tensor:
    """Norm of all elements as one vector, of vectors along ``axis``, of matrices in two axes."""


@operation(rules.two, "tf.formulas.normalize", "Sqrt", kinds.INEXACT)
def normalize(
    tensor: TensorLike, ord: Order = "euclidean", axis: Axis = None, name: Name = None
) -> list[Tensor]:
    """A list of ``tensor`` divided by its norm, and that norm, with axes of length 1."""


class Qr(NamedTuple):
    """The result of ``qr``."""

    q: Tensor
    r: Tensor


@operation(rules.pair(Qr), "tf.linalg.qr", "Qr", kinds.SOLVABLE, refuses=True)
def qr(input: TensorLike, full_matrices: bool = False, name: Name = None) -> Qr:
    """Unitary ``q`` and upper triangular ``r``, ``input = q r``; a square ``q`` if ``full``."""


@operation(rules.like, "tf.linalg.solve", "MatrixSolve", kinds.SOLVABLE, refuses=True)
def solve(matrix: TensorLike, rhs: TensorLike, adjoint: bool = False, name: Name = None) -> Tensor:
    """Solution ``z`` of ``matrix z = rhs``, or with the conjugate transpose of ``matrix``."""


@operation(
    rules.like, "tf.linalg.triangular_solve", "MatrixTriangularSolve", kinds.SOLVABLE, refuses=True
)
def triangular_solve(
    matrix: TensorLike,
    rhs: TensorLike,
    lower: bool = True,
    adjoint: bool = False,
    name: Name = None,
) -> Tensor:
    """Solution with the lower (or upper) triangle of ``matrix``; the other one is not read."""


@operation(rules.like, "tf.linalg.tensor_diag", "Diag")
def tensor_diag(diagonal: TensorLike, name: Name = None) -> Tensor:
    """Zeros with the axes of ``diagonal`` twice, and its elements where both indices agree."""


@operation(rules.like, "tf.linalg.tensor_diag_part", "DiagPart")
def tensor_diag_part(input: TensorLike, name: Name = None) -> Tensor:
    """Elements where the indices of the first half of the axes are those of the second."""


@operation(rules.matrices, "tf.linalg.trace", "MatrixDiagPartV3")
def trace(x: TensorLike, name: Name = None) -> Tensor:
    """Sum of diagonal ``offset`` of each matrix in the last two axes."""


@operation(rules.like, "tf.linalg.tridiagonal_matmul", "TridiagonalMatMul", kinds.SOLVABLE)
def tridiagonal_matmul(
    diagonals: TensorLike, rhs: TensorLike, diagonals_format: str = "compact", name: Name = None
) -> Tensor:
    """Product ``z = a rhs`` with tridiagonal matrices, given as for ``tridiagonal_solve``."""


@operation(
    rules.like, "tf.linalg.tridiagonal_solve", "TridiagonalSolve", kinds.SOLVABLE, refuses=True
)
def tridiagonal_solve(
    diagonals: TensorLike,
    rhs: TensorLike,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: Name = None,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> Tensor:
    """Solution of ``a z = rhs``, pivoted, with tridiagonal matrices given by the rows above, on
    and below the diagonal, by a list of these ("sequence"), or whole ("matrix").
    """
