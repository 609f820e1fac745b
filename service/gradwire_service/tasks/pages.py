"""Pages of listings."""

from __future__ import annotations

from gradwire_service.problems import RequestError

#: Most records on a page.
_MOST = 1000


def page_limit(text: str) -> int:
    """The most records that a request wants on a page.

    Raises: ``RequestError`` (invalid_request).
    """
    digits = text.isascii() and text.isdigit() and len(text) <= len(str(_MOST))
    if digits and 0 < int(text) <= _MOST:
        return int(text)
    raise RequestError("invalid_request", f"limit must be a number from 1 to {_MOST}")
