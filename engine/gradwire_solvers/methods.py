"""The methods of optimisation by name: what each takes, and which derivatives it reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

from gradwire_solvers.options import (
    AT_LEAST_0,
    COUNT,
    FLAG,
    POSITIVE,
    SHARE,
    Option,
    choice,
    either,
    number,
    whole,
)
from gradwire_solvers.schedules import LEARNING_RATE

#: What is looked for: a least value, a least sum of squares, or where values are zero.
SolveKind: TypeAlias = Literal["minimize", "least_squares", "root"]


class Method(NamedTuple):
    """A method: its options, what it can take beside, and the second derivatives that it reads."""

    options: Mapping[str, Option]
    bounds: bool = False
    constraints: bool = False
    #: Whether it is written here, steps along gradients, and may take those of minibatches.
    first_order: bool = False
    hessian: Literal["none", "product", "matrix"] = "none"
    #: Whether it keeps a square matrix as long as the sources.
    square: bool = False
    #: Whether equal runs have equal bits: what SciPy's code reads is what it has written.
    repeats: bool = True
    #: Whether it is one of least squares for data that is divided among machines.
    divided: bool = False


_NORM = either(number(), choice("inf"))
_LINE_SEARCH = {"c1": number(0, 1, open_low=True), "c2": SHARE}
_TRUST_REGION = {
    "initial_trust_radius": POSITIVE,
    "max_trust_radius": POSITIVE,
    "eta": number(0, 0.25),
    "gtol": AT_LEAST_0,
    "maxiter": COUNT,
}
_STEPS = {
    "learning_rate": LEARNING_RATE,
    "warmup_steps": whole(0),
    "maxiter": COUNT,
    "gtol": AT_LEAST_0,
    "ftol": AT_LEAST_0,
}
_MINIMIZE = {
    "L-BFGS-B": Method(
        {
            "maxcor": whole(1, 1000),  # whose square it keeps
            "ftol": AT_LEAST_0,
            "gtol": AT_LEAST_0,
            "maxfun": COUNT,
            "maxiter": COUNT,
            "maxls": COUNT,
        },
        bounds=True,
    ),
    "BFGS": Method(
        {
            "gtol": AT_LEAST_0,
            "norm": _NORM,
            "maxiter": COUNT,
            "xrtol": AT_LEAST_0,
            **_LINE_SEARCH,
        },
        square=True,
    ),
    "CG": Method({"gtol": AT_LEAST_0, "norm": _NORM, "maxiter": COUNT, **_LINE_SEARCH}),
    "TNC": Method(
        {
            "maxCGit": whole(-1),
            "eta": number(-1),
            "stepmx": AT_LEAST_0,
            "accuracy": AT_LEAST_0,
            "ftol": number(-1),
            "xtol": number(-1),
            "gtol": number(-1),
            "rescale": number(-1),
            "maxfun": COUNT,
        },
        bounds=True,
    ),
    "SLSQP": Method(
        {"ftol": AT_LEAST_0, "maxiter": COUNT}, bounds=True, constraints=True, square=True
    ),
    "trust-constr": Method(
        {
            "gtol": AT_LEAST_0,
            "xtol": AT_LEAST_0,
            "barrier_tol": AT_LEAST_0,
            "initial_tr_radius": POSITIVE,
            "initial_constr_penalty": POSITIVE,
            "initial_barrier_parameter": POSITIVE,
            "initial_barrier_tolerance": POSITIVE,
            "factorization_method": choice("QRFactorization", "SVDFactorization"),
            "maxiter": COUNT,
        },
        bounds=True,
        constraints=True,
        hessian="product",
    ),
    "trust-ncg": Method(_TRUST_REGION, hessian="product"),
    "trust-krylov": Method({**_TRUST_REGION, "inexact": FLAG}, hessian="product", repeats=False),
    "trust-exact": Method(_TRUST_REGION, hessian="matrix", square=True),
    "dogleg": Method(_TRUST_REGION, hessian="matrix", square=True),
    "Newton-CG": Method({"xtol": AT_LEAST_0, "maxiter": COUNT, **_LINE_SEARCH}, hessian="product"),
    "sgd": Method(_STEPS, bounds=True, first_order=True),
    "momentum": Method(
        {**_STEPS, "momentum": SHARE, "nesterov": FLAG}, bounds=True, first_order=True
    ),
    "adam": Method(
        {**_STEPS, "beta1": SHARE, "beta2": SHARE, "epsilon": POSITIVE},
        bounds=True,
        first_order=True,
    ),
}
_TOLERANCES = {"ftol": AT_LEAST_0, "xtol": AT_LEAST_0, "gtol": AT_LEAST_0, "max_nfev": COUNT}
_SCALES = {"x_scale": either(POSITIVE, choice("jac"))}
_ROBUST = {
    **_TOLERANCES,
    **_SCALES,
    "loss": choice("linear", "soft_l1", "huber", "cauchy", "arctan"),
    "f_scale": POSITIVE,
    "tr_solver": choice("exact", "lsmr"),
}
_LEAST_SQUARES = {
    "trf": Method(_ROBUST, bounds=True),
    "dogbox": Method(_ROBUST, bounds=True),
    "lm": Method({**_TOLERANCES, **_SCALES}),
    "gauss-newton": Method(_TRUST_REGION, divided=True),
}
_LARGE = {
    "maxiter": COUNT,
    "fatol": POSITIVE,
    "ftol": POSITIVE,
    "xatol": POSITIVE,
    "xtol": POSITIVE,
    "line_search": choice("armijo", "wolfe"),
}
_ROOT = {
    "hybr": Method({"xtol": AT_LEAST_0, "maxfev": COUNT, "factor": number(0.1, 100)}),
    "lm": Method(
        {
            "ftol": AT_LEAST_0,
            "xtol": AT_LEAST_0,
            "gtol": AT_LEAST_0,
            "maxiter": COUNT,
            "factor": number(0.1, 100),
        }
    ),
    "krylov": Method(_LARGE),
    "broyden1": Method(_LARGE),
    "df-sane": Method(
        {
            "ftol": AT_LEAST_0,
            "fatol": AT_LEAST_0,
            "maxfev": COUNT,
            "M": COUNT,
            "sigma_0": POSITIVE,
            "sigma_eps": POSITIVE,
            "line_search": choice("cruz", "cheng"),
        }
    ),
}
#: The methods of each kind, the default first.
METHODS: Mapping[SolveKind, Mapping[str, Method]] = {
    "minimize": _MINIMIZE,
    "least_squares": _LEAST_SQUARES,
    "root": _ROOT,
}


def default_method(kind: SolveKind, constrained: bool = False) -> str:
    """The method of a kind where none is named: of the constrained, the first that takes those."""
    methods = METHODS[kind].items()
    return next(name for name, method in methods if method.constraints or not constrained)
