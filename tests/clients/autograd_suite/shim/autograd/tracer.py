"""autograd's recorded values."""

from __future__ import annotations

from typing import Any

from gradwire.tracing.tracer import Tracer

from .primitives import primitive  # noqa: F401


def isbox(value: Any) -> bool:
    return isinstance(value, Tracer)
