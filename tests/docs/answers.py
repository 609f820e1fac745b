"""Compares answers with those that a page shows."""

from __future__ import annotations

from typing import Any

import pytest


def same(shown: Any, found: Any, relative: float = 1e-8) -> bool:
    """True if ``found`` is what is shown: numbers as nearly as asked, texts to an ellipsis.

    An ellipsis alone stands for anything.
    """
    if shown == "…":
        return True
    if isinstance(shown, dict):
        return (
            isinstance(found, dict)
            and shown.keys() == found.keys()
            and all(same(shown[key], found[key], relative) for key in shown)
        )
    if isinstance(shown, list):
        return (
            isinstance(found, list)
            and len(shown) == len(found)
            and all(same(a, b, relative) for a, b in zip(shown, found, strict=True))
        )
    if isinstance(shown, float):
        near = pytest.approx(shown, rel=relative, abs=relative / 1e4)
        return isinstance(found, float) and found == near
    if isinstance(shown, str) and shown.endswith("…"):
        return isinstance(found, str) and found.startswith(shown[:-1])
    return type(shown) is type(found) and bool(shown == found)
