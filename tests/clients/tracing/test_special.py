"""Special functions as in SciPy, ufuncs and others."""

from typing import Any

import numpy as np
import scipy.special as sc
from scipy import special
from scipy.special import logsumexp

RNG = np.random.default_rng(2)
X = RNG.uniform(0.2, 0.8, (2, 3))
Y = RNG.uniform(1.2, 2.9, (3,))
N = np.array([1, 2, 3])

#: Functions of one array, and of two.
OF_ONE: tuple[Any, ...] = (
    sc.erf, sc.erfc, sc.erfcx, sc.ndtr, sc.ndtri, sc.log_ndtr, sc.i1, sc.i0e, sc.i1e, sc.entr,
    sc.spence, sc.dawsn, sc.fresnel, sc.lambertw,
)  # fmt: skip
OF_TWO = (sc.xlogy, sc.xlog1py, sc.owens_t)
CASES: list[Any] = [
    *[(f.__name__, f, X) for f in OF_ONE],
    *[(f.__name__, f, X, Y) for f in OF_TWO],
    ("erfinv", lambda x: (sc.erfinv(x), sc.erfcinv(x)), X),
    ("gammaln", lambda x: (sc.gammaln(x), sc.loggamma(x)), X),
    ("gamma", lambda x: (sc.gamma(x), sc.rgamma(x)), X),
    ("digamma", lambda x: (sc.digamma(x), sc.psi(x)), X),
    ("polygamma", lambda y: (sc.polygamma(1, y), sc.polygamma(2, y)), Y),
    ("multigammaln", lambda y: sc.multigammaln(y, 3), Y),
    ("i0", lambda x: (sc.i0(x), np.i0(x)), X),
    ("j0/j1", lambda x: (sc.j0(x), sc.j1(x)), X),
    ("y0/y1", lambda x: (sc.y0(x), sc.y1(x)), X),
    ("jv (integer order)", lambda x: (sc.jv(2, x), sc.yv(1, x), sc.jv(N, x)), X),
    ("iv", lambda x: (sc.iv(1.5, x), sc.ive(1, x), sc.kv(2, x)), X),
    ("k0/k1", lambda x: (sc.k0(x), sc.k1(x)), X),
    ("zeta in q", lambda y: sc.zeta(2.5, y), Y),
    ("gammainc in x", lambda x: (sc.gammainc(2.0, x), sc.gammaincc(2.0, x)), X),
    ("gammainc in a", lambda a: (sc.gammainc(a, 1.5), sc.gammaincc(a, 0.5)), Y),
    ("beta / betaln", lambda x, y: (sc.beta(x, y), sc.betaln(x, y)), X, Y),
    ("betainc in x", lambda x: sc.betainc(1.5, 2.5, x), X),
    ("betainc in a,b", lambda x, y: sc.betainc(y, x + 1, 0.4), X, Y),
    ("rel_entr/kl_div", lambda x, y: (sc.rel_entr(x, y), sc.kl_div(x, y)), X, Y),
    ("expi/exp1", lambda x: (sc.expi(x), sc.exp1(x), sc.expn(2, x)), X),
    ("hyp1f1 in x", lambda x: (sc.hyp1f1(0.5, 1.5, x), sc.hyp0f1(1.5, x)), X),
    ("hyp2f1 in x", lambda x: sc.hyp2f1(0.5, 1.0, 1.5, x), X),
    ("logsumexp", lambda x: (logsumexp(x), special.logsumexp(x, axis=1, keepdims=True)), X),
    ("logsumexp", lambda x: logsumexp(x, axis=0, b=np.array([1.0, 2.0, 3.0])), X),
    ("others", lambda x: (sc.expit(x), sc.logit(x), sc.log_expit(x), sc.exprel(x)), X),
    ("others", lambda x: (sc.ellipk(x), sc.ellipe(x), sc.ellipkinc(x, 0.3)), X),
    ("others", lambda x: (sc.boxcox(x, 0.5), sc.boxcox1p(x, 0.5), sc.inv_boxcox(x, 0.5)), X),
    ("others", lambda x: (sc.sici(x), sc.shichi(x), sc.airy(x)), X),
    ("others", lambda y: (sc.binom(y, 2), sc.poch(y, 2.0), sc.factorial(y)), Y),
    (
        "others",
        lambda x: (sc.eval_legendre(3, x), sc.eval_chebyt(2, x), sc.voigt_profile(x, 1, 1)),
        X,
    ),
    ("others", lambda x: (sc.cosm1(x), sc.exp10(x), sc.sindg(x), sc.log1p(x), sc.exp2(x)), X),
    ("others", lambda x: (sc.sinc(x), sc.round(x), sc.spherical_jn(1, x), sc.comb(5, 2) * x), X),
    ("others", lambda x: (sc.softmax(x), sc.log_softmax(x, axis=1), sc.stdtr(3, x)), X),
]


def test_special_functions_agree_with_scipy(case, check):
    _, f, *args = case
    check(f, *args)
