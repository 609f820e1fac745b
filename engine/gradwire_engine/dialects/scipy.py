"""SciPy's names whose defaults or order differ from the unprefixed ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import Dialect, recorded
from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.arrays.diagonals import Tril, Triu
from gradwire_engine.ops.arrays.shape import swap_last
from gradwire_engine.ops.axes import flag
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.builder import describe
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.elementwise import conj
from gradwire_engine.ops.linalg.cholesky import Cholesky
from gradwire_engine.ops.linalg.solving import SolveTriangular, adjoint

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder

SCIPY = Dialect(
    "scipy",
    {"scipy.": "scipy.", "special.": "scipy.special.", "jax.scipy.": "scipy."},
    unprefixed="scipy.",
    stays_half=False,
)

#: Properties that ``solve`` may assume of a matrix.
_STRUCTURES = ("sym", "symmetric", "her", "hermitian", "pos", "positive definite")

SCIPY.entry("special.softmax special.log_softmax", parameters="x axis=None")
SCIPY.entry("special.logsumexp", parameters="a axis=None b=None keepdims=False return_sign=False")
SCIPY.entry("special.gammainc special.gammaincc", parameters="a:x x:y")
SCIPY.entry("special.beta special.betaln", parameters="a:x b:y")
SCIPY.entry("special.kl_div special.rel_entr", parameters="p:x q:y")
SCIPY.entry("special.boxcox special.boxcox1p", parameters="x lmbda:y")
SCIPY.entry("special.poch", parameters="z:x m:y")
SCIPY.entry("special.owens_t", parameters="h:x a:y")
SCIPY.entry("special.ndtri", parameters="p:x")
SCIPY.entry("linalg.expm linalg.sqrtm", parameters="A:a")


@SCIPY.macro("linalg.eigh")
def eigh(
    builder: Builder,
    a: Any,
    b: Any = None,
    *,
    lower: Static = True,
    eigvals_only: Static = False,
) -> Any:
    """Ascending eigenvalues, and eigenvectors, of a Hermitian matrix read from one triangle.

    With ``b``, positive definite, those of ``a v = b v w``, and ``v^H b v = 1``.  Source: Golub and
    Van Loan, Matrix Computations (2013), 8.7.2.
    """
    name = "eigvalsh" if flag(eigvals_only, "eigvals_only") else "eigh"
    triangle = "L" if flag(lower, "lower") else "U"
    if b is None:
        return recorded(name)(builder, a, triangle)
    x, metric = (floating(builder, v) for v in builder.promote(a, b))
    below, strictly = (Tril(), Tril(-1)) if lower else (Triu(), Triu(1))
    hermitian = below(x) + adjoint(strictly(x))
    factor = Cholesky()(metric if lower else adjoint(metric))
    solve = SolveTriangular(lower=True)
    found = recorded(name)(builder, solve(factor, adjoint(solve(factor, hermitian))))
    if eigvals_only:
        return found
    w, v = found
    return [w, SolveTriangular(lower=True, adjoint=True)(factor, v)]


@SCIPY.macro("linalg.solve")
def solve(
    builder: Builder,
    a: Any,
    b: Any,
    lower: Static = False,
    *,
    assume_a: Static = "gen",
    transposed: Static = False,
) -> Any:
    """Solution of ``a z = b``, or of ``a^T z = b`` if ``transposed``.

    ``assume_a`` "sym", "her" and "pos" read one triangle, the upper or the ``lower``, and promise
    that the other is its (conjugate) transpose; "pos" also that there is a Cholesky factor.
    """
    x = builder.array(a)
    below = flag(lower, "lower")
    if assume_a not in ("gen", "general", *_STRUCTURES):
        raise BadArgument(
            f"solve cannot assume {describe(assume_a)}", hint=f"gen, {', '.join(_STRUCTURES)}"
        )
    if assume_a in _STRUCTURES:
        half, strictly = (Tril(), Tril(-1)) if below else (Triu(), Triu(1))
        other = swap_last(strictly(x))
        x = half(x) + (other if assume_a.startswith("sym") else conj(other))
    x = swap_last(x) if flag(transposed, "transposed") else x
    if not assume_a.startswith("pos"):
        return recorded("solve")(builder, x, b)
    return recorded("cho_solve")(builder, (Cholesky.record(builder, x), True), b)
