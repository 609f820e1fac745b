"""Pictures as files: PNG and JPEG, read by Pillow where it is installed.

JPEG is read with the accurate inverse transform only, which is libjpeg's in Pillow as in
TensorFlow; TensorFlow's default is a faster one, whose pixels differ by up to ten of 255.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from gradwire import NotInstalled
from gradwire.tf.arguments import only
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.dtypes import as_dtype, int32, string, uint8
from gradwire.tf.errors import invalid
from gradwire.tf.tensors import Tensor

Pixels = np.ndarray[Any, Any]

_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8\xff"
_OTHERS = {b"GIF8": "GIF", b"BM": "BMP", b"RIFF": "WebP"}
#: The kinds of color in a PNG file by the number of channels.
_KINDS = {1: 0, 2: 4, 3: 2, 4: 6}


def is_jpeg(contents: Any, name: str | None = None) -> Tensor:
    """True if a file's content is a JPEG picture."""
    return convert_to_tensor(_content(contents).startswith(_JPEG))


def decode_image(
    contents: Any,
    channels: int | None = None,
    dtype: Any = uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:
    """The pixels of a PNG picture, height by width by channels; as float32 from 0 to 1.

    Raises:
        InvalidArgumentError: a file of another kind.
        NotImplementedError: a JPEG picture, for which there is ``decode_jpeg``; GIF, BMP, WebP.
    """
    return decode_png(contents, channels or 0, dtype)


def decode_png(
    contents: Any, channels: int = 0, dtype: Any = uint8, name: str | None = None
) -> Tensor:
    """The pixels of a PNG picture, height by width by channels.

    Raises:
        InvalidArgumentError: a file of another kind.
        NotImplementedError: a JPEG picture, for which there is ``decode_jpeg``; grey of colors.
    """
    content = _content(contents)
    if content.startswith(_JPEG):
        raise NotImplementedError(
            "decode_png and decode_image do not implement JPEG; "
            "decode_jpeg(contents, dct_method='INTEGER_ACCURATE') is possible"
        )
    _check_kind(content, _PNG)
    wanted = as_dtype(dtype).name
    if wanted not in ("uint8", "uint16", "float32"):
        raise invalid(f"`dtype` must be uint8, uint16 or float32, not {wanted}")
    deep = content[24] == 16
    picture = _opened(content)
    if deep and picture.mode != "I;16" and wanted != "uint8":
        raise NotImplementedError(f"decode_png does not implement dtype={wanted} of 16-bit colors")
    if picture.mode == "P":
        picture = picture.convert("RGBA" if "transparency" in picture.info else "RGB")
    elif picture.mode == "1":
        picture = picture.convert("L")
    pixels = _with_channels(np.atleast_3d(np.asarray(picture)), channels)
    if deep and picture.mode == "I;16":
        pixels = pixels if wanted != "uint8" else pixels >> 8
    elif wanted != "uint8":
        pixels = pixels.astype(np.uint16) * 257
    if wanted == "float32":
        pixels = pixels.astype(np.float32) * np.float32(1 / 65535)
    return tensor_of(pixels.astype(wanted), as_dtype(dtype))


def decode_jpeg(
    contents: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """The pixels of a JPEG picture, height by width by channels.

    Raises:
        InvalidArgumentError: a file of another kind.
        NotImplementedError: another ``dct_method`` than ``"INTEGER_ACCURATE"``.
    """
    only(
        "decode_jpeg",
        ratio=(ratio, 1),
        fancy_upscaling=(fancy_upscaling, True),
        try_recover_truncated=(try_recover_truncated, False),
        acceptable_fraction=(acceptable_fraction, 1),
    )
    content = _content(contents)
    if channels not in (0, 1, 3):
        raise invalid(f"JPEG does not support {channels} channels")
    if content.startswith(_PNG):
        return decode_png(content, channels)
    _check_kind(content, _JPEG)
    only("decode_jpeg", dct_method=(dct_method, "INTEGER_ACCURATE"))
    picture = _opened(content)
    if picture.mode not in ("L", "RGB"):
        raise NotImplementedError(f"decode_jpeg does not implement {picture.mode}")
    if channels:
        picture.draft("L" if channels == 1 else "RGB", picture.size)
    return tensor_of(_with_channels(np.atleast_3d(np.asarray(picture)), channels), uint8)


def extract_jpeg_shape(contents: Any, output_type: Any = int32, name: str | None = None) -> Tensor:
    """Height, width and channels of a JPEG picture."""
    content = _content(contents)
    _check_kind(content, _JPEG)
    picture = _opened(content)
    shape = [picture.height, picture.width, len(picture.getbands())]
    return convert_to_tensor(shape, as_dtype(output_type))


def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Tensor:
    """The PNG file of a picture of uint8 or uint16, or of each in a batch; nothing is lost."""
    tensor = convert_to_tensor(image)
    if tensor.dtype.name not in ("uint8", "uint16"):
        raise invalid(f"image must be of uint8 or uint16, not {tensor.dtype.name}")
    return _encoded(tensor, _KINDS, lambda pixels: _png(pixels, compression))


def encode_jpeg(
    image: Any,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> Tensor:
    """The JPEG file of a picture of uint8 with one channel or three."""
    only(
        "encode_jpeg",
        density_unit=(density_unit, "in"),
        xmp_metadata=(xmp_metadata, ""),
        progressive=(progressive, False),
        optimize_size=(optimize_size, False),
    )
    tensor = convert_to_tensor(image, uint8)
    if format not in ("", "rgb" if tensor.shape[-1] == 3 else "grayscale"):
        raise invalid(f"format {format!r} does not fit {tensor.shape[-1]} channels")
    if tensor.shape.rank != 3:
        raise invalid(f"image must be 3-dimensional: {tensor.shape}")

    def encoded(pixels: Pixels) -> bytes:
        file = io.BytesIO()
        options: dict[str, Any] = {}
        if pixels.shape[-1] == 3:
            options["subsampling"] = 2 if chroma_downsampling else 0
        picture = _pillow().fromarray(pixels.squeeze(-1) if pixels.shape[-1] == 1 else pixels)
        picture.save(file, "jpeg", quality=quality, dpi=(x_density, y_density), **options)
        return file.getvalue()

    return _encoded(tensor, {1: 0, 3: 0}, encoded)


def _encoded(
    tensor: Tensor, channels: dict[int, int], encoded: Callable[[Pixels], bytes]
) -> Tensor:
    pixels = tensor._value()
    if pixels.ndim < 3 or pixels.shape[-1] not in channels:
        lengths = ",".join(map(str, pixels.shape))
        allowed = " or ".join(map(str, channels))
        raise invalid(f"image must have {allowed} channels, got [{lengths}]")
    files = np.empty(pixels.shape[:-3], object)
    for place in np.ndindex(files.shape):
        files[place] = encoded(pixels[place])
    return tensor_of(files, string)


def _png(pixels: Pixels, compression: int) -> bytes:
    """A PNG file, its rows not filtered."""
    height, width, channels = pixels.shape
    rows = pixels.astype(pixels.dtype.newbyteorder(">")).reshape(height, -1)
    lines = b"".join(b"\0" + row.tobytes() for row in rows)
    head = struct.pack(">IIBBBBB", width, height, 8 * pixels.itemsize, _KINDS[channels], 0, 0, 0)
    return _PNG + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in (
            (b"IHDR", head),
            (b"IDAT", zlib.compress(lines, compression)),
            (b"IEND", b""),
        )
    )


def _with_channels(pixels: Pixels, channels: int) -> Pixels:
    """Grey to colors, and opacity added or left out."""
    count = pixels.shape[-1]
    if channels in (0, count):
        return pixels
    if channels not in (1, 2, 3, 4):
        raise invalid(f"channels must be 0, 1, 3, or 4, got {channels}")
    colors = pixels[..., : 1 if count < 3 else 3]
    if channels < 3 and count >= 3:
        raise NotImplementedError(f"decode_png does not implement channels={channels} of colors")
    if channels >= 3 and count < 3:
        colors = np.repeat(colors, 3, -1)
    if channels in (1, 3):
        return colors
    full = np.full_like(pixels[..., :1], np.iinfo(pixels.dtype).max)
    return np.concatenate([colors, pixels[..., -1:] if count in (2, 4) else full], -1)


def _check_kind(content: bytes, beginning: bytes) -> None:
    if content.startswith(beginning):
        return
    for other, kind in _OTHERS.items():
        if content.startswith(other):
            raise NotImplementedError(f"{kind} pictures are not implemented; PNG is possible")
    raise invalid("Unknown image file format. One of JPEG, JPEG XL, PNG, GIF, BMP, WebP required.")


def _content(contents: Any) -> bytes:
    return bytes(np.asarray(convert_to_tensor(contents, string)._value(), object).item())


def _opened(content: bytes) -> Any:
    try:
        return _pillow().open(io.BytesIO(content))
    except OSError as error:
        raise invalid(f"Invalid picture: {error}") from None


def _pillow() -> Any:
    try:
        from PIL import Image  # noqa: PLC0415 - which is not a dependency
    except ImportError:
        raise NotInstalled(
            "pictures are read and written by Pillow", hint="pip install pillow", name="PIL"
        ) from None
    return Image
