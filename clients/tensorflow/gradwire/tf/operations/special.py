"""``tf.math.special``: functions of mathematical physics."""

from __future__ import annotations

from gradwire.tf.operations.families import real


@real("tf.math.bessel_i0", "BesselI0")
def bessel_i0() -> None:
    """Modified Bessel function of the first kind and order 0: ``z = I₀(x)``."""


@real("tf.math.bessel_i0e", "BesselI0e")
def bessel_i0e() -> None:
    """Scaled modified Bessel function of order 0: ``z = exp(-|x|) I₀(x)``."""


@real("tf.math.bessel_i1", "BesselI1")
def bessel_i1() -> None:
    """Modified Bessel function of the first kind and order 1: ``z = I₁(x)``."""


@real("tf.math.bessel_i1e", "BesselI1e")
def bessel_i1e() -> None:
    """Scaled modified Bessel function of order 1: ``z = exp(-|x|) I₁(x)``."""


@real("tf.math.special.bessel_j0", "BesselJ0")
def bessel_j0() -> None:
    """Bessel function of the first kind and order 0: ``z = J₀(x)``. Source: DLMF 10.6.3."""


@real("tf.math.special.bessel_j1", "BesselJ1")
def bessel_j1() -> None:
    """Bessel function of the first kind and order 1: ``z = J₁(x)``. Source: DLMF 10.6.1."""


@real("tf.math.special.bessel_k0", "BesselK0")
def bessel_k0() -> None:
    """Modified Bessel function of the second kind and order 0: ``z = K₀(x)``; infinite at 0."""


@real("tf.math.special.bessel_k0e", "BesselK0e")
def bessel_k0e() -> None:
    """Modified Bessel function of the second kind, scaled: ``z = exp(x) K_0(x)``."""


@real("tf.math.special.bessel_k1", "BesselK1")
def bessel_k1() -> None:
    """Modified Bessel function of the second kind and order 1: ``z = K₁(x)``; infinite at 0."""


@real("tf.math.special.bessel_k1e", "BesselK1e")
def bessel_k1e() -> None:
    """Modified Bessel function of the second kind, scaled: ``z = exp(x) K_1(x)``."""


@real("tf.math.special.bessel_y0", "BesselY0")
def bessel_y0() -> None:
    """Bessel function of the second kind and order 0: ``z = Y₀(x)``; -inf at 0."""


@real("tf.math.special.bessel_y1", "BesselY1")
def bessel_y1() -> None:
    """Bessel function of the second kind and order 1: ``z = Y₁(x)``."""


@real("tf.math.special.dawsn", "Dawsn")
def dawsn() -> None:
    """Dawson's integral: ``z = exp(-x²) ∫ exp(t²) dt`` from 0 to ``x``."""


@real("tf.math.special.expint", "Expint")
def expint() -> None:
    """Exponential integral: ``z = Ei(x) = ∫ exp(t) / t dt`` from -inf to ``x``; -inf at 0."""


@real("tf.math.special.fresnel_cos", "FresnelCos")
def fresnel_cos() -> None:
    """Fresnel's integral ``z = ∫ cos(π t² / 2) dt`` from 0 to ``x``."""


@real("tf.math.special.fresnel_sin", "FresnelSin")
def fresnel_sin() -> None:
    """Fresnel's integral ``z = ∫ sin(π t² / 2) dt`` from 0 to ``x``."""


@real("tf.math.special.spence", "Spence")
def spence() -> None:
    """Dilogarithm of ``1 - x``: ``z = ∫ ln t / (1 - t) dt`` from 1 to ``x``."""
