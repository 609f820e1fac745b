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


@SCIPY.macro("linalg.svd")
def svd(b: Builder, a: Any, full_matrices: Static = True, compute_uv: Static = True) -> Any:
    """Singular value decomposition ``a = u s v^H``: the list ``u``, ``s``, ``v^H``.

    ``full_matrices`` is only known of square matrices, which have no others.
    """
    shape = b.array(a).type.shape
    full = flag(full_matrices, "full_matrices") and shape[-2:-1] != shape[-1:]
    return recorded("svd")(b, a, full and flag(compute_uv, "compute_uv"), compute_uv)


@SCIPY.macro("linalg.eigh")
def eigh(b: Builder, a: Any, *, lower: Static = True, eigvals_only: Static = False) -> Any:
    """Ascending eigenvalues, and eigenvectors, of a Hermitian matrix read from one triangle."""
    name = "eigvalsh" if flag(eigvals_only, "eigvals_only") else "eigh"
    return recorded(name)(b, a, "L" if flag(lower, "lower") else "U")
