"""``tf.image``: pictures, their channels last.

Written by clients/tensorflow/tools/operations.py.
"""

from __future__ import annotations

from gradwire.tf.operations import kinds, rules
from gradwire.tf.operations.types import Floats, Ints, Padding, TensorLike
from gradwire.tf.tensors import Tensor
from gradwire.tf.unregistered import unregistered

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "central_crop",
    "crop_and_resize",
    "crop_to_bounding_box",
    "extract_patches",
    "flip_left_right",
    "flip_up_down",
    "grayscale_to_rgb",
    "hsv_to_rgb",
    "image_gradients",
    "pad_to_bounding_box",
    "per_image_standardization",
    "psnr",
    "rgb_to_grayscale",
    "rgb_to_hsv",
    "rgb_to_yiq",
    "rgb_to_yuv",
    "rot90",
    "sobel_edges",
    "ssim",
    "ssim_multiscale",
    "total_variation",
    "transpose",
    "yiq_to_rgb",
    "yuv_to_rgb",
]


def adjust_brightness(image: TensorLike, delta: TensorLike, name: str | None = None) -> Tensor:
    """Sum: ``z = x + y``."""
    return rules.like(
        "tf.image.adjust_brightness", "Add", None, {"image": image, "delta": delta}, {}
    )


def adjust_contrast(
    images: TensorLike, contrast_factor: TensorLike, name: str | None = None
) -> Tensor:
    """``z = (x - mean x) factor + mean x``, the mean over height and width of each channel."""
    return unregistered(
        "AdjustContrastv2",
        [images, contrast_factor],
        lambda: rules.like(
            "tf.image.adjust_contrast",
            "AdjustContrastv2",
            kinds.REAL,
            {"images": images, "contrast_factor": contrast_factor},
            {},
        ),
    )


def adjust_gamma(
    image: TensorLike, gamma: TensorLike = 1, gain: TensorLike = 1, name: str | None = None
) -> Tensor:
    """``z = gain x^gamma``."""
    return rules.like(
        "tf.image.adjust_gamma",
        "Pow",
        kinds.REAL,
        {"image": image, "gamma": gamma, "gain": gain},
        {},
    )


def adjust_hue(image: TensorLike, delta: TensorLike, name: str | None = None) -> Tensor:
    """Colours with ``delta`` added to their hue, around the circle."""
    return unregistered(
        "AdjustHue",
        [image, delta],
        lambda: rules.like(
            "tf.image.adjust_hue", "AdjustHue", kinds.REAL, {"image": image, "delta": delta}, {}
        ),
    )


def adjust_saturation(
    image: TensorLike, saturation_factor: TensorLike, name: str | None = None
) -> Tensor:
    """Colours whose saturation is multiplied by a factor, at most to 1."""
    return unregistered(
        "AdjustSaturation",
        [image, saturation_factor],
        lambda: rules.like(
            "tf.image.adjust_saturation",
            "AdjustSaturation",
            kinds.REAL,
            {"image": image, "saturation_factor": saturation_factor},
            {},
        ),
    )


def central_crop(image: TensorLike, central_fraction: float, name: str | None = None) -> Tensor:
    """The middle of an image, ``central_fraction`` of its height and width."""
    return rules.like(
        "tf.image.central_crop",
        "Slice",
        None,
        {"image": image},
        {"central_fraction": central_fraction},
    )


def crop_and_resize(
    image: TensorLike,
    boxes: TensorLike,
    box_indices: TensorLike,
    crop_size: Ints,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """Parts of images (n, h, w, channels), of ``crop_size``, the images by ``box_indices``."""
    return rules.like(
        "tf.image.crop_and_resize",
        "CropAndResize",
        kinds.REAL,
        {"image": image, "boxes": boxes, "box_indices": box_indices},
        {"crop_size": crop_size, "method": method, "extrapolation_value": extrapolation_value},
        places=("box_indices",),
    )


def crop_to_bounding_box(
    image: TensorLike,
    offset_height: int,
    offset_width: int,
    target_height: int,
    target_width: int,
    name: str | None = None,
) -> Tensor:
    """The part of ``target_height`` by ``target_width`` below and right of the offset."""
    return rules.like(
        "tf.image.crop_to_bounding_box",
        "Slice",
        None,
        {"image": image},
        {
            "offset_height": offset_height,
            "offset_width": offset_width,
            "target_height": target_height,
            "target_width": target_width,
        },
    )


def pad_to_bounding_box(
    image: TensorLike,
    offset_height: int,
    offset_width: int,
    target_height: int,
    target_width: int,
    name: str | None = None,
) -> Tensor:
    """The image below and right of the offset in zeros, ``target_height`` by ``target_width``."""
    return rules.like(
        "tf.image.pad_to_bounding_box",
        "Pad",
        None,
        {"image": image},
        {
            "offset_height": offset_height,
            "offset_width": offset_width,
            "target_height": target_height,
            "target_width": target_width,
        },
    )


def extract_patches(
    images: TensorLike,
    sizes: Ints,
    strides: Ints,
    rates: Ints,
    padding: Padding,
    name: str | None = None,
) -> Tensor:
    """Windows of images, each a row along the last axis: by line, column, channel."""
    return rules.like(
        "tf.image.extract_patches",
        "ExtractImagePatches",
        None,
        {"images": images},
        {"sizes": sizes, "strides": strides, "rates": rates, "padding": padding},
    )


def flip_left_right(image: TensorLike, name: str | None = None) -> Tensor:
    """Columns in the opposite order."""
    return rules.like("tf.image.flip_left_right", "ReverseV2", None, {"image": image}, {})


def flip_up_down(image: TensorLike, name: str | None = None) -> Tensor:
    """Rows in the opposite order."""
    return rules.like("tf.image.flip_up_down", "ReverseV2", None, {"image": image}, {})


def grayscale_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """The one channel along the last axis three times."""
    return rules.like("tf.image.grayscale_to_rgb", "Tile", None, {"images": images}, {})


def rgb_to_grayscale(images: TensorLike, name: str | None = None) -> Tensor:
    """Brightness ``0.2989 r + 0.587 g + 0.114 b``; the last axis becomes 1."""
    return rules.like("tf.image.rgb_to_grayscale", "Tensordot", kinds.REAL, {"images": images}, {})


def hsv_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of ``rgb_to_hsv``: hue, saturation and value as red, green and blue."""
    return rules.like("tf.image.hsv_to_rgb", "HSVToRGB", kinds.REAL, {"images": images}, {})


def rgb_to_hsv(images: TensorLike, name: str | None = None) -> Tensor:
    """Hue, saturation ``1 - min / max`` and value ``max``, all from 0 to 1 for such colours."""
    return rules.like("tf.image.rgb_to_hsv", "RGBToHSV", kinds.REAL, {"images": images}, {})


def rgb_to_yiq(images: TensorLike, name: str | None = None) -> Tensor:
    """Luma and two differences of colour, as in analogue television (NTSC)."""
    return rules.like("tf.image.rgb_to_yiq", "Tensordot", kinds.REAL, {"images": images}, {})


def yiq_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of ``rgb_to_yiq``, to three digits."""
    return rules.like("tf.image.yiq_to_rgb", "Tensordot", kinds.REAL, {"images": images}, {})


def rgb_to_yuv(images: TensorLike, name: str | None = None) -> Tensor:
    """Luma and two differences of colour, as in analogue television (PAL)."""
    return rules.like("tf.image.rgb_to_yuv", "Tensordot", kinds.REAL, {"images": images}, {})


def yuv_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of ``rgb_to_yuv``, to six digits."""
    return rules.like("tf.image.yuv_to_rgb", "Tensordot", kinds.REAL, {"images": images}, {})


def image_gradients(image: TensorLike, name: str | None = None) -> list[Tensor]:
    """A list of the differences to the next pixel below and to the right, 0 for the last ones."""
    return rules.list(2, "tf.image.image_gradients", "Sub", None, {"image": image}, {})


def per_image_standardization(image: TensorLike, name: str | None = None) -> Tensor:
    """Each image with mean 0 and variance 1; its deviation counts as ``1 / sqrt(n)`` at least."""
    return rules.like("tf.image.per_image_standardization", "Sub", None, {"image": image}, {})


def psnr(a: TensorLike, b: TensorLike, max_val: TensorLike, name: str | None = None) -> Tensor:
    """Ratio of peak signal to noise in decibels: ``z = 10 log10(max_val² / mean((a - b)²))``."""
    return rules.like("tf.image.psnr", "Sub", kinds.REAL, {"a": a, "b": b, "max_val": max_val}, {})


def rot90(image: TensorLike, k: int = 1, name: str | None = None) -> Tensor:
    """Rotation by ``k`` quarter turns, counter-clockwise."""
    return rules.like("tf.image.rot90", "ReverseV2", None, {"image": image}, {"k": k})


def sobel_edges(image: TensorLike, name: str | None = None) -> Tensor:
    """Slopes down and to the right along a new last axis, smoothed across; borders are mirrored."""
    return rules.like(
        "tf.image.sobel_edges", "DepthwiseConv2dNative", kinds.REAL, {"image": image}, {}
    )


def ssim(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    name: str | None = None,
) -> Tensor:
    """Structural similarity, the mean over all windows and channels; 1 for equal images."""
    return rules.like(
        "tf.image.ssim",
        "Conv2D",
        kinds.REAL,
        {"img1": img1, "img2": img2, "max_val": max_val},
        {"filter_size": filter_size, "filter_sigma": filter_sigma, "k1": k1, "k2": k2},
    )


def ssim_multiscale(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    power_factors: Floats = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333),
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    name: str | None = None,
) -> Tensor:
    """Structural similarity at several scales, each half as large as the one before."""
    return rules.like(
        "tf.image.ssim_multiscale",
        "Conv2D",
        kinds.REAL,
        {"img1": img1, "img2": img2, "max_val": max_val},
        {
            "power_factors": power_factors,
            "filter_size": filter_size,
            "filter_sigma": filter_sigma,
            "k1": k1,
            "k2": k2,
        },
    )


def total_variation(images: TensorLike, name: str | None = None) -> Tensor:
    """``z = sum |x_{i+1,j} - x_{ij}| + |x_{i,j+1} - x_{ij}|`` of each image."""
    return rules.like("tf.image.total_variation", "Sum", None, {"images": images}, {})


def transpose(image: TensorLike, name: str | None = None) -> Tensor:
    """Rows and columns exchanged."""
    return rules.like("tf.image.transpose", "Transpose", None, {"image": image}, {})
