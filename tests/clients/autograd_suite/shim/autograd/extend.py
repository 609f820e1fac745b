"""autograd's names for extensions."""

from __future__ import annotations

from .primitives import defvjp, primitive  # noqa: F401
