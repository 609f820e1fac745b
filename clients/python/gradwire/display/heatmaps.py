"""Heat-maps: orange above zero, blue below zero, transparent at zero.

Size is opacity, so that a picture reads on light and on dark pages. It grows with the root of the
size: a tenth of the largest is seen. What is not finite is magenta; of complex numbers the hue is
the phase. Pictures are PNG within the page: a tenth of what rectangles would take.
"""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradwire.display.cells import Cells
from gradwire.display.figures import digits, sizes
from gradwire.display.markup import Markup, element, row

ABOVE, BELOW, ODD = (240, 96, 18), (52, 120, 246), (192, 38, 211)
#: Opacity of the smallest non-zero cell, of 255.
FAINTEST = 32
#: Opacities are multiples of this, which halves the picture's bytes.
STEP = 8


def picture(shown: Cells, scale: float, most: tuple[int, int], least: int = 14) -> Markup:
    """The heat-map of cells, its height and width in pixels; ``scale`` is the opaque size."""
    height, width = (
        min(pixels, max(least, count * max(1, min(pixels // count, 12))))
        for pixels, count in zip(most, shown.values.shape, strict=True)
    )
    source = base64.b64encode(png(colours(shown, scale))).decode("ascii")
    return element(
        "img",
        src=f"data:image/png;base64,{source}",
        width=width,
        height=height,
        alt=f"heat-map of {shown.shape[0]} × {shown.shape[1]} elements",
        style=f"width:{width}px;height:{height}px",  # pages have images keep proportions
        class_="gw-map",
    )


def largest(shown: Cells) -> float:
    """The size that is opaque where a picture stands by itself."""
    return float(sizes(shown.values).max(initial=0.0))


def tint(number: Any, scale: float) -> str | None:
    """The background of a number in a table, faint enough to read on; ``None`` for zero."""
    if not np.isfinite(number):
        return f"background:rgba{(*ODD, 0.45)}".replace(" ", "")
    size = float(sizes(np.asarray(number)))
    if not (size > 0 and scale > 0):
        return None
    red, green, blue = (
        _hues(np.array(number)).tolist()
        if np.iscomplexobj(number)
        else ABOVE
        if number > 0
        else BELOW
    )
    return f"background:rgba({red},{green},{blue},{max(0.05, 0.4 * (size / scale) ** 0.5):.2f})"


def legend(shown: Cells, scale: float) -> Markup:
    """The legend of colours, and the number of elements in a cell."""
    told = digits(scale, 3)
    if np.iscomplexobj(shown.values):
        parts = [element("span", f"size up to {told}, hue by phase")]
    else:
        parts = [element("span", f"−{told}"), _ramp(), element("span", told)]
    rows, columns = shown.block
    if rows * columns > 1:
        parts.append(element("span", f"a cell is the largest by size of {rows} × {columns}"))
    return row("div", *parts, class_="gw-legend")


def colours(shown: Cells, scale: float) -> NDArray[np.uint8]:
    """Red, green, blue and opacity of each cell."""
    values = shown.values
    size = sizes(values) / (scale or 1.0)
    opacity = np.clip(np.round(255 * np.sqrt(size) / STEP) * STEP, FAINTEST, 255)
    image = np.zeros((*values.shape, 4), np.uint8)
    image[..., :3] = (
        _hues(values) if np.iscomplexobj(values) else np.where(values[..., None] > 0, ABOVE, BELOW)
    )
    image[..., 3] = np.where(size > 0, opacity, 0)
    image[image[..., 3] == 0] = 0
    image[shown.odd] = (*ODD, 255)
    return image


def png(image: NDArray[np.uint8]) -> bytes:
    """A picture of red, green, blue and opacity as a file.

    Source: Portable Network Graphics (PNG) Specification, W3C, third edition, 5 and 11.2.
    """
    height, width = image.shape[:2]
    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    unfiltered = np.zeros((height, 1 + 4 * width), np.uint8)  # each line begins with its filter
    unfiltered[:, 1:] = image.reshape(height, -1)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(unfiltered.tobytes())), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content))
        + kind
        + content
        + struct.pack(">I", zlib.crc32(kind + content))
        for kind, content in chunks
    )


def _hues(values: NDArray[Any]) -> NDArray[np.uint8]:
    """The colour of each phase: orange where real and above zero, bluish opposite."""
    phase = np.angle(values)[..., None] - np.array([0.3, 2.4, 4.5])
    hues: NDArray[np.uint8] = (255 * (0.5 + 0.42 * np.cos(phase))).astype(np.uint8)
    return hues


def _ramp() -> Markup:
    """The colours from below to above zero."""
    stops = [
        f"rgba({','.join(map(str, BELOW if at < 0 else ABOVE))},{abs(at) ** 0.5:.2f})"
        for at in (-1.0, -0.5, -0.1, 0.0, 0.1, 0.5, 1.0)
    ]
    gradient = f"background:linear-gradient(90deg,{','.join(stops)})"
    return element("span", style=gradient, class_="gw-ramp")
