"""Gradients over HTTP: Gradwire beside a bare endpoint that has the one gradient by hand."""

from __future__ import annotations

from wire import others, peak, residents, sizes


def report(*, quick: bool) -> list[str]:
    """Small and large requests, resident tensors, memory, and other services."""
    parts = (sizes, residents, peak, others)
    return [page for part in parts for page in part.report(quick=quick)]
