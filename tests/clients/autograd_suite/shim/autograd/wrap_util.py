"""autograd's wrapper of operators."""

from __future__ import annotations

from .operators import of_argument as unary_to_nary  # noqa: F401
