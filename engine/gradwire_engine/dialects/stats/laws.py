"""Laws of random variables: their functions, from rules for the standard variable.

A rule takes the standard variable, or a probability, and the law's shapes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.scipy import SCIPY
from gradwire_engine.ops.pointwise.comparison import Equal, GreaterEqual, LessEqual, LogicalAnd
from gradwire_engine.ops.pointwise.exponential import Exp, Log
from gradwire_engine.ops.pointwise.selection import Floor, Maximum, Minimum, Where
from gradwire_engine.ops.promotion import special_promoted

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

Rule = Callable[..., Any]
#: Least and largest value, as numbers or rules for the shapes.
Support = tuple[Any, Any]
LINE: Support = (-math.inf, math.inf)
POSITIVE: Support = (0.0, math.inf)
#: The meaning of each function of a value, and of which other one it is the logarithm or rest to 1.
_VALUES = {
    "cdf": "Distribution function P(X ≤ x) of {}.",
    "sf": "Probability P(X > x) for {}.",
    "logcdf": "Logarithm of P(X ≤ x) for {}.",
    "logsf": "Logarithm of P(X > x) for {}.",
}
_QUANTILES = {
    "ppf": "Quantile of {}: P(X ≤ z) = q.",
    "isf": "What exceeds a share 1 - q of {}: P(X > z) = q.",
}


class Law:
    """Records a function of a law, its operands promoted to one floating dtype."""

    def __init__(self, doc: str, parameters: str, rule: Rule) -> None:
        self.__doc__ = doc
        self._rule = rule
        written = [word.partition("=") for word in f"builder {parameters}".split()]
        defaults = [int(default) if equals else Parameter.empty for _, equals, default in written]
        kind = Parameter.POSITIONAL_OR_KEYWORD
        #: Read by ``inspect.signature``.
        self.__signature__ = Signature(
            [
                Parameter(name, kind, default=default)
                for (name, _, _), default in zip(written, defaults, strict=True)
            ]
        )

    def __call__(self, b: Builder, /, **given: Any) -> Any:
        """Record for operands in the order of the parameters."""
        return self._rule(*b.promote(*given.values(), rule=special_promoted))


def enter(name: str, doc: str, parameters: str, rule: Rule) -> None:
    """Make ``rule`` the function ``stats.name``."""
    SCIPY.macro(f"stats.{name}")(Law(doc, parameters, rule))


def continuous(
    name: str, title: str, logpdf: Rule, shapes: str = "", support: Support = LINE, **rules: Rule
) -> None:
    """Enter the functions of a law whose variable ``loc`` moves and ``scale`` stretches.

    ``rules`` give ``cdf`` and the other functions of the standard variable; ``sf`` and logarithms
    follow from ``cdf`` where they are not given to be exact in the tails.
    """

    def log_density(x: Var, *rest: Var) -> Any:
        *shape, loc, scale = rest
        y = (x - loc) / scale
        return _where_in(support, y, shape, logpdf(y, *shape) - Log()(scale))

    def of_value(rule: Rule) -> Rule:
        def moved(x: Var, *rest: Var) -> Any:
            *shape, loc, scale = rest
            low, high = _bounds(support, x, shape)
            return rule(Minimum()(Maximum()((x - loc) / scale, low), high), *shape)

        return moved

    def of_probability(rule: Rule) -> Rule:
        def moved(q: Var, *rest: Var) -> Any:
            *shape, loc, scale = rest
            return rule(q, *shape) * scale + loc

        return moved

    taken = f"{shapes} loc=0 scale=1"
    note = "  Convention: -inf outside its support."
    enter(
        f"{name}.logpdf", f"Logarithm of the density of {title}.{note}", f"x {taken}", log_density
    )
    enter(f"{name}.pdf", f"Density of {title}.", f"x {taken}", lambda *a: Exp()(log_density(*a)))
    for key, rule in _completed(rules).items():
        enter(f"{name}.{key}", _VALUES[key].format(title), f"x {taken}", of_value(rule))
    for key, doc in _QUANTILES.items():
        if key in rules:
            enter(f"{name}.{key}", doc.format(title), f"q {taken}", of_probability(rules[key]))


def discrete(
    name: str, title: str, logpmf: Rule, shapes: str, support: Support = POSITIVE, **rules: Rule
) -> None:
    """Enter the functions of a law of counts that ``loc`` moves."""

    def log_mass(k: Var, *rest: Var) -> Any:
        *shape, loc = rest
        y = k - loc
        whole = Equal()(Floor()(y), y)
        z = _where_in(support, y, shape, logpmf(y, *shape))
        return Where()(whole, z, z.builder.scalar(-math.inf, z.dtype))

    def of_value(rule: Rule) -> Rule:
        def moved(k: Var, *rest: Var) -> Any:
            *shape, loc = rest
            low, high = _bounds(support, k, shape)
            return rule(Minimum()(Maximum()(Floor()(k - loc), low - 1), high), *shape)

        return moved

    taken = f"{shapes} loc=0"
    note = "  Convention: -inf where it is not a count of the support."
    enter(f"{name}.logpmf", f"Logarithm of P(N = k) for {title}.{note}", f"k {taken}", log_mass)
    enter(f"{name}.pmf", f"P(N = k) for {title}.", f"k {taken}", lambda *a: Exp()(log_mass(*a)))
    for key, rule in _completed(rules).items():
        doc = _VALUES[key].format(title).replace("X", "N").replace("x)", "k)")
        enter(f"{name}.{key}", doc, f"k {taken}", of_value(rule))


def _completed(rules: dict[str, Rule]) -> dict[str, Rule]:
    """Rules for all functions of a value, where there is one for ``cdf``."""
    cdf = rules.get("cdf")
    if cdf is None:
        return {}
    sf: Rule = rules.get("sf", lambda *a: 1 - cdf(*a))
    logarithms: dict[str, Rule] = {
        "logcdf": lambda *a: Log()(cdf(*a)),
        "logsf": lambda *a: Log()(sf(*a)),
    }
    given = {key: rule for key, rule in rules.items() if key in _VALUES}
    return {"sf": sf, **logarithms, **given}


def _bounds(support: Support, x: Var, shape: list[Var]) -> list[Var]:
    b = x.builder
    return [end(*shape) if callable(end) else b.scalar(end, x.dtype) for end in support]


def _where_in(support: Support, y: Var, shape: list[Var], z: Var) -> Var:
    """``z`` where ``y`` is in the support, else ``-inf``."""
    if support == LINE:
        return z
    low, high = _bounds(support, y, shape)
    inside = LogicalAnd()(GreaterEqual()(y, low), LessEqual()(y, high))
    return Where()(inside, z, z.builder.scalar(-math.inf, z.dtype))
