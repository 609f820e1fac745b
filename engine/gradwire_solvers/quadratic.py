"""The quadratic model of a function at a point, of a few products with its Hessian."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from gradwire_engine.answer import Array
from scipy.linalg import eigh_tridiagonal

#: ``v`` to ``H v``.
Product: TypeAlias = Callable[[Array], Array]
#: Most variables of which all products are taken; of more, so many directions are known.
MOST_WHOLE, MOST_PRODUCTS = 20, 10
#: Eigenvalues that are smaller than the largest by this share are rounding.
_ROUNDING = 1e-12


class Quadratic(NamedTuple):
    """``gᵀ d + ½ dᵀ H d`` along some directions: the eigenvectors of ``H``, or of Lanczos' matrix.

    ``slopes`` and ``curvatures`` are those along each of the ``directions``, which are columns.
    """

    slopes: Array
    curvatures: Array
    directions: Array

    @property
    def floor(self) -> float:
        """Curvatures that are smaller are rounding."""
        return float(_ROUNDING * np.abs(self.curvatures).max(initial=0.0))

    def decreases(self, most: float) -> Array:
        """The decrease of the model along each direction, by steps of length up to ``most``.

        Newton's step takes ``½ g² / h``; where the curvature is negative, or nearly 0, the step is
        the longest.
        """
        slopes, curvatures = np.abs(self.slopes), self.curvatures
        with np.errstate(all="ignore"):
            lengths = np.where(curvatures > self.floor, slopes / curvatures, np.inf)
        lengths = np.minimum(lengths, most)
        decreases: Array = slopes * lengths - 0.5 * curvatures * lengths * lengths
        return decreases

    @property
    def steps(self) -> Array:
        """Newton's steps along each direction, 0 where the curvature is negative, or nearly 0."""
        known = self.curvatures > self.floor
        found: Array = np.where(known, -self.slopes / np.where(known, self.curvatures, 1.0), 0.0)
        return found


def of_matrix(gradient: Array, matrix: Array) -> Quadratic:
    """The model of a whole Hessian."""
    curvatures, directions = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return Quadratic(directions.T @ gradient, curvatures, directions)


def of_products(gradient: Array, product: Product, most: int = MOST_PRODUCTS) -> Quadratic:
    """The model in the space that a few products span: of the gradient, ``H g``, ``H² g``, ….

    By Lanczos' method, each vector made orthogonal to all before. Where products add nothing to
    the space, the model has fewer directions; without a gradient, it is that of a fixed direction.
    Source: Golub and Van Loan, Matrix Computations (2013), 10.1.
    """
    start = gradient
    if not gradient.any():
        start = np.random.default_rng(0).standard_normal(gradient.size)
    basis = [start / np.linalg.norm(start)]
    diagonal: list[float] = []
    beside: list[float] = []
    for _ in range(min(most, gradient.size)):
        v = product(basis[-1])
        diagonal.append(float(basis[-1] @ v))
        size = float(np.linalg.norm(v))
        rows = np.array(basis)
        for _ in range(2):  # the second takes what rounding left of the first
            v = v - rows.T @ (rows @ v)
        length = float(np.linalg.norm(v))
        if length <= 1e-10 * size or len(diagonal) == min(most, gradient.size):
            break
        beside.append(length)
        basis.append(v / length)
    curvatures, vectors = eigh_tridiagonal(np.array(diagonal), np.array(beside))
    directions = np.array(basis).T @ vectors
    return Quadratic(directions.T @ gradient, curvatures, directions)
