"""``tf.signal``: transforms and frames."""

from __future__ import annotations

from gradwire.tf.operations import kinds, rules
from gradwire.tf.operations.declaring import family, operation
from gradwire.tf.operations.types import Ints, Name, TensorLike
from gradwire.tf.tensors import Tensor

__all__ = [
    "dct", "fft", "fft2d", "fft3d", "fftnd", "fftshift", "frame", "idct", "ifft", "ifft2d",
    "ifft3d", "ifftnd", "ifftshift", "irfft", "irfft2d", "irfft3d", "irfftnd", "overlap_and_add",
    "rfft", "rfft2d", "rfft3d", "rfftnd",
]  # fmt: skip


@family(rules.like, kinds.COMPLEX)
def _transform(input: TensorLike, name: Name = None) -> Tensor:
    """The parameters of transforms along the last axes."""


@family(rules.like, kinds.COMPLEX)
def _along(
    input_tensor: TensorLike,
    fft_length: Ints | None = None,
    axes: Ints | None = None,
    norm: str | None = None,
    name: Name = None,
) -> Tensor:
    """The parameters of transforms along any axes."""


@family(rules.complex, kinds.FLOAT_DOUBLE)
def _spectrum(
    input_tensor: TensorLike, fft_length: Ints | None = None, name: Name = None
) -> Tensor:
    """The parameters of transforms of real numbers along the last axes."""


@_transform("tf.signal.fft", "FFT")
def fft() -> None:
    """Fourier transform along ``axis``: ``z_k = sum_t x_t exp(-2πi kt / n)``."""


@_transform("tf.signal.ifft", "IFFT")
def ifft() -> None:
    """Inverse Fourier transform along ``axis``: ``z_t = sum_k x_k exp(2πi kt / n) / n``."""


@_transform("tf.signal.fft2d", "FFT2D")
def fft2d() -> None:
    """Fourier transform over two axes; lengths ``s`` and ``norm`` as for ``fft.fft``."""


@_transform("tf.signal.ifft2d", "IFFT2D")
def ifft2d() -> None:
    """Inverse Fourier transform over two axes; ``s`` and ``norm`` as for ``fft.ifft``."""


@_transform("tf.signal.fft3d", "FFT3D")
def fft3d() -> None:
    """Discrete Fourier transform over the last three axes."""


@_transform("tf.signal.ifft3d", "IFFT3D")
def ifft3d() -> None:
    """Inverse of the discrete Fourier transform over the last three axes."""


@_along("tf.signal.fftnd", "FFTND")
def fftnd() -> None:
    """Fourier transform over ``axes`` (all by default); ``s`` and ``norm`` as for ``fft.fft``."""


@_along("tf.signal.ifftnd", "IFFTND")
def ifftnd() -> None:
    """Inverse Fourier transform over ``axes``; ``s`` and ``norm`` as for ``fft.ifft``."""


@_spectrum("tf.signal.rfft", "RFFT")
def rfft() -> None:
    """Spectrum of real rows in the last axis, padded or cut to ``fft_length``, a list of one."""


@_spectrum("tf.signal.rfft2d", "RFFT2D")
def rfft2d() -> None:
    """Fourier transform of real numbers over two axes, the last as by ``fft.rfft``."""


@_spectrum("tf.signal.rfft3d", "RFFT3D")
def rfft3d() -> None:
    """Spectrum of real arrays over the last three axes, padded or cut to ``fft_length``."""


@_along("tf.signal.rfftnd", "RFFTND", kinds.FLOAT_DOUBLE, rule=rules.complex)
def rfftnd() -> None:
    """Fourier transform of real numbers over ``axes``, the last as by ``fft.rfft``."""


@_spectrum("tf.signal.irfft", "IRFFT", kinds.COMPLEX, rule=rules.real_like)
def irfft() -> None:
    """Real rows of length ``fft_length``, a list of one, that have this spectrum."""


@_spectrum("tf.signal.irfft2d", "IRFFT2D", kinds.COMPLEX, rule=rules.real_like)
def irfft2d() -> None:
    """Inverse of ``fft.rfft2``, the last axis as by ``fft.irfft``."""


@_spectrum("tf.signal.irfft3d", "IRFFT3D", kinds.COMPLEX, rule=rules.real_like)
def irfft3d() -> None:
    """Real arrays of lengths ``fft_length`` in the last three axes that have this spectrum."""


@_along("tf.signal.irfftnd", "IRFFTND", rule=rules.real_like)
def irfftnd() -> None:
    """Inverse of ``fft.rfftn``, the last axis as by ``fft.irfft``."""


@family(rules.like, kinds.FLOATS)
def _cosine(
    input: TensorLike,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: Name = None,
) -> Tensor:
    """The parameters of cosine transforms."""


@_cosine("tf.signal.dct", "RFFT")
def dct() -> None:
    """Cosine transform along ``axis``: ``z_k = 2 sum_t x_t cos(π k (2t + 1) / 2n)`` for type 2."""


@_cosine("tf.signal.idct", "RFFT")
def idct() -> None:
    """Inverse of the cosine transform, without its factor: 3 for type 2, 2 for 3, else the same."""


@operation(rules.like, "tf.signal.fftshift", "Roll")
def fftshift(x: TensorLike, axes: Ints | None = None, name: Name = None) -> Tensor:
    """Elements moved on by half along ``axes``, so that frequency 0 is in the middle."""


@operation(rules.like, "tf.signal.ifftshift", "Roll")
def ifftshift(x: TensorLike, axes: Ints | None = None, name: Name = None) -> Tensor:
    """The inverse of ``fft.fftshift``."""


@operation(rules.like, "tf.signal.frame", "Frame")
def frame(
    signal: TensorLike,
    frame_length: int,
    frame_step: int,
    pad_end: bool = False,
    pad_value: TensorLike = 0,
    axis: int = -1,
    name: Name = None,
) -> Tensor:
    """Frames of ``frame_length`` every ``frame_step``: ``axis`` counts them, their own follows."""


@operation(rules.like, "tf.signal.overlap_and_add", "SegmentSum")
def overlap_and_add(signal: TensorLike, frame_step: int, name: Name = None) -> Tensor:
    """Frames in the last two axes, of which each begins ``frame_step`` later, added up."""
