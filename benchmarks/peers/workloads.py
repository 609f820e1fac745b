"""The programs that all tools differentiate, their values, and the bars for Gradwire."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from math import inf
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = dict[str, NDArray[Any]]
Draw = np.random.Generator

ROSENBROCK = "sum(100.0 * (x[1:] - x[:-1]**2)**2 + (1.0 - x[:-1])**2)"
CHAIN = """
a = sin(x)
b = a * x
c = tanh(b)
d = c + a
e = exp(-d)
f = e * c
g = f + x
h = sqrt(g * g + 1.0)
sum(h - b)
"""
MLP = """
h1 = tanh(x @ w1 + b1)
h2 = tanh(h1 @ w2 + b2)
logits = h2 @ w3 + b3
mean(logsumexp(logits, axis=1) - sum(labels * logits, axis=1))
"""
GMM = """
k, d = means.shape
diagonal = exp(logs)
factors = concatenate([zeros_like(diagonal[:, :1]), diagonal, lower], axis=1)[:, index]
whitened = swapaxes((x - means[:, None, :]) @ swapaxes(factors, 1, 2), 0, 1)
terms = alpha + sum(logs, axis=1) - sum(whitened**2, axis=2) / 2
prior = (sum(diagonal**2) + sum(lower**2)) / 2 - sum(logs)
sum(logsumexp(terms, axis=1)) - len(x) * logsumexp(alpha) + prior
"""
LSTM = """
layers = len(state) // 2
hidden = [state[2 * i] for i in range(layers)]
cell = [state[2 * i + 1] for i in range(layers)]
loss = 0.0
for t in range(len(sequence) - 1):
    x = sequence[t] * extra[0]
    for i in range(layers):
        weight, bias = gates[i]
        forget = sigmoid(x * weight[0] + bias[0])
        write = sigmoid(hidden[i] * weight[1] + bias[1])
        read = sigmoid(x * weight[2] + bias[2])
        change = tanh(hidden[i] * weight[3] + bias[3])
        cell[i] = cell[i] * forget + write * change
        hidden[i] = read * tanh(cell[i])
        x = hidden[i]
    predicted = x * extra[1] + extra[2]
    loss -= sum(sequence[t + 1] * (predicted - log(2.0 + sum(exp(predicted)))))
loss
"""
HESSIAN = "sum(tanh(a @ x)**2) + sum(x**4)"
LOGISTIC = "sum(logaddexp(0.0, -y * (x @ w)))"
CHOLESKY = """
factor = cholesky(covariance)
sum(solve_triangular(factor, y, lower=True)**2) / 2 + sum(log(diagonal(factor)))
"""
ODEINT = """
def slope(y, t):
    return stack([alpha * y[0] - beta * y[0] * y[1], delta * y[0] * y[1] - kappa * y[1]])


sum(odeint(slope, start, times)**2)
"""
#: The initial numbers of predators and prey, their rates, and the step size.
RATES = {"prey": 1.0, "predators": 0.5, "alpha": 0.6, "beta": 1.3, "delta": 1.0, "kappa": 0.9}
STEP = 0.01


class Workload(NamedTuple):
    """A program, its values at the measured sizes, and the bar on the ratio.

    ``objective`` is the name of the tools' function; ``small`` are the sizes for tests.
    """

    what: str
    objective: str
    text: Callable[[Mapping[str, int]], str]
    values: Callable[..., Values]
    sources: tuple[str, ...]
    sizes: Mapping[str, int]
    small: Mapping[str, int]
    bar: float
    #: The maximum for the first call in ms; every workload also has a maximum of a tenth of JAX's.
    first_bar: float = 5.0
    dtype: str = "float64"
    #: The error that is allowed, relative to the largest element; 0 is that of the dtype.
    error: float = 0.0
    kind: Literal["gradient", "hessian"] = "gradient"

    def drawn(self, sizes: Mapping[str, int]) -> Values:
        """Values of these sizes, the same in every process."""
        values: Values = self.values(np.random.default_rng(0), **sizes)
        return {
            name: value.astype(self.dtype) if value.dtype.kind == "f" else value
            for name, value in values.items()
        }

    def problem(self, *, small: bool = False) -> Problem:
        """The workload at the measured sizes, or at those for tests."""
        return self.sized(self.small if small else self.sizes)

    def sized(self, sizes: Mapping[str, int]) -> Problem:
        """The workload at other sizes."""
        static = {"steps": sizes["steps"]} if "steps" in sizes else {}
        return Problem(self, self.text(sizes), self.drawn(sizes), static)

    @property
    def rtol(self) -> float:
        """The tolerance relative to the largest element, to compare with the result by hand."""
        if self.error:
            return self.error
        return 1e-9 if self.dtype == "float64" else 1e-4


class Problem(NamedTuple):
    """A workload with values; ``static`` are further parameters of the functions."""

    row: Workload
    text: str
    values: Values
    static: Mapping[str, int]


def _vector(draw: Draw, n: int) -> Values:
    return {"x": draw.normal(size=n)}


def _mlp(draw: Draw, n: int, inputs: int, first: int, second: int, classes: int) -> Values:
    widths = (inputs, first, second, classes)
    weights = {
        f"w{i}": draw.normal(size=(rows, columns)) / rows**0.5
        for i, (rows, columns) in enumerate(pairwise(widths), 1)
    }
    biases = {f"b{i}": draw.normal(size=width) for i, width in enumerate(widths[1:], 1)}
    x = {"x": draw.normal(size=(n, inputs)), "labels": np.eye(classes)[np.arange(n) % classes]}
    return x | weights | biases


def _gmm(draw: Draw, n: int, k: int, d: int) -> Values:
    index = np.zeros((d, d), np.int64)  # a zero, the diagonal and the entries below it, in one row
    index[np.diag_indices(d)] = 1 + np.arange(d)
    below = np.tril_indices(d, -1)
    index[below] = 1 + d + np.arange(len(below[0]))
    shapes = {"alpha": (k,), "means": (k, d), "logs": (k, d), "lower": (k, len(below[0]))}
    drawn = {name: draw.normal(size=shape) for name, shape in shapes.items()}
    return {"x": draw.normal(size=(n, d)), "index": index} | drawn


def _lstm(draw: Draw, layers: int, length: int, width: int) -> Values:
    text = np.eye(width)[draw.integers(width, size=length)]
    shapes = {"gates": (layers, 2, 4, width), "extra": (3, width), "state": (2 * layers, width)}
    return {"sequence": text} | {k: draw.normal(size=shape) for k, shape in shapes.items()}


def runge_kutta(sizes: Mapping[str, int]) -> str:
    """Unrolled classical Runge-Kutta steps for predators and prey: 58 scalar operations each.

    Three more compute the squared distance at the end.
    """
    slopes = (
        "p{0} = alpha * u{1} - beta * u{1} * v{1}",
        "q{0} = delta * u{1} * v{1} - kappa * v{1}",
    )
    step = [line.format(1, "") for line in slopes]
    for stage, length in ((2, "half"), (3, "half"), (4, "whole")):
        step += [f"{x}{stage} = {x} + {length} * {k}{stage - 1}" for x, k in ("up", "vq")]
        step += [line.format(stage, stage) for line in slopes]
    mean = "{0} = {0} + sixth * ({1}1 + 2.0 * {1}2 + 2.0 * {1}3 + {1}4)"
    step += [mean.format(*names) for names in ("up", "vq")]
    lengths = f"half, whole, sixth = {STEP / 2}, {STEP}, {STEP / 6}"
    return "\n".join(["u, v = prey, predators", lengths, *(sizes["steps"] * step), "u * u + v * v"])


def _predators(_: Draw, steps: int) -> Values:
    return {name: np.asarray(number) for name, number in RATES.items()}


def _orbit(_: Draw, n: int) -> Values:
    rates = {name: np.asarray(RATES[name]) for name in ("alpha", "beta", "delta", "kappa")}
    start = np.array([RATES["prey"], RATES["predators"]])
    return {"start": start, "times": np.linspace(0, 10, n), **rates}


def _hessian(draw: Draw, n: int) -> Values:
    return {"a": draw.normal(size=(n, n)), "x": draw.normal(size=n)}


def _logistic(draw: Draw, n: int, d: int) -> Values:
    x, w = draw.normal(size=(n, d)), draw.normal(size=d)
    return {"x": x, "y": np.sign(x @ w + draw.normal(size=n)), "w": w}


def _normal(draw: Draw, n: int) -> Values:
    root = draw.normal(size=(n, n)) / n**0.5
    return {"covariance": root @ root.T + np.eye(n), "y": draw.normal(size=n)}


def _always(text: str) -> Callable[[Mapping[str, int]], str]:
    return lambda _: text


def _rows() -> list[Workload]:
    tiny = {"n": 6, "inputs": 5, "first": 4, "second": 3, "classes": 2}
    network = {"n": 128, "inputs": 784, "first": 256, "second": 128, "classes": 10}
    layers = ("w1", "w2", "w3", "b1", "b2", "b3")
    million, ten, fifty, rates = {"n": 1_000_000}, {"n": 10}, {"n": 50}, tuple(RATES)
    chain = ("chain", _always(CHAIN), _vector, ("x",))
    valley = ("rosenbrock", _always(ROSENBROCK), _vector, ("x",))
    perceptron = ("mlp", _always(MLP), _mlp, layers, network, tiny, 1.05, 5.0)
    orbit = ("runge_kutta", runge_kutta, _predators, rates)
    adaptive = ("odeint", _always(ODEINT), _orbit, ("start", *rates[2:]))
    mixture = ("gmm", _always(GMM), _gmm, ("alpha", "means", "logs", "lower"))
    mixtures = {"n": 1000, "k": 25, "d": 10}, {"n": 7, "k": 3, "d": 4}
    recurrent = ("lstm", _always(LSTM), _lstm, ("gates", "extra"))
    texts = {"layers": 2, "length": 1025, "width": 14}, {"layers": 2, "length": 6, "width": 3}
    matrix = ("hessian", _always(HESSIAN), _hessian, ("x",))
    logistic = ("logistic", _always(LOGISTIC), _logistic, ("w",))
    points = {"n": 10_000, "d": 100}, {"n": 9, "d": 4}
    normal = ("cholesky", _always(CHOLESKY), _normal, ("covariance", "y"))
    return [
        Workload("Rosenbrock, n = 10", *valley, ten, ten, 0.8),
        Workload("Rosenbrock, n = 1,000,000", *valley, million, ten, 0.5),
        Workload("12 elementwise, n = 1,000,000", *chain, million, ten, 0.4),
        Workload("MLP 784-256-128-10, float32", *perceptron, "float32"),
        Workload("MLP 784-256-128-10, float64", *perceptron),
        Workload("GMM, d = 10, k = 25, n = 1,000", *mixture, *mixtures, 1.1),
        Workload("LSTM, 2 layers, 1,024 steps of 14", *recurrent, *texts, 1.1),
        Workload("RK4, 1,163 scalar operations", *orbit, {"steps": 20}, {"steps": 2}, 2.0, 25.0),
        Workload("RK4, 5,803 scalar operations", *orbit, {"steps": 100}, {"steps": 3}, 2.0, inf),
        Workload("odeint, 50 times", *adaptive, fifty, ten, 0.5, 100.0, error=1e-5),
        Workload("Hessian, n = 50", *matrix, fifty, ten, 1.5, kind="hessian"),
        Workload("logistic, 10,000 x 100", *logistic, *points, 1.1),
        Workload("Cholesky likelihood, n = 200", *normal, {"n": 200}, ten, 1.5),
    ]


WORKLOADS = {row.what: row for row in _rows()}
