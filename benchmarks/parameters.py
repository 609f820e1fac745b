"""Derivatives of special functions and of laws in their parameters, beside the function alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pkgutil import iter_modules
from time import thread_time
from typing import Any, NamedTuple

import numpy as np
import scipy.stats
from gradwire_engine import Call, Engine, Leaf, Query
from gradwire_engine.catalogue import catalogue
from gradwire_engine.ops import special
from measure import Row, compared, interleave
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

Array = NDArray[Any]
Draw = Callable[[np.random.Generator, int], Array]
_ELEMENTS, _QUICK_ELEMENTS = 20_000, 2_000
#: Calls of about so many seconds are one figure.
_SECONDS = 0.005
#: The most that a derivative in one parameter may take, by the value of the same elements.
_BAR = 10.0
_LAWS = "scipy.stats."
#: Those of functions in the catalogue: the names of their modules.
FAMILIES = frozenset(module.name for module in iter_modules(special.__path__))


def _even(low: float, high: float) -> Draw:
    return lambda rng, n: rng.uniform(low, high, n)


def _spread(low: float, high: float) -> Draw:
    """Numbers of all orders of magnitude."""
    return lambda rng, n: np.exp(rng.uniform(np.log(low), np.log(high), n))


def _whole(low: int, high: int) -> Draw:
    return lambda rng, n: rng.integers(low, high, n, endpoint=True).astype(float)


_UNIT, _SHAPE, _ORDER = _even(0.001, 0.999), _spread(0.1, 100), _even(-3, 30)
#: Where functions are measured, for each operand; in place of ``x`` of the law that the others are
#: of, if it is named.
SPECIAL: dict[str, tuple[Draw | str, ...]] = {
    "jv yv iv ive kv kve": (_ORDER, _spread(0.05, 100)),
    "hankel1 hankel2": (_ORDER, _spread(0.05, 100)),
    "struve modstruve": (_even(0, 10), _spread(0.1, 20)),
    "gammainc gammaincc": (_SHAPE, "gamma"),
    "gammaincinv gammainccinv": (_SHAPE, _UNIT),
    "betainc betaincc": (_SHAPE, _SHAPE, "beta"),
    "betaincinv betainccinv": (_SHAPE, _SHAPE, _UNIT),
    "beta betaln": (_SHAPE, _SHAPE),
    "stdtr": (_SHAPE, "t"),
    "stdtrit": (_SHAPE, _UNIT),
    "chdtr chdtrc": (_SHAPE, "chi2"),
    "chdtri": (_SHAPE, _UNIT),
    "fdtr fdtrc": (_SHAPE, _SHAPE, "f"),
    "fdtri": (_SHAPE, _SHAPE, _UNIT),
    "gdtr gdtrc": (_spread(0.5, 2), _SHAPE, _SHAPE),
    "pdtr pdtrc": (_whole(0, 40), _spread(0.5, 50)),
    "bdtr bdtrc": (_whole(0, 20), _whole(20, 40), _UNIT),
    "nbdtr nbdtrc": (_whole(0, 20), _spread(0.5, 40), _UNIT),
    "hyp0f1": (_spread(0.2, 20), _even(-20, 50)),
    "hyp1f1": (_spread(0.2, 10), _spread(0.5, 20), _even(-20, 50)),
    "hyp2f1": (_spread(0.2, 5), _spread(0.2, 5), _spread(0.5, 10), _even(-5, 0.95)),
    "hyperu": (_spread(0.2, 10), _spread(0.5, 10), _spread(0.5, 50)),
    "zeta": (_even(1.1, 20), _spread(0.1, 50)),
    "binom": (_even(0.5, 60), _even(0.1, 30)),
    "poch": (_even(0.1, 40), _even(0.1, 40)),
    "ellipkinc ellipeinc": (_even(-1.5, 1.5), _even(-3, 0.99)),
    "agm": (_SHAPE, _SHAPE),
    "elliprc": (_SHAPE, _SHAPE),
    "elliprd elliprf elliprg": (_SHAPE, _SHAPE, _SHAPE),
    "elliprj": (_SHAPE, _SHAPE, _SHAPE, _SHAPE),
    "owens_t": (_even(-5, 5), _even(-5, 5)),
    "voigt_profile": (_even(-5, 5), _spread(0.1, 5), _spread(0.1, 5)),
    "xlog1py": (_even(-5, 5), _even(0, 5)),
    "kl_div rel_entr": (_UNIT, _UNIT),
}
#: Where large parameters are measured, besides.
LARGE: dict[str, tuple[Draw | str, ...]] = {
    "jv yv ive kv kve": (_even(200, 400), _even(20, 600)),
    "gammainc gammaincc": (_spread(1e3, 1e6), "gamma"),
    "betainc": (_spread(1e3, 1e5), _spread(0.5, 1e5), "beta"),
    "stdtr": (_spread(500, 1e5), "t"),
}
#: Functions whose parameters are numbers of the program: degrees, whole orders, branches.
STATIC = frozenset(
    "comb multigammaln polygamma expn lambertw spherical_in spherical_kn spherical_yn "
    "eval_chebyt eval_chebyu eval_gegenbauer eval_genlaguerre eval_hermite eval_hermitenorm "
    "eval_jacobi eval_laguerre eval_legendre".split()
)
#: The shapes of laws.
SHAPES: dict[str, tuple[Draw, ...]] = {
    "bernoulli": (_UNIT,),
    "beta": (_SHAPE, _SHAPE),
    "betabinom": (_whole(1, 40), _SHAPE, _SHAPE),
    "binom": (_whole(1, 40), _UNIT),
    "chi2": (_SHAPE,),
    "gamma": (_SHAPE,),
    "gennorm": (_spread(0.3, 8),),
    "geom": (_UNIT,),
    "lognorm": (_spread(0.1, 3),),
    "nbinom": (_spread(0.5, 40), _UNIT),
    "pareto": (_spread(0.5, 20),),
    "poisson": (_spread(0.5, 50),),
    "t": (_SHAPE,),
    "truncnorm": (_even(-4, 0), _even(0.1, 4)),
    "vonmises": (_spread(0.1, 20),),
    "weibull_min": (_spread(0.3, 8),),
    "wrapcauchy": (_even(0.05, 0.95),),
}


def report(*, quick: bool) -> list[str]:
    """The gradient in each parameter of each function, per element, beside the value."""
    rounds, elements = (3, _QUICK_ELEMENTS) if quick else (5, _ELEMENTS)
    with threadpool_limits(1):
        rows = [row for function in sampled(elements) for row in measured(function, rounds)]
    return [compared("Derivatives in parameters, value and gradient, per element", "value", rows)]


def measured(function: Sampled, rounds: int) -> list[Row]:
    """A row for each parameter in which the function has a derivative."""
    engine = Engine()
    program = engine.parse(f"sum(real({function.text}))")
    leaves = {name: Leaf(value) for name, value in function.values.items()}
    value = engine.call(program, leaves, Query("evaluate"))
    slopes = {
        name: engine.call(program, leaves, Query("gradient", sources=[name]))
        for name in function.parameters
    }
    slopes = {name: call for name, call in slopes.items() if _has_gradient(call)}
    (elements,) = {len(values) for values in function.values.values()}
    reference, *found = interleave(
        rounds, *[_timed(call, elements) for call in (value, *slopes.values())]
    )
    return [
        Row.of(f"{function.name}, {function.note}{name}", figures, reference, "us", ratio_bar=_BAR)
        for name, figures in zip(slopes, found, strict=True)
    ]


def _has_gradient(call: Call) -> bool:
    for _ in range(2):  # the second call generates code
        (gradient,) = call.replay(_go_on).gradients
    return gradient is not None


def _timed(call: Call, elements: int) -> Callable[[int], float]:
    """Microseconds that an element takes."""

    def measure(_: int) -> float:
        calls, start = 0, thread_time()
        while calls == 0 or thread_time() - start < _SECONDS:
            call.replay(_go_on)
            calls += 1
        return 1e6 * (thread_time() - start) / (calls * elements)

    return measure


def _go_on() -> None:
    """A deadline that never passes."""


class Sampled(NamedTuple):
    """A function, its operands in their order, the names of its parameters among them, a note."""

    name: str
    values: dict[str, Array]
    parameters: list[str]
    note: str = ""

    @property
    def text(self) -> str:
        """A program that calls it."""
        return f"{self.name}({', '.join(self.values)})"


def sampled(elements: int) -> Iterator[Sampled]:
    """Every function of the catalogue that has a real parameter, with values of its domain."""
    domains: dict[str, dict[str, tuple[Draw | str, ...]]] = {}
    for note, table in (("", SPECIAL), ("large ", LARGE)):
        for listed, draws in table.items():
            for one in listed.split():
                domains.setdefault(one, {})[note] = draws
    for entry in catalogue():
        name, names = entry["name"], list(entry["parameters"])
        rng = np.random.default_rng(7)
        if entry["family"] in FAMILIES and len(names) > 1 and name not in STATIC:
            for note, draws in domains[name].items():
                values: list[Array] = []
                for draw in draws:
                    values.append(
                        _of_law(draw, values, rng) if isinstance(draw, str) else draw(rng, elements)
                    )
                yield Sampled(name, dict(zip(names, values, strict=True)), names, note)
        used = [word for word in names if word not in ("loc", "scale")]
        if name.startswith(_LAWS) and "loc" in names and len(used) > 1:
            law, function = name.removeprefix(_LAWS).split(".")
            shapes = [draw(rng, elements) for draw in SHAPES[law]]
            quantile = function in ("ppf", "isf")
            first = _UNIT(rng, elements) if quantile else _of_law(law, shapes, rng)
            yield Sampled(name, dict(zip(used, [first, *shapes], strict=True)), used[1:])


def _of_law(law: str, shapes: list[Array], rng: np.random.Generator) -> Array:
    """Values of the law of these shapes."""
    given = [s.astype(int) if np.equal(s, np.floor(s)).all() else s for s in shapes]
    drawn = getattr(scipy.stats, law).rvs(*given, size=len(given[0]), random_state=rng)
    return np.asarray(drawn, float)
