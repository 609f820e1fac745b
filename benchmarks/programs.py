"""Programs for benchmarks, and values for their variables; every seed gives a new text."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple

import numpy as np
from gradwire_engine.answer import Leaf
from peers.workloads import ROSENBROCK

_UNARY = "sin cos tanh arctan abs square negative".split()
_BINARY = "add subtract multiply maximum".split()
#: The lines that a chain repeats; each has its own constants, so no text occurs twice.
_LINKS = ("sin({0})", "{0} * x", "{0} + {1}", "tanh({0})", "{1} * {0}")
_LENGTH = 20


class Case(NamedTuple):
    """A program and values of its variables, for a gradient by all of them."""

    text: str
    variables: dict[str, Leaf]


Maker = Callable[[int], Case]


def random_case(nodes: int, *, scalar: bool = False) -> Maker:
    """A program of ``nodes`` operations, on all of which the result depends.

    It mixes arrays and scalars, unless ``scalar`` is set.
    """

    def make(seed: int) -> Case:
        random = Random(seed)
        shapes = {
            "s": (),
            "t": (),
            "u": () if scalar else (_LENGTH,),
            "v": () if scalar else (_LENGTH,),
        }
        axes = {name: len(shape) for name, shape in shapes.items()}
        lines: list[str] = []
        unread = list(shapes)
        closing = 2 * len(shapes) - 1
        for number in range(nodes - closing):
            read = unread.pop(random.randrange(len(unread)))
            name = f"{random.choice('abcdefg')}{number}"
            kind = random.random()
            if kind < 0.1 and axes[read]:
                lines.append(f"{name} = mean({read})")
                axes[name] = 0
            elif kind < 0.5:
                lines.append(f"{name} = {random.choice(_UNARY)}({read})")
                axes[name] = axes[read]
            else:
                other = random.choice(list(axes))
                lines.append(f"{name} = {random.choice(_BINARY)}({read}, {other})")
                axes[name] = max(axes[read], axes[other])
            unread.append(name)
        lines.append(" + ".join(f"sum({name})" for name in unread))
        values = np.random.default_rng(seed)
        drawn = {
            name: Leaf(np.asarray(values.uniform(-1, 1, shape))) for name, shape in shapes.items()
        }
        return Case("\n".join(lines), drawn)

    return make


def chain(nodes: int) -> Maker:
    """A chain of operations, each on the result of the previous one."""

    def make(seed: int) -> Case:
        random = Random(seed)
        links = (
            _LINKS[number % len(_LINKS)].format("r", f"{random.random():.4f}")
            for number in range(nodes - 1)
        )
        lines = ["r = x", *(f"r = {link}" for link in links), "sum(r)"]
        return Case("\n".join(lines), {"x": Leaf(np.linspace(-1, 1, 10))})

    return make


def runge_kutta(seed: int) -> Case:
    """Sixteen unrolled classical Runge-Kutta steps for predators and prey, in scalars."""
    slopes = "p{0} = alpha * u{0} - beta * u{0} * v{0}\nq{0} = delta * u{0} * v{0} - kappa * v{0}"
    within = "u{0} = u + {1} * p{2}\nv{0} = v + {1} * q{2}"
    mean = "{0} = {0} + h / 6 * ({1}1 + 2 * {1}2 + 2 * {1}3 + {1}4)"
    step = ["u1 = u\nv1 = v", slopes.format(1)]
    for stage, length in ((2, "0.5 * h"), (3, "0.5 * h"), (4, "h")):
        step += [within.format(stage, length, stage - 1), slopes.format(stage)]
    step += [mean.format("u", "p"), mean.format("v", "q")]
    lines = [f"h = 0.0{seed + 1}", *(16 * step), "(u - 1.0)**2 + v**2"]
    given = {"u": 1.0, "v": 0.5, "alpha": 0.6, "beta": 1.3, "delta": 1.0, "kappa": 0.9}
    return Case("\n".join(lines), {name: Leaf(np.asarray(x)) for name, x in given.items()})


def scalar_terms(seed: int) -> Case:
    """Rosenbrock's function of 300 variables as a list of 299 expressions of elements."""
    terms = [f"100 * (x[{i + 1}] - x[{i}]**2)**2 + (1.0 - x[{i}])**2" for i in range(299)]
    text = f"sum(stack([{', '.join(terms)}])) + 0.00{seed + 1}"
    return Case(text, {"x": Leaf(_normal(seed, (300,)))})


def unrolled_gru(seed: int) -> Case:
    """Fifty unrolled steps of a gated recurrent unit of 8 states with 4 inputs."""
    cell = """
def cell(h, x):
  z = sigmoid(wz @ x + uz @ h + bz)
  r = sigmoid(wr @ x + ur @ h + br)
  c = tanh(wc @ x + uc @ (r * h) + bc)
  return (1.0 - z) * h + z * c

h = h0
"""
    lines = [f"h = cell(h, xs[{i}])" for i in range(50)]
    shapes: dict[str, tuple[int, ...]] = {
        "wz": (8, 4),
        "wr": (8, 4),
        "wc": (8, 4),
        "uz": (8, 8),
        "ur": (8, 8),
        "uc": (8, 8),
    }
    shapes |= {"bz": (8,), "br": (8,), "bc": (8,), "h0": (8,), "xs": (50, 4)}
    given = {name: Leaf(0.3 * _normal(seed, shape)) for name, shape in shapes.items()}
    return Case("\n".join([cell, *lines, f"sum(h * h) + 0.00{seed + 1}"]), given)


def mlp(seed: int) -> Case:
    """The softmax cross entropy of a perceptron with two hidden layers, with weight decay."""
    text = f"""
h1 = tanh(x @ w1 + b1)
h2 = tanh(h1 @ w2 + b2)
logits = h2 @ w3 + b3
logp = logits - logsumexp(logits, axis=1, keepdims=True)
decay = sum(w1**2) + sum(w2**2) + sum(w3**2)
-mean(sum(labels * logp, axis=1)) + 0.00{seed + 1} * decay
"""
    labels = np.eye(4)[np.arange(16) % 4]
    layers = {"w1": (8, 12), "b1": (12,), "w2": (12, 12), "b2": (12,), "w3": (12, 4), "b3": (4,)}
    given = {
        "x": Leaf(_normal(seed, (16, 8)), trainable=False),
        "labels": Leaf(labels, trainable=False),
    }
    return Case(text, given | {name: Leaf(_normal(seed, shape)) for name, shape in layers.items()})


def mixture(seed: int) -> Case:
    """The log-likelihood of a mixture of normal distributions with diagonal covariances."""
    text = f"""
logw = alpha - logsumexp(alpha)
z = (x[:, None, :] - mu) * exp(-logs)
logn = -0.5 * sum(z**2, axis=-1) - sum(logs, axis=-1) - {seed + 1}.0 * log(2 * pi)
sum(logsumexp(logw + logn, axis=1))
"""
    shapes = {"alpha": (3,), "mu": (3, 2), "logs": (3, 2)}
    given = {"x": Leaf(_normal(seed, (50, 2)), trainable=False)}
    return Case(text, given | {name: Leaf(_normal(seed, shape)) for name, shape in shapes.items()})


def rosenbrock(seed: int) -> Case:
    """Rosenbrock's valley with a width that depends on the seed."""
    text = ROSENBROCK.replace("100.0", f"10{seed}.0")
    return Case(text, {"x": Leaf(_normal(seed, (10,)))})


def _normal(seed: int, shape: tuple[int, ...]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.random.default_rng(seed).normal(size=shape)
