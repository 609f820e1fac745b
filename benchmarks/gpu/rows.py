"""The rows of the report: each makes its cases when it is asked for, since their arrays are large.

All inputs are drawn at ``scale`` times their size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any, TypeAlias

import numpy as np
from peers import by_hand, objectives
from peers.workloads import CHAIN, RATES, WORKLOADS, Problem, Values, runge_kutta

from gpu import forward, small, tools
from gpu.cases import Case, Prepare
from gpu.devices import Device
from gpu.overlap import overlap
from gpu.twelve import twelve

Rows: TypeAlias = Callable[[Device, float, bool], Iterator[Case]]
_EXACT, _SINGLE = 1e-9, 1e-3
#: Elements or points that one thread computes at once for the expected result.
_CHUNK = 10_000


def chain(device: Device, scale: float, quick: bool) -> Iterator[Case]:
    """12 elementwise operations on 10⁸ numbers: the values, then the sum and its gradient."""
    row = WORKLOADS["12 elementwise, n = 1,000,000"]._replace(dtype="float32")
    problem = row.sized({"n": int(1e8 * scale)})
    x = problem.values["x"]
    moved = 2 * x.nbytes  # x is read, and as much is written

    @cache
    def expected() -> Sequence[Any]:
        parts = _in_threads(by_hand.chain, _chunks(x))
        return [sum(part[0] for part in parts), np.concatenate([part[1] for part in parts])]

    def values() -> Sequence[Any]:
        namespace: Any = np
        return [np.concatenate(_in_threads(partial(objectives.links, namespace), _chunks(x)))]

    def copying() -> Callable[[], Sequence[Any]]:
        source, target = device.xp.asarray(x), device.xp.empty_like(x)

        def run() -> Sequence[Any]:
            device.xp.copyto(target, source)
            device.synchronize()
            return ()

        return run

    floor = "the floor: a copy"
    what = f"12 elementwise, n = {len(x):,}, float32"
    unsummed = CHAIN.replace("sum(h - b)", "h - b")
    made = forward.tools(device, unsummed, _links, problem.values, "compiled")
    yield Case(
        f"{what}: values", {floor: copying, **made}, values, _SINGLE, moved, frozenset({floor})
    )
    made = {floor: copying, **_all(device, problem)}
    yield Case(f"{what}: sum and gradient", made, expected, _SINGLE, moved, frozenset({floor}))
    yield Case(
        f"{what}: sum and gradient, from and to the host",
        {
            "gradwire": lambda: tools.gradwire(
                device, problem.text, problem.values, row.sources, stay=False
            ),
            "jax": lambda: tools.jax(problem, stay=False),
            "torch, eager": lambda: tools.torch(device, problem, stay=False),
        },
        expected,
        _SINGLE,
        moved,
    )


def mlp(device: Device, scale: float, quick: bool) -> Iterator[Case]:
    """The loss of a network and the gradients of all its weights."""
    row = WORKLOADS["MLP 784-256-128-10, float32"]
    sizes = {"n": int(4096 * scale) or 1, "first": 512, "second": 512}
    problem = row.sized({**row.sizes, **sizes})
    yield Case(
        f"MLP 784-512-512-10, batch {sizes['n']:,}, float32",
        _all(device, problem),
        lambda: by_hand.mlp(**_exact(problem.values)),
        _SINGLE,
    )


def gmm(device: Device, scale: float, quick: bool) -> Iterator[Case]:
    """The logarithm of a Gaussian mixture's likelihood."""
    for dtype, rtol in (("float64", _EXACT), ("float32", _SINGLE)):
        row = WORKLOADS["GMM, d = 10, k = 25, n = 1,000"]._replace(dtype=dtype)
        problem = row.sized({**row.sizes, "n": int(1e6 * scale)})
        what = f"GMM, d = 10, k = 25, n = {len(problem.values['x']):,}, {dtype}"
        yield Case(what, _all(device, problem), partial(_mixture, problem), rtol)


def ode(device: Device, scale: float, quick: bool) -> Iterator[Case]:
    """Many pairs of predators and prey, by the classical Runge-Kutta method."""
    many, steps = int(10_000 * scale) or 1, int(1000 * scale) or 2
    draw = np.random.default_rng(0)
    values = {name: rate * draw.uniform(0.8, 1.2, size=many) for name, rate in RATES.items()}
    row = WORKLOADS["RK4, 1,163 scalar operations"]
    problem = Problem(row, _loop(steps), values, {"steps": steps})

    def each(xp: Any, steps: int, **named: Any) -> Any:
        import jax

        names = list(named)
        orbit = jax.vmap(
            lambda *numbers: objectives.runge_kutta(
                xp, **dict(zip(names, numbers, strict=True)), steps=steps
            )
        )
        return orbit(*named.values()).sum()

    def expected() -> Sequence[Any]:
        value, *gradients = by_hand.orbits(values.values(), steps)
        return [value.sum(), *gradients]

    yield Case(
        f"{many:,} Lotka-Volterra equations, {steps:,} steps, float64",
        _all(device, problem) | {"jax": lambda: tools.jax(problem, objective=each)},
        expected,
        1e-8,
    )


def halves(device: Device, scale: float, quick: bool) -> Iterator[Case]:
    """A product of matrices that are rounded to half precision."""
    n = int(8192 * scale) or 1
    draw = np.random.default_rng(0)
    values = {name: draw.normal(size=(n, n)).astype(np.float32) for name in "ab"}
    for dtype in ("float16", "bfloat16"):
        a, b = (f"astype({name}, '{dtype}')" for name in "ab")
        text = f"astype({a} @ {b}, 'float32')"
        made = forward.tools(device, text, partial(_half_product, dtype), values, "compiled")
        if dtype == "bfloat16":  # which NumPy and CuPy have not
            del made[f"{device.xp.__name__}, eager"]
        yield Case(
            f"{n:,} x {n:,}, a product of {dtype}",
            made,
            lambda: [values["a"].astype(np.float64) @ values["b"].astype(np.float64)],
            1e-2,
        )


def instructions(device: Device, scale: float, quick: bool) -> Iterator[Case]:
    """Many small instructions, as a captured tape and as one call each."""
    for products in (False, True):
        text, values = small.program(int(1000 * scale) or 10, products=products)
        among = "a third of them matrix products" if products else "elementwise"
        yield Case(
            f"{text.count(chr(10)):,} instructions on 1,000 elements, {among}, float64",
            forward.tools(device, text, small.form(text), values, "captured"),
            partial(small.answer, text, values),
            _EXACT,
        )


def _all(device: Device, problem: Problem) -> dict[str, Prepare]:
    """The tools that differentiate."""
    row = problem.row
    return {
        "gradwire": lambda: tools.gradwire(device, problem.text, problem.values, row.sources),
        "jax": lambda: tools.jax(problem),
        "torch, eager": lambda: tools.torch(device, problem),
        "torch, compiled": lambda: tools.torch(device, problem, compiled=True),
    }


def _links(xp: Any) -> Callable[[Mapping[str, Any]], Any]:
    return lambda values: objectives.links(xp, values["x"])


def _half_product(dtype: str, xp: Any) -> Callable[[Mapping[str, Any]], Any]:
    def product(values: Mapping[str, Any]) -> Any:
        if xp.__name__ == "torch":
            kind = getattr(xp, dtype)
            return (values["a"].to(kind) @ values["b"].to(kind)).to(xp.float32)
        options = {"precision": "default"} if xp.__name__.startswith("jax") else {}
        a, b = (values[name].astype(dtype) for name in "ab")
        return xp.matmul(a, b, **options).astype("float32")

    return product


def _loop(steps: int) -> str:
    """The steps of Runge-Kutta's method as a loop, and the sum of what they end in."""
    start, lengths, *step, end = runge_kutta({"steps": 1}).splitlines()
    loop = [f"for step in range({steps}):", *(f"    {line}" for line in step)]
    return "\n".join([start, lengths, *loop, f"sum({end})"])


def _mixture(problem: Problem) -> Sequence[Any]:
    """By hand, in parts of the points: what does not depend on them is in each, and taken off."""
    given = _exact(problem.values)
    x = given.pop("x")
    parts = _in_threads(lambda each: by_hand.gmm(x=each, **given), _chunks(x))
    apart = by_hand.gmm(x=x[:0], **given)
    columns = zip(*parts, strict=True)
    return [
        sum(column) - (len(parts) - 1) * each for column, each in zip(columns, apart, strict=True)
    ]


def _chunks(x: Any) -> list[Any]:
    return np.array_split(x.astype(np.float64), -(-len(x) // _CHUNK))


def _in_threads(function: Callable[[Any], Any], parts: Sequence[Any]) -> list[Any]:
    with ThreadPoolExecutor() as pool:
        return [*pool.map(function, parts)]


def _exact(values: Values) -> Values:
    """The same numbers in double precision."""
    return {
        name: value.astype(np.float64) if value.dtype.kind == "f" else value
        for name, value in values.items()
    }


ROWS: dict[str, Rows] = {
    "chain": chain,
    "mlp": mlp,
    "gmm": gmm,
    "ode": ode,
    "halves": halves,
    "instructions": instructions,
    "overlap": overlap,
    "gradbench": twelve,
}
