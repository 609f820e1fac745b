"""``tf.math.special``: functions of mathematical physics."""

from __future__ import annotations

from gradwire.tf.operations import kinds, rules
from gradwire.tf.operations.declaring import operation
from gradwire.tf.operations.types import Name, TensorLike
from gradwire.tf.tensors import Tensor


@operation(rules.unary, "tf.math.bessel_i0", "BesselI0", kinds.FLOATS)
def bessel_i0(x: TensorLike, name: Name = None) -> Tensor:
    """Modified Bessel function of the first kind and order 0: ``z = I₀(x)``."""


@operation(rules.unary, "tf.math.bessel_i0e", "BesselI0e", kinds.FLOATS)
def bessel_i0e(x: TensorLike, name: Name = None) -> Tensor:
    """Scaled modified Bessel function of order 0: ``z = exp(-|x|) I₀(x)``."""


@operation(rules.unary, "tf.math.bessel_i1", "BesselI1", kinds.FLOATS)
def bessel_i1(x: TensorLike, name: Name = None) -> Tensor:
    """Modified Bessel function of the first kind and order 1: ``z = I₁(x)``."""


@operation(rules.unary, "tf.math.bessel_i1e", "BesselI1e", kinds.FLOATS)
def bessel_i1e(x: TensorLike, name: Name = None) -> Tensor:
    """Scaled modified Bessel function of order 1: ``z = exp(-|x|) I₁(x)``."""


@operation(rules.unary, "tf.math.special.bessel_j0", "BesselJ0", kinds.FLOATS)
def bessel_j0(x: TensorLike, name: Name = None) -> Tensor:
    """Bessel function of the first kind and order 0: ``z = J₀(x)``. Source: DLMF 10.6.3."""


@operation(rules.unary, "tf.math.special.bessel_j1", "BesselJ1", kinds.FLOATS)
def bessel_j1(x: TensorLike, name: Name = None) -> Tensor:
    """Bessel function of the first kind and order 1: ``z = J₁(x)``. Source: DLMF 10.6.1."""


@operation(rules.unary, "tf.math.special.bessel_k0", "BesselK0", kinds.FLOATS)
def bessel_k0(x: TensorLike, name: Name = None) -> Tensor:
    """Modified Bessel function of the second kind and order 0: ``z = K₀(x)``; infinite at 0."""


@operation(rules.unary, "tf.math.special.bessel_k0e", "BesselK0e", kinds.FLOATS)
def bessel_k0e(x: TensorLike, name: Name = None) -> Tensor:
    """Modified Bessel function of the second kind, scaled: ``z = exp(x) K_0(x)``."""


@operation(rules.unary, "tf.math.special.bessel_k1", "BesselK1", kinds.FLOATS)
def bessel_k1(x: TensorLike, name: Name = None) -> Tensor:
    """Modified Bessel function of the second kind and order 1: ``z = K₁(x)``; infinite at 0."""


@operation(rules.unary, "tf.math.special.bessel_k1e", "BesselK1e", kinds.FLOATS)
def bessel_k1e(x: TensorLike, name: Name = None) -> Tensor:
    """Modified Bessel function of the second kind, scaled: ``z = exp(x) K_1(x)``."""


@operation(rules.unary, "tf.math.special.bessel_y0", "BesselY0", kinds.FLOATS)
def bessel_y0(x: TensorLike, name: Name = None) -> Tensor:
    """Bessel function of the second kind and order 0: ``z = Y₀(x)``; -inf at 0."""


@operation(rules.unary, "tf.math.special.bessel_y1", "BesselY1", kinds.FLOATS)
def bessel_y1(x: TensorLike, name: Name = None) -> Tensor:
    """Bessel function of the second kind and order 1: ``z = Y₁(x)``."""


@operation(rules.unary, "tf.math.special.dawsn", "Dawsn", kinds.FLOATS)
def dawsn(x: TensorLike, name: Name = None) -> Tensor:
    """Dawson's integral: ``z = exp(-x²) ∫ exp(t²) dt`` from 0 to ``x``."""


@operation(rules.unary, "tf.math.special.expint", "Expint", kinds.FLOATS)
def expint(x: TensorLike, name: Name = None) -> Tensor:
    """Exponential integral: ``z = Ei(x) = ∫ exp(t) / t dt`` from -inf to ``x``; -inf at 0."""


@operation(rules.unary, "tf.math.special.fresnel_cos", "FresnelCos", kinds.FLOATS)
def fresnel_cos(x: TensorLike, name: Name = None) -> Tensor:
    """Fresnel's integral ``z = ∫ cos(π t² / 2) dt`` from 0 to ``x``."""


@operation(rules.unary, "tf.math.special.fresnel_sin", "FresnelSin", kinds.FLOATS)
def fresnel_sin(x: TensorLike, name: Name = None) -> Tensor:
    """Fresnel's integral ``z = ∫ sin(π t² / 2) dt`` from 0 to ``x``."""


@operation(rules.unary, "tf.math.special.spence", "Spence", kinds.FLOATS)
def spence(x: TensorLike, name: Name = None) -> Tensor:
    """Dilogarithm of ``1 - x``: ``z = ∫ ln t / (1 - t) dt`` from 1 to ``x``."""
