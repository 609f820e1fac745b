"""Compares answers with those that a page shows."""

from __future__ import annotations

from typing import Any

import pytest


def same(shown: Any, found: Any) -> bool:
    """True if ``found`` is what is shown: numbers to the digits shown, texts to an ellipsis."""
    if isinstance(shown, dict):
        return (
            isinstance(found, dict)
            and shown.keys() == found.keys()
            and all(same(shown[key], found[key]) for key in shown)
        )
    if isinstance(shown, list):
        return (
            isinstance(found, list)
            and len(shown) == len(found)
            and all(same(a, b) for a, b in zip(shown, found, strict=True))
        )
    if isinstance(shown, float):
        return isinstance(found, float) and found == pytest.approx(shown, rel=1e-8, abs=1e-12)
    if isinstance(shown, str) and shown.endswith("…"):
        return isinstance(found, str) and found.startswith(shown[:-1])
    return type(shown) is type(found) and bool(shown == found)
