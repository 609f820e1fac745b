"""SciPy's names whose defaults or order differ from the unprefixed ones."""

from __future__ import annotations

from gradwire_engine.dialects.base import Dialect

SCIPY = Dialect(
    "scipy",
    {"scipy.": "scipy.", "special.": "scipy.special.", "jax.scipy.": "scipy."},
    unprefixed="scipy.",
    stays_half=False,
)

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
