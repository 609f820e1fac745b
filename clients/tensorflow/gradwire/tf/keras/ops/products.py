"""Keras's operations on vectors and matrices, in NumPy's manner."""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras.ops.promotion import floating, pair, together
from gradwire.tf.keras.ops.reductions import norm
from gradwire.tf.keras.ops.shapes import diagonal


def matmul(x1: Any, x2: Any) -> Any:
    """The product of matrices or vectors."""
    one, other = pair(x1, x2)
    if len(one.shape) == len(other.shape) == 1:
        return tf.reduce_sum(one * other)
    if len(one.shape) == 1:
        return tf.squeeze(tf.matmul(one[tf.newaxis], other), -2)
    if len(other.shape) == 1:
        return tf.linalg.matvec(one, other)
    return tf.matmul(one, other)


def dot(x1: Any, x2: Any) -> Any:
    """The sum of products over the last axis of the first, and the last but one of the second."""
    one, other = pair(x1, x2)
    if 0 in (len(one.shape), len(other.shape)):
        return one * other
    return tf.tensordot(one, other, [[-1], [-1 if len(other.shape) == 1 else -2]])


def tensordot(x1: Any, x2: Any, axes: Any = 2) -> Any:
    """The sum of products over several axes."""
    return tf.tensordot(*pair(x1, x2), axes)


def outer(x1: Any, x2: Any) -> Any:
    """Each product of one of the first and one of the second."""
    one, other = pair(x1, x2)
    return tf.reshape(one, [-1, 1]) * tf.reshape(other, [1, -1])


def einsum(subscripts: str, *operands: Any, **kwargs: Any) -> Any:
    """The sums of products that an equation names."""
    return tf.einsum(subscripts, *together(operands), **kwargs)


def trace(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The sum of a diagonal."""
    return tf.reduce_sum(diagonal(x, offset, axis1, axis2), -1)


def cholesky(x: Any, upper: bool = False) -> Any:
    """The triangular factor, the lower one by default."""
    factor = tf.linalg.cholesky(floating(x))
    return tf.linalg.adjoint(factor) if upper else factor


def det(x: Any) -> Any:
    """The determinant."""
    return tf.linalg.det(floating(x))


def logdet(x: Any) -> Any:
    """The logarithm of the determinant of positive definite matrices."""
    return tf.linalg.logdet(floating(x))


def slogdet(x: Any) -> tuple[Any, Any]:
    """The determinant's sign, and the logarithm of its absolute value."""
    sign, logarithm = tf.linalg.slogdet(floating(x))
    return sign, logarithm


def inv(x: Any) -> Any:
    """The inverse."""
    return tf.linalg.inv(floating(x))


def eigh(x: Any) -> Any:
    """Eigenvalues and eigenvectors of symmetric matrices."""
    return tf.linalg.eigh(floating(x))


def qr(x: Any, mode: str = "reduced") -> tuple[Any, Any]:
    """An orthogonal and a triangular factor."""
    q, r = tf.linalg.qr(floating(x), full_matrices=mode == "complete")
    return q, r


def svd(x: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """``u, s, v`` with ``x = u diag(s) v``; alone ``s`` without ``compute_uv``."""
    if not compute_uv:
        return tf.linalg.svd(floating(x), full_matrices, False)
    values, left, right = tf.linalg.svd(floating(x), full_matrices)
    return left, values, tf.linalg.adjoint(right)


def solve(a: Any, b: Any) -> Any:
    """``x`` with ``a x = b``."""
    a, b = (floating(each) for each in pair(a, b))
    if len(b.shape) == len(a.shape) - 1:
        return tf.squeeze(tf.linalg.solve(a, b[..., tf.newaxis]), -1)
    return tf.linalg.solve(a, b)


def solve_triangular(a: Any, b: Any, lower: bool = False) -> Any:
    """``x`` with ``a x = b`` for a triangular ``a``."""
    a, b = (floating(each) for each in pair(a, b))
    if len(b.shape) == len(a.shape) - 1:
        found = tf.linalg.triangular_solve(a, b[..., tf.newaxis], lower=lower)
        return tf.squeeze(found, -1)
    return tf.linalg.triangular_solve(a, b, lower=lower)


def normalize(x: Any, axis: Any = -1, order: int = 2, epsilon: float | None = None) -> Any:
    """``x`` divided by its norm, which is at least ``epsilon``."""
    x = floating(x)
    least = tf.constant(1e-7 if epsilon is None else epsilon, x.dtype)
    if order == 2:
        squares = tf.reduce_sum(tf.square(x), axis, keepdims=True)
        return x * tf.math.rsqrt(tf.maximum(squares, tf.square(least)))
    return x / tf.maximum(norm(x, order, axis, keepdims=True), least)


def vdot(x1: Any, x2: Any) -> Any:
    """The product of all elements as vectors."""
    one, other = pair(x1, x2)
    return tf.reduce_sum(tf.reshape(one, [-1]) * tf.reshape(other, [-1]))


def cross(x1: Any, x2: Any) -> Any:
    """The vector products along the last axis, of vectors of length 3."""
    return tf.linalg.cross(*pair(x1, x2))


def lstsq(a: Any, b: Any) -> Any:
    """The solution of ``a x = b`` with the least squared error."""
    return tf.linalg.lstsq(*pair(a, b))


def eig(x: Any) -> Any:
    """Eigenvalues, and eigenvectors as columns."""
    return tf.linalg.eig(floating(x))


def matrix_rank(x: Any) -> Any:
    """The number of singular values that are not negligible."""
    return tf.linalg.matrix_rank(floating(x))


def pinv(x: Any) -> Any:
    """The pseudo-inverse."""
    return tf.linalg.pinv(floating(x))
