"""Images as arrays and files, through Pillow where it is installed."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from gradwire import NotInstalled
from gradwire.tf.arguments import channels_last, only
from gradwire.tf.keras.settings import floatx

_MODES = {"grayscale": "L", "rgb": "RGB", "rgba": "RGBA"}


def img_to_array(img: Any, data_format: str | None = None, dtype: Any = None) -> Any:
    """An image of Pillow as an array ``(height, width, channels)``."""
    channels_last("img_to_array", data_format)
    array = np.asarray(img, dtype=dtype or floatx())
    if array.ndim not in (2, 3):
        raise ValueError(f"Unsupported image shape: {array.shape}")
    return array if array.ndim == 3 else array[:, :, None]


def array_to_img(
    x: Any, data_format: str | None = None, scale: bool = True, dtype: Any = None
) -> Any:
    """An array ``(height, width, channels)`` as an image of Pillow.

    ``scale`` maps its least value to 0 and its greatest to 255.
    """
    channels_last("array_to_img", data_format)
    array = np.asarray(x, dtype=dtype or floatx())
    if array.ndim != 3:
        raise ValueError(
            f"one image has three axes: height, width, channels; got shape {array.shape}"
        )
    if scale:
        array = array - array.min()
        greatest = array.max()
        array = (array / greatest if greatest else array) * 255
    if array.shape[2] not in (1, 3, 4):
        raise ValueError(f"Unsupported channel number: {array.shape[2]}")
    pixels = array.astype(np.uint8)
    return _pillow().fromarray(pixels[:, :, 0] if array.shape[2] == 1 else pixels)


def load_img(
    path: Any,
    color_mode: str = "rgb",
    target_size: tuple[int, int] | None = None,
    interpolation: str = "nearest",
    keep_aspect_ratio: bool = False,
) -> Any:
    """The image of a file, in ``"grayscale"``, ``"rgb"`` or ``"rgba"``, at a size if one is given.

    ``target_size`` is ``(height, width)``.
    """
    only("load_img", keep_aspect_ratio=(keep_aspect_ratio, False))
    if color_mode not in _MODES:
        raise ValueError(f"`color_mode` must be one of {list(_MODES)}; got {color_mode!r}")
    image = _pillow().open(Path(path)).convert(_MODES[color_mode])
    if target_size is None or image.size == (target_size[1], target_size[0]):
        return image
    methods = {name.lower(): each for name, each in _pillow().Resampling.__members__.items()}
    if interpolation not in methods:
        raise ValueError(f"`interpolation` must be one of {list(methods)}; got {interpolation!r}")
    return image.resize((target_size[1], target_size[0]), methods[interpolation])


def save_img(
    path: Any,
    x: Any,
    data_format: str | None = None,
    file_format: str | None = None,
    scale: bool = True,
    **kwargs: Any,
) -> None:
    """Write an array ``(height, width, channels)`` to a file as an image."""
    image = array_to_img(x, data_format, scale)
    image.save(Path(path), format=file_format, **kwargs)


def _pillow() -> ModuleType:
    try:
        return import_module("PIL.Image")
    except ImportError:
        raise NotInstalled("images need Pillow", hint="pip install pillow", name="PIL") from None
