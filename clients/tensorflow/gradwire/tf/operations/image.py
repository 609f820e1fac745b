"""``tf.image``: pictures, their channels last."""

from __future__ import annotations

from gradwire.tf.operations import kinds, rules
from gradwire.tf.operations.declaring import family, operation
from gradwire.tf.operations.types import Floats, Ints, Name, Padding, Places, TensorLike
from gradwire.tf.tensors import Tensor

__all__ = [
    "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_saturation", "central_crop",
    "crop_and_resize", "crop_to_bounding_box", "extract_patches", "flip_left_right", "flip_up_down",
    "grayscale_to_rgb", "hsv_to_rgb", "image_gradients", "pad_to_bounding_box", "psnr",
    "rgb_to_grayscale", "rgb_to_hsv", "rgb_to_yiq", "rgb_to_yuv", "rot90", "sobel_edges", "ssim",
    "ssim_multiscale", "total_variation", "transpose", "yiq_to_rgb", "yuv_to_rgb",
]  # fmt: skip


@family(rules.like)
def _of_image(image: TensorLike, name: Name = None) -> Tensor:
    """The parameters of functions of a picture."""


@family(rules.like, kinds.FLOATS)
def _of_colours(images: TensorLike, name: Name = None) -> Tensor:
    """The parameters of functions of pictures' colours."""


@family(rules.like)
def _of_box(
    image: TensorLike,
    offset_height: int,
    offset_width: int,
    target_height: int,
    target_width: int,
    name: Name = None,
) -> Tensor:
    """The parameters of functions of a picture and a box."""


@operation(rules.like, "tf.image.adjust_brightness", "Add")
def adjust_brightness(image: TensorLike, delta: TensorLike, name: Name = None) -> Tensor:
    """Sum: ``z = x + y``."""


@operation(
    rules.like, "tf.image.adjust_contrast", "AdjustContrastv2", kinds.FLOATS, registered=False
)
def adjust_contrast(images: TensorLike, contrast_factor: TensorLike, name: Name = None) -> Tensor:
    """``z = (x - mean x) factor + mean x``, the mean over height and width of each channel."""


@operation(rules.like, "tf.image.adjust_gamma", "Pow", kinds.FLOATS)
def adjust_gamma(
    image: TensorLike, gamma: TensorLike = 1, gain: TensorLike = 1, name: Name = None
) -> Tensor:
    """``z = gain x^gamma``."""


@operation(rules.like, "tf.image.adjust_hue", "AdjustHue", kinds.FLOATS, registered=False)
def adjust_hue(image: TensorLike, delta: TensorLike, name: Name = None) -> Tensor:
    """Colours with ``delta`` added to their hue, around the circle."""


@operation(
    rules.like, "tf.image.adjust_saturation", "AdjustSaturation", kinds.FLOATS, registered=False
)
def adjust_saturation(
    image: TensorLike, saturation_factor: TensorLike, name: Name = None
) -> Tensor:
    """Colours whose saturation is multiplied by a factor, at most to 1."""


@operation(rules.like, "tf.image.central_crop", "Slice")
def central_crop(image: TensorLike, central_fraction: float, name: Name = None) -> Tensor:
    """The middle of an image, ``central_fraction`` of its height and width."""


@operation(rules.like, "tf.image.crop_and_resize", "CropAndResize", kinds.FLOATS)
def crop_and_resize(
    image: TensorLike,
    boxes: TensorLike,
    box_indices: Places,
    crop_size: Ints,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
    name: Name = None,
) -> Tensor:
    """Parts of images (n, h, w, channels), of ``crop_size``, the images by ``box_indices``."""


@_of_box("tf.image.crop_to_bounding_box", "Slice")
def crop_to_bounding_box() -> None:
    """The part of ``target_height`` by ``target_width`` below and right of the offset."""


@_of_box("tf.image.pad_to_bounding_box", "Pad")
def pad_to_bounding_box() -> None:
    """The image below and right of the offset in zeros, ``target_height`` by ``target_width``."""


@operation(rules.like, "tf.image.extract_patches", "ExtractImagePatches")
def extract_patches(
    images: TensorLike, sizes: Ints, strides: Ints, rates: Ints, padding: Padding, name: Name = None
) -> Tensor:
    """Windows of images, each a row along the last axis: by line, column, channel."""


@_of_image("tf.image.flip_left_right", "ReverseV2")
def flip_left_right() -> None:
    """Columns in the opposite order."""


@_of_image("tf.image.flip_up_down", "ReverseV2")
def flip_up_down() -> None:
    """Rows in the opposite order."""


@operation(rules.like, "tf.image.grayscale_to_rgb", "Tile")
def grayscale_to_rgb(images: TensorLike, name: Name = None) -> Tensor:
    """The one channel along the last axis three times."""


@_of_colours("tf.image.rgb_to_grayscale", "Tensordot")
def rgb_to_grayscale() -> None:
    """Brightness ``0.2989 r + 0.587 g + 0.114 b``; the last axis becomes 1."""


@_of_colours("tf.image.hsv_to_rgb", "HSVToRGB")
def hsv_to_rgb() -> None:
    """The inverse of ``rgb_to_hsv``: hue, saturation and value as red, green and blue."""


@_of_colours("tf.image.rgb_to_hsv", "RGBToHSV")
def rgb_to_hsv() -> None:
    """Hue, saturation ``1 - min / max`` and value ``max``, all from 0 to 1 for such colours."""


@_of_colours("tf.image.rgb_to_yiq", "Tensordot")
def rgb_to_yiq() -> None:
    """Luma and two differences of colour, as in analogue television (NTSC)."""


@_of_colours("tf.image.yiq_to_rgb", "Tensordot")
def yiq_to_rgb() -> None:
    """The inverse of ``rgb_to_yiq``, to three digits."""


@_of_colours("tf.image.rgb_to_yuv", "Tensordot")
def rgb_to_yuv() -> None:
    """Luma and two differences of colour, as in analogue television (PAL)."""


@_of_colours("tf.image.yuv_to_rgb", "Tensordot")
def yuv_to_rgb() -> None:
    """The inverse of ``rgb_to_yuv``, to six digits."""


@operation(rules.two, "tf.image.image_gradients", "Sub")
def image_gradients(image: TensorLike, name: Name = None) -> list[Tensor]:
    """A list of the differences to the next pixel below and to the right, 0 for the last ones."""


@_of_image("tf.image.per_image_standardization", "Sub")
def per_image_standardization() -> None:
    """Each image with mean 0 and variance 1; its deviation counts as ``1 / sqrt(n)`` at least."""


@operation(rules.like, "tf.image.psnr", "Sub", kinds.FLOATS)
def psnr(a: TensorLike, b: TensorLike, max_val: TensorLike, name: Name = None) -> Tensor:
    """Ratio of peak signal to noise in decibels: ``z = 10 log10(max_val² / mean((a - b)²))``."""


@operation(rules.like, "tf.image.rot90", "ReverseV2")
def rot90(image: TensorLike, k: int = 1, name: Name = None) -> Tensor:
    """Rotation by ``k`` quarter turns, counter-clockwise."""


@_of_image("tf.image.sobel_edges", "DepthwiseConv2dNative", kinds.FLOATS)
def sobel_edges() -> None:
    """Slopes down and to the right along a new last axis, smoothed across; borders are mirrored."""


@operation(rules.like, "tf.image.ssim", "Conv2D", kinds.FLOATS)
def ssim(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    name: Name = None,
) -> Tensor:
    """Structural similarity, the mean over all windows and channels; 1 for equal images."""


@operation(rules.like, "tf.image.ssim_multiscale", "Conv2D", kinds.FLOATS)
def ssim_multiscale(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    power_factors: Floats = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333),
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    name: Name = None,
) -> Tensor:
    """Structural similarity at several scales, each half as large as the one before."""


@operation(rules.like, "tf.image.total_variation", "Sum")
def total_variation(images: TensorLike, name: Name = None) -> Tensor:
    """``z = sum |x_{i+1,j} - x_{ij}| + |x_{i,j+1} - x_{ij}|`` of each image."""


@_of_image("tf.image.transpose", "Transpose")
def transpose() -> None:
    """Rows and columns exchanged."""
