"""``tf.math.special``: functions of mathematical physics.

Written by clients/tensorflow/tools/operations.py.
"""

from __future__ import annotations

from gradwire.tf.operations import kinds, rules
from gradwire.tf.operations.types import TensorLike
from gradwire.tf.tensors import Tensor

__all__ = [
    "bessel_i0",
    "bessel_i0e",
    "bessel_i1",
    "bessel_i1e",
    "bessel_j0",
    "bessel_j1",
    "bessel_k0",
    "bessel_k0e",
    "bessel_k1",
    "bessel_k1e",
    "bessel_y0",
    "bessel_y1",
    "dawsn",
    "expint",
    "fresnel_cos",
    "fresnel_sin",
    "spence",
]


def bessel_i0(x: TensorLike, name: str | None = None) -> Tensor:
    """Modified Bessel function of the first kind and order 0: ``z = I₀(x)``."""
    return rules.unary("tf.math.bessel_i0", "BesselI0", kinds.REAL, x)


def bessel_i0e(x: TensorLike, name: str | None = None) -> Tensor:
    """Scaled modified Bessel function of order 0: ``z = exp(-|x|) I₀(x)``."""
    return rules.unary("tf.math.bessel_i0e", "BesselI0e", kinds.REAL, x)


def bessel_i1(x: TensorLike, name: str | None = None) -> Tensor:
    """Modified Bessel function of the first kind and order 1: ``z = I₁(x)``."""
    return rules.unary("tf.math.bessel_i1", "BesselI1", kinds.REAL, x)


def bessel_i1e(x: TensorLike, name: str | None = None) -> Tensor:
    """Scaled modified Bessel function of order 1: ``z = exp(-|x|) I₁(x)``."""
    return rules.unary("tf.math.bessel_i1e", "BesselI1e", kinds.REAL, x)


def bessel_j0(x: TensorLike, name: str | None = None) -> Tensor:
    """Bessel function of the first kind and order 0: ``z = J₀(x)``. Source: DLMF 10.6.3."""
    return rules.unary("tf.math.special.bessel_j0", "BesselJ0", kinds.REAL, x)


def bessel_j1(x: TensorLike, name: str | None = None) -> Tensor:
    """Bessel function of the first kind and order 1: ``z = J₁(x)``. Source: DLMF 10.6.1."""
    return rules.unary("tf.math.special.bessel_j1", "BesselJ1", kinds.REAL, x)


def bessel_k0(x: TensorLike, name: str | None = None) -> Tensor:
    """Modified Bessel function of the second kind and order 0: ``z = K₀(x)``; infinite at 0."""
    return rules.unary("tf.math.special.bessel_k0", "BesselK0", kinds.REAL, x)


def bessel_k0e(x: TensorLike, name: str | None = None) -> Tensor:
    """Modified Bessel function of the second kind, scaled: ``z = exp(x) K_0(x)``."""
    return rules.unary("tf.math.special.bessel_k0e", "BesselK0e", kinds.REAL, x)


def bessel_k1(x: TensorLike, name: str | None = None) -> Tensor:
    """Modified Bessel function of the second kind and order 1: ``z = K₁(x)``; infinite at 0."""
    return rules.unary("tf.math.special.bessel_k1", "BesselK1", kinds.REAL, x)


def bessel_k1e(x: TensorLike, name: str | None = None) -> Tensor:
    """Modified Bessel function of the second kind, scaled: ``z = exp(x) K_1(x)``."""
    return rules.unary("tf.math.special.bessel_k1e", "BesselK1e", kinds.REAL, x)


def bessel_y0(x: TensorLike, name: str | None = None) -> Tensor:
    """Bessel function of the second kind and order 0: ``z = Y₀(x)``; -inf at 0."""
    return rules.unary("tf.math.special.bessel_y0", "BesselY0", kinds.REAL, x)


def bessel_y1(x: TensorLike, name: str | None = None) -> Tensor:
    """Bessel function of the second kind and order 1: ``z = Y₁(x)``."""
    return rules.unary("tf.math.special.bessel_y1", "BesselY1", kinds.REAL, x)


def dawsn(x: TensorLike, name: str | None = None) -> Tensor:
    """Dawson's integral: ``z = exp(-x²) ∫ exp(t²) dt`` from 0 to ``x``."""
    return rules.unary("tf.math.special.dawsn", "Dawsn", kinds.REAL, x)


def expint(x: TensorLike, name: str | None = None) -> Tensor:
    """Exponential integral: ``z = Ei(x) = ∫ exp(t) / t dt`` from -inf to ``x``; -inf at 0."""
    return rules.unary("tf.math.special.expint", "Expint", kinds.REAL, x)


def fresnel_cos(x: TensorLike, name: str | None = None) -> Tensor:
    """Fresnel's integral ``z = ∫ cos(π t² / 2) dt`` from 0 to ``x``."""
    return rules.unary("tf.math.special.fresnel_cos", "FresnelCos", kinds.REAL, x)


def fresnel_sin(x: TensorLike, name: str | None = None) -> Tensor:
    """Fresnel's integral ``z = ∫ sin(π t² / 2) dt`` from 0 to ``x``."""
    return rules.unary("tf.math.special.fresnel_sin", "FresnelSin", kinds.REAL, x)


def spence(x: TensorLike, name: str | None = None) -> Tensor:
    """Dilogarithm of ``1 - x``: ``z = ∫ ln t / (1 - t) dt`` from 1 to ``x``."""
    return rules.unary("tf.math.special.spence", "Spence", kinds.REAL, x)
