"""Gradients over HTTP: Gradwire compared with a bare endpoint with one handwritten gradient."""

from __future__ import annotations

from wire import others, peak, residents, sizes


def report(*, quick: bool) -> list[str]:
    """Small and large requests, resident tensors, memory, and other services."""
    parts = (sizes, residents, peak, others)
    return [page for part in parts for page in part.report(quick=quick)]
