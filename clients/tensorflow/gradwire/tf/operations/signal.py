"""``tf.signal``: transforms and frames."""

from __future__ import annotations

from gradwire.tf.operations import kinds, rules
from gradwire.tf.operations.declaring import operation
from gradwire.tf.operations.types import Ints, Name, TensorLike
from gradwire.tf.tensors import Tensor

__all__ = [
    "dct", "fft", "fft2d", "fft3d", "fftnd", "fftshift", "frame", "idct", "ifft", "ifft2d",
    "ifft3d", "ifftnd", "ifftshift", "irfft", "irfft2d", "irfft3d", "irfftnd", "overlap_and_add",
    "rfft", "rfft2d", "rfft3d", "rfftnd",
]  # fmt: skip


@operation(rules.like, "tf.signal.fft", "FFT", kinds.COMPLEX)
def fft(input: TensorLike, name: Name = None) -> Tensor:
    """Fourier transform along ``axis``: ``z_k = sum_t x_t exp(-2πi kt / n)``."""


@operation(rules.like, "tf.signal.ifft", "IFFT", kinds.COMPLEX)
def ifft(input: TensorLike, name: Name = None) -> Tensor:
    """Inverse Fourier transform along ``axis``: ``z_t = sum_k x_k exp(2πi kt / n) / n``."""


@operation(rules.like, "tf.signal.fft2d", "FFT2D", kinds.COMPLEX)
def fft2d(input: TensorLike, name: Name = None) -> Tensor:
    """Fourier transform over two axes; lengths ``s`` and ``norm`` as for ``fft.fft``."""


@operation(rules.like, "tf.signal.ifft2d", "IFFT2D", kinds.COMPLEX)
def ifft2d(input: TensorLike, name: Name = None) -> Tensor:
    """Inverse Fourier transform over two axes; ``s`` and ``norm`` as for ``fft.ifft``."""


@operation(rules.like, "tf.signal.fft3d", "FFT3D", kinds.COMPLEX)
def fft3d(input: TensorLike, name: Name = None) -> Tensor:
    """Discrete Fourier transform over the last three axes."""


@operation(rules.like, "tf.signal.ifft3d", "IFFT3D", kinds.COMPLEX)
def ifft3d(input: TensorLike, name: Name = None) -> Tensor:
    """Inverse of the discrete Fourier transform over the last three axes."""


@operation(rules.like, "tf.signal.fftnd", "FFTND", kinds.COMPLEX)
def fftnd(
    input_tensor: TensorLike,
    fft_length: Ints | None = None,
    axes: Ints | None = None,
    norm: str | None = None,
    name: Name = None,
) -> Tensor:
    """Fourier transform over ``axes`` (all by default); ``s`` and ``norm`` as for ``fft.fft``."""


@operation(rules.like, "tf.signal.ifftnd", "IFFTND", kinds.COMPLEX)
def ifftnd(
    input_tensor: TensorLike,
    fft_length: Ints | None = None,
    axes: Ints | None = None,
    norm: str | None = None,
    name: Name = None,
) -> Tensor:
    """Inverse Fourier transform over ``axes``; ``s`` and ``norm`` as for ``fft.ifft``."""


@operation(rules.complex, "tf.signal.rfft", "RFFT", kinds.FLOAT_DOUBLE)
def rfft(input_tensor: TensorLike, fft_length: Ints | None = None, name: Name = None) -> Tensor:
    """Spectrum of real rows in the last axis, padded or cut to ``fft_length``, a list of one."""


@operation(rules.complex, "tf.signal.rfft2d", "RFFT2D", kinds.FLOAT_DOUBLE)
def rfft2d(input_tensor: TensorLike, fft_length: Ints | None = None, name: Name = None) -> Tensor:
    """Fourier transform of real numbers over two axes, the last as by ``fft.rfft``."""


@operation(rules.complex, "tf.signal.rfft3d", "RFFT3D", kinds.FLOAT_DOUBLE)
def rfft3d(input_tensor: TensorLike, fft_length: Ints | None = None, name: Name = None) -> Tensor:
    """Spectrum of real arrays over the last three axes, padded or cut to ``fft_length``."""


@operation(rules.complex, "tf.signal.rfftnd", "RFFTND", kinds.FLOAT_DOUBLE)
def rfftnd(
    input_tensor: TensorLike,
    fft_length: Ints | None = None,
    axes: Ints | None = None,
    norm: str | None = None,
    name: Name = None,
) -> Tensor:
    """Fourier transform of real numbers over ``axes``, the last as by ``fft.rfft``."""


@operation(rules.real_like, "tf.signal.irfft", "IRFFT", kinds.COMPLEX)
def irfft(input_tensor: TensorLike, fft_length: Ints | None = None, name: Name = None) -> Tensor:
    """Real rows of length ``fft_length``, a list of one, that have this spectrum."""


@operation(rules.real_like, "tf.signal.irfft2d", "IRFFT2D", kinds.COMPLEX)
def irfft2d(input_tensor: TensorLike, fft_length: Ints | None = None, name: Name = None) -> Tensor:
    """Inverse of ``fft.rfft2``, the last axis as by ``fft.irfft``."""


@operation(rules.real_like, "tf.signal.irfft3d", "IRFFT3D", kinds.COMPLEX)
def irfft3d(input_tensor: TensorLike, fft_length: Ints | None = None, name: Name = None) -> Tensor:
    """Real arrays of lengths ``fft_length`` in the last three axes that have this spectrum."""


@operation(rules.real_like, "tf.signal.irfftnd", "IRFFTND", kinds.COMPLEX)
def irfftnd(
    input_tensor: TensorLike,
    fft_length: Ints | None = None,
    axes: Ints | None = None,
    norm: str | None = None,
    name: Name = None,
) -> Tensor:
    """Inverse of ``fft.rfftn``, the last axis as by ``fft.irfft``."""


@operation(rules.like, "tf.signal.dct", "RFFT", kinds.FLOATS)
def dct(
    input: TensorLike,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: Name = None,
) -> Tensor:
    """Cosine transform along ``axis``: ``z_k = 2 sum_t x_t cos(π k (2t + 1) / 2n)`` for type 2."""


@operation(rules.like, "tf.signal.idct", "RFFT", kinds.FLOATS)
def idct(
    input: TensorLike,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: Name = None,
) -> Tensor:
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
