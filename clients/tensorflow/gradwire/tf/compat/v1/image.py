"""``tf.compat.v1.image``: pictures resized with TensorFlow 1's positions of pixels."""

from __future__ import annotations

from collections.abc import Callable

from gradwire.tf.conversion import convert_to_tensor
from gradwire.tf.operations.types import Ints, TensorLike
from gradwire.tf.resizing import resized
from gradwire.tf.tensors import Tensor
from gradwire.tf.variants import variant


class ResizeMethod:
    """Numbers of how pictures are resized."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


_METHODS = ("bilinear", "nearest", "bicubic", "area")


def resize_images(
    images: TensorLike,
    size: Ints,
    method: int | str = ResizeMethod.BILINEAR,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
) -> Tensor:
    """Pictures of another height and width; those that have it stay as they are."""
    if method not in (*_METHODS, *range(4)):
        raise ValueError("Resize method is not implemented.")
    way = _METHODS[method] if isinstance(method, int) else method
    x = convert_to_tensor(images)
    made = resized(x, size, way, preserve_aspect_ratio, False, align_corners, way == "area")
    return x if made.shape == x.shape else made


resize = resize_images


def _resized(
    images: TensorLike,
    size: Ints,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Callable[..., Tensor]:
    return lambda way: resized(images, size, way, False, False, align_corners, half_pixel_centers)


@variant(_resized, "bilinear")
def resize_bilinear() -> Tensor:
    """Pictures interpolated linearly between four pixels."""


@variant(_resized, "nearest")
def resize_nearest_neighbor() -> Tensor:
    """Pictures of the pixels nearest to each place."""


@variant(_resized, "bicubic")
def resize_bicubic() -> Tensor:
    """Pictures interpolated by cubic polynomials between sixteen pixels."""


def resize_area(
    images: TensorLike, size: Ints, align_corners: bool = False, name: str | None = None
) -> Tensor:
    """Pictures of the means of what each pixel covers."""
    return resized(images, size, "area", False, False, align_corners, True)
