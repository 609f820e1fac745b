"""Quality values of the headers ``Accept`` and ``Accept-Encoding`` (RFC 9110, 12.4.2)."""

from __future__ import annotations

from collections.abc import Mapping


def qualities(header: str) -> dict[str, float]:
    """The quality of each name in a header, in lower case."""
    found: dict[str, float] = {}
    for part in header.split(","):
        name, *parameters = (text.strip().lower() for text in part.split(";"))
        found[name] = next((_number(text[2:]) for text in parameters if text.startswith("q=")), 1.0)
    return found


def quality(media_type: str, ranges: Mapping[str, float]) -> float:
    """The quality of the most specific range of ``media_type``, else 0 (RFC 9110, 12.5.1)."""
    family = media_type.partition("/")[0] + "/*"
    for candidate in (media_type, family, "*/*"):
        if candidate in ranges:
            return ranges[candidate]
    return 0.0


def _number(text: str) -> float:
    """A quality value; 0 if it is invalid."""
    try:
        return float(text)
    except ValueError:
        return 0.0
