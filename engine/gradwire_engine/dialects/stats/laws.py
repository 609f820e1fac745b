"""Laws of random variables: their functions, from rules for the standard variable.

A rule takes the standard variable, or a probability, and the law's shapes. That for the logarithm
of the density gives the operands of ``powers`` where the density vanishes like a power.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.scipy import SCIPY
from gradwire_engine.ops.pointwise.comparison import (
    Equal,
    Greater,
    GreaterEqual,
    IsNan,
    Less,
    LessEqual,
    LogicalAnd,
    LogicalOr,
)
from gradwire_engine.ops.pointwise.exponential import Log, XLogY
from gradwire_engine.ops.pointwise.selection import Floor, Where
from gradwire_engine.ops.promotion import special_promoted
from gradwire_engine.ops.special.error_functions import XLog1pY
from gradwire_engine.ops.special.log_tails import logarithm
from gradwire_engine.ops.special.powers import powers

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

Rule = Callable[..., Any]
#: Least and largest value, as numbers or rules for the shapes.
Support = tuple[Any, Any]
#: By shape, the bounds of its valid values: included ones in a list, others in a tuple.
Domain = dict[str, Any]
#: Of a shape of which nothing else is said.
_ABOVE_0 = (0.0, math.inf)
LINE: Support = (-math.inf, math.inf)
POSITIVE: Support = (0.0, math.inf)
#: The meaning of each function of a value, and of which other one it is the logarithm or rest to 1.
_VALUES = {
    "cdf": "Distribution function P(X ≤ x) of {}.",
    "sf": "Probability P(X > x) for {}.",
    "logcdf": "Logarithm of P(X ≤ x) for {}.",
    "logsf": "Logarithm of P(X > x) for {}.",
}
#: What each function is below the support, and above it.
_ENDS = {
    "pdf": (0.0, 0.0),
    "logpdf": (-math.inf, -math.inf),
    "cdf": (0.0, 1.0),
    "sf": (1.0, 0.0),
    "logcdf": (-math.inf, 0.0),
    "logsf": (0.0, -math.inf),
}
#: Numbers of which the exponential is 0.
_UNDERFLOWS = -700.0
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
    name: str,
    title: str,
    logpdf: Rule,
    shapes: str = "",
    support: Support = LINE,
    *,
    flat: bool = False,
    domain: Domain | None = None,
    **rules: Rule,
) -> None:
    """Enter the functions of a law whose variable ``loc`` moves and ``scale`` stretches.

    It is ``flat`` if all derivatives of probabilities are 0 at its least value.  All are NaN where
    ``scale`` is not positive, or a shape not in its ``domain``.

    ``rules`` give ``cdf`` and the other functions of the standard variable; ``sf`` follows from
    ``cdf`` where it is not given to be exact in the tails, logarithms where nothing underflows.
    """
    valid = _valid([*shapes.split(), "loc", "scale"], domain)

    def of_density(key: str) -> Rule:
        def moved(x: Var, *rest: Var) -> Any:
            *shape, loc, scale = valid(rest)
            y = (x - loc) / scale
            r, *factors = _parts(logpdf(y, *shape))
            return _within(key, support, y, shape, _density(key, shape, r - Log()(scale), factors))

        return moved

    def of_value(key: str, rule: Rule) -> Rule:
        def moved(x: Var, *rest: Var) -> Any:
            *shape, loc, scale = valid(rest)
            y = (x - loc) / scale
            return _within(key, support, y, shape, rule(y, *shape), flat=flat)

        return moved

    def of_probability(rule: Rule) -> Rule:
        def moved(q: Var, *rest: Var) -> Any:
            *shape, loc, scale = valid(rest)
            outside = LogicalOr()(Less()(q, q.builder.scalar(0, q.dtype)), q.exceeds(1))
            return rule(Where()(outside, q * math.nan, q), *shape) * scale + loc

        return moved

    taken = f"{shapes} loc=0 scale=1"
    note = "  Convention: -inf outside its support."
    meaning = f"Logarithm of the density of {title}.{note}"
    enter(f"{name}.logpdf", meaning, f"x {taken}", of_density("logpdf"))
    enter(f"{name}.pdf", f"Density of {title}.", f"x {taken}", of_density("pdf"))
    for key, rule in _completed(rules).items():
        enter(f"{name}.{key}", _VALUES[key].format(title), f"x {taken}", of_value(key, rule))
    for key, doc in _QUANTILES.items():
        if key in rules:
            enter(f"{name}.{key}", doc.format(title), f"q {taken}", of_probability(rules[key]))


def discrete(
    name: str,
    title: str,
    logpmf: Rule,
    shapes: str,
    support: Support = POSITIVE,
    *,
    domain: Domain | None = None,
    **rules: Rule,
) -> None:
    """Enter the functions of a law of counts that ``loc`` moves, NaN as those of others."""
    valid = _valid([*shapes.split(), "loc"], domain)

    def of_mass(key: str) -> Rule:
        def moved(k: Var, *rest: Var) -> Any:
            *shape, loc = valid(rest)
            y = k - loc
            r, *factors = _parts(logpmf(y, *shape))
            z = _within(key, support, y, shape, _density(key, shape, r, factors))
            no_count = LogicalOr()(y.exceeds(Floor()(y)), y.equals(math.inf))
            return _unless(no_count, _ENDS[key][0], shape, z)

        return moved

    def of_value(key: str, rule: Rule) -> Rule:
        def moved(k: Var, *rest: Var) -> Any:
            *shape, loc = valid(rest)
            y = Floor()(k - loc)
            return _within(key, support, y, shape, rule(y, *shape))

        return moved

    taken = f"{shapes} loc=0"
    note = "  Convention: -inf where it is not a count of the support."
    meaning = f"Logarithm of P(N = k) for {title}.{note}"
    enter(f"{name}.logpmf", meaning, f"k {taken}", of_mass("logpdf"))
    enter(f"{name}.pmf", f"P(N = k) for {title}.", f"k {taken}", of_mass("pdf"))
    for key, rule in _completed(rules).items():
        doc = _VALUES[key].format(title).replace("X", "N").replace("x)", "k)")
        enter(f"{name}.{key}", doc, f"k {taken}", of_value(key, rule))


def _completed(rules: dict[str, Rule]) -> dict[str, Rule]:
    """Rules for all functions of a value, where there is one for ``cdf``."""
    cdf = rules.get("cdf")
    if cdf is None:
        return {}
    sf: Rule = rules.get("sf", lambda *a: 1 - cdf(*a))
    logarithms: dict[str, Rule] = {
        "logcdf": lambda *a: logarithm(cdf(*a), sf(*a)),
        "logsf": lambda *a: logarithm(sf(*a), cdf(*a)),
    }
    given = {key: rule for key, rule in rules.items() if key in _VALUES}
    return {"sf": sf, **logarithms, **given}


def _valid(names: list[str], domain: Domain | None) -> Callable[[tuple[Var, ...]], list[Var]]:
    """Replaces parameters that are not in their domain by NaN."""
    bounds: Domain = {"loc": None} | (domain or {})

    def checked(given: tuple[Var, ...]) -> list[Var]:
        found = []
        for name, x in zip(names, given, strict=True):
            ends: Any = bounds.get(name, _ABOVE_0)
            if callable(ends):
                ends = ends(*given)
            found.append(x if ends is None else _inside(x, ends))
        return found

    return checked


def _inside(x: Var, ends: Any) -> Var:
    """``x``, and NaN, as its slopes, where it is not between the ends."""
    b = x.builder
    compare = (GreaterEqual, LessEqual) if isinstance(ends, list) else (Greater, Less)
    tests = [
        test()(x, b.scalar(end, x.dtype) if isinstance(end, float) else end)
        for test, end in zip(compare, ends, strict=True)
        if not (isinstance(end, float) and math.isinf(end))
    ]
    one, nan = (b.scalar(number, x.dtype) for number in (1, math.nan))
    return x * Where()(reduce(LogicalAnd(), tests), one, nan)


def _parts(density: Any) -> tuple[Var, ...]:
    """Operands of ``powers``: a logarithm, and bases that may be 0 with their exponents."""
    return density if isinstance(density, tuple) else (density,)


def _density(key: str, shape: list[Var], r: Var, factors: list[Var]) -> Var:
    """A density or its logarithm; with slopes 0 where only an exponential makes it vanish."""
    if key == "pdf":
        z = powers(r, *factors)
        vanishes = LogicalAnd()(Less()(r, r.builder.scalar(_UNDERFLOWS, r.dtype)), z.equals(0))
        return _unless(vanishes, 0, shape, z)
    z = r
    for product, x, a in zip((XLogY, XLog1pY), factors[::2], factors[1::2], strict=False):
        z = z + product()(a, x)
    return z


def _within(
    key: str, support: Support, y: Var, shape: list[Var], z: Var, *, flat: bool = False
) -> Var:
    """``z`` where ``y`` is in the support, else what the function is on that side of it.

    So there, and at infinity where it tends to a number, a probability has slopes 0.  Densities
    and logarithms have their limits at infinity where their formulas have no value.
    """
    infinities = (-math.inf, math.inf)
    for infinity, end, far, beyond in zip(
        infinities, support, _ENDS[key], (Less, Greater), strict=True
    ):
        constant = key in _VALUES and math.isfinite(far)
        there = y.equals(infinity)
        if not constant or end != infinity:
            there = LogicalAnd()(there, IsNan()(z))
        z = _unless(there, far, shape, z)
        if callable(end) or math.isfinite(end):
            bound = end(*shape) if callable(end) else y.builder.scalar(end, y.dtype)
            outside = (LessEqual if flat and constant else beyond)()(y, bound)
            z = _unless(outside, far, shape, z)
    return z


def _unless(condition: Var, far: float, shape: list[Var], z: Var) -> Var:
    """``z``, but ``far`` where the condition holds and no shape is NaN."""
    for parameter in shape:
        condition = LogicalAnd()(condition, Equal()(parameter, parameter))
    return Where()(condition, z.builder.scalar(far, z.dtype), z)
