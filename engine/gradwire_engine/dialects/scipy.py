"""SciPy's names whose defaults or order differ from the unprefixed ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import Dialect, recorded
from gradwire_engine.ops.axes import flag
from gradwire_engine.ops.base import Static

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder

SCIPY = Dialect("scipy", {"scipy.": "scipy.", "special.": "scipy.special."})

SCIPY.entry("special.softmax special.log_softmax", parameters="x axis=None")
SCIPY.entry("special.logsumexp", parameters="a axis=None b=None keepdims=False")


@SCIPY.macro("linalg.cholesky")
def cholesky(b: Builder, a: Any, lower: Static = False) -> Any:
    """Cholesky factor of ``a``: upper triangular ``z`` with ``a = z^H z``, or the lower ``z^H``."""
    return recorded("cholesky")(b, a, upper=not flag(lower, "lower"))
