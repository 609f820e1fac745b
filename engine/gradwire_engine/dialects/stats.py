"""``scipy.stats`` and ``jax.scipy.stats``: functions of random variables, by their laws.

What a law states, of the standard variable, is written in the prelude's files ``stats``; its
docstring is the law's name in sentences.
"""

from __future__ import annotations

import math
import re
from functools import cached_property
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.scipy import SCIPY
from gradwire_engine.ops.formulas import gennorm_below, log_gennorm
from gradwire_engine.ops.pointwise.trigonometric import Arctan2, Hypot, Tanh
from gradwire_engine.ops.promotion import special_promoted
from gradwire_engine.ops.rules import RULES
from gradwire_engine.ops.special.distributions import log1p_square, log_student
from gradwire_engine.ops.special.log_tails import (
    log_betainc,
    log_betaincc,
    log_gammainc,
    log_gammaincc,
    logarithm,
    tail_of_betainc,
    tail_of_gammaincc,
    underflows,
)
from gradwire_engine.ops.special.powers import powers
from gradwire_engine.ops.special.tails import settled
from gradwire_engine.prelude import Definition, own, sources

if TYPE_CHECKING:
    from gradwire_engine.ops.base import Cotangents
    from gradwire_engine.ops.builder import Builder, Var

#: The meaning of each function of a value, and what it is below the support, and above it.
_VALUES = {
    "cdf": ("Distribution function P(X ≤ x) of {}.", (0.0, 1.0)),
    "sf": ("Probability P(X > x) for {}.", (1.0, 0.0)),
    "logcdf": ("Logarithm of P(X ≤ x) for {}.", (-math.inf, 0.0)),
    "logsf": ("Logarithm of P(X > x) for {}.", (0.0, -math.inf)),
}
_DENSITIES = {
    "pdf": ("Density of {}.", (0.0, 0.0)),
    "logpdf": (
        "Logarithm of the density of {}.  Convention: -inf outside its support.",
        (-math.inf, -math.inf),
    ),
}
_MASSES = {
    "pmf": ("P(N = k) for {}.", (0.0, 0.0)),
    "logpmf": (
        "Logarithm of P(N = k) for {}.  Convention: -inf where it is not a count of the support.",
        (-math.inf, -math.inf),
    ),
}
_QUANTILES = {
    "ppf": "Quantile of {}: P(X ≤ z) = q.",
    "isf": "What exceeds a share 1 - q of {}: P(X > z) = q.",
}


class Law:
    """Records a function of a law, its operands promoted to one floating dtype."""

    def __init__(self, doc: str, law: Definition, by: str, key: str, ends: Any = ()) -> None:
        self.__doc__ = doc
        self._law = law
        self._by = _PRIVATE[by]
        self._given = key, ends
        self._first, *self._moved = _PARAMETERS[by]

    @cached_property
    def __signature__(self) -> Signature:
        """The parameters: a value, the law's shapes, and what moves and stretches it."""
        builder, *shapes = signature(self._law).parameters.values()
        kind = Parameter.POSITIONAL_OR_KEYWORD
        moved = [Parameter(name, kind, default=int(name == "scale")) for name in self._moved]
        return Signature([builder, Parameter(self._first, kind), *shapes, *moved])

    def __call__(self, b: Builder, /, **given: Any) -> Any:
        """Record for operands in the order of the parameters."""
        operands = b.promote(*given.values(), rule=special_promoted)
        return self._by.record(b, self._law.record, *self._given, operands)


#: The parameters of a function before and behind a law's shapes, by what records it.
_PARAMETERS = {
    "_of_value": ("x", "loc", "scale"),
    "_of_probability": ("q", "loc", "scale"),
    "_of_count": ("k", "loc"),
}


def _law(b: Builder, **stated: Any) -> dict[str, Any]:
    """The properties that a law states, with defaults for the others."""
    return {"shapes": (), "support": (-math.inf, math.inf), "flat": False, **stated}


def _of_vars(function: Any) -> Any:
    return lambda b, *operands: function(*operands)


#: What formulas of laws have beside Gradwire's own functions.
_WORDS: dict[str, Any] = {
    "law": _law,
    "LOG_2": math.log(2),
    "LOG_PI": math.log(math.pi),
    "LOG_ROOT_2_PI": math.log(2 * math.pi) / 2,
    **{
        function.__name__: _of_vars(function)
        for function in (
            *(gennorm_below, log_gennorm, log1p_square, log_student, powers),
            *(log_betainc, log_betaincc, log_gammainc, log_gammaincc),
            *(logarithm, tail_of_betainc, tail_of_gammaincc, underflows),
        )
    },
}
_FILES = [*sources("stats", lambda name: _WORDS[name] if name in _WORDS else own(name))]
_PRIVATE = _FILES[0].private


def _enter(law: Definition) -> None:
    """Give SciPy's names to the functions of a law."""
    # Its text says what it states, so that no law is translated before it is asked for.
    stated = {*re.findall(r"\b(cdf|logpmf|ppf|isf)=", law.text)}
    title, counts = law.doc, "logpmf" in stated
    functions = (_MASSES if counts else _DENSITIES) | (_VALUES if "cdf" in stated else {})
    for key, (doc, ends) in functions.items():
        by = "_of_count" if counts else "_of_value"
        text = doc.format(title)
        text = text.replace("X", "N").replace("x)", "k)") if counts and key in _VALUES else text
        macro = SCIPY.macro(f"stats.{law.name}.{key}")
        macro(Law(text, law, by, key.replace("pmf", "pdf"), ends))
    for key, doc in _QUANTILES.items():
        if key in stated:
            SCIPY.macro(f"stats.{law.name}.{key}")(
                Law(doc.format(title), law, "_of_probability", key)
            )


for _file in _FILES:
    for _stated in _file.public:
        _enter(_stated)


def _of_log_logistic(z_bar: Var, z: Var, y: Var) -> Cotangents:
    """The difference of the logistic function of ``-y`` and ``y``."""
    return (-(z_bar * Tanh()(y * 0.5)),)


def _of_log_cauchy_below(z_bar: Var, z: Var, y: Var) -> Cotangents:
    """``1 / ((1 + y²) arctan2(1, -y))``, where the square may overflow."""
    one = y.constant(1)
    share = 1 / Hypot()(y, one)
    return (z_bar * settled(y, share * (share / Arctan2()(one, -y))),)


RULES |= {"log_logistic": _of_log_logistic, "log_cauchy_below": _of_log_cauchy_below}
