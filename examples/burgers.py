"""Teach a neural network physics: it solves Burgers' equation, having seen no solution.

    python examples/burgers.py [picture.png]

The network gives u at a point; its loss is what u_t + u u_x = ν u_xx leaves at 512 points. So the
loss holds first and second derivatives of the network in its inputs, mapped over points, and is
itself differentiated in the weights: three levels of derivatives, one request. The formula of
Cole and Hopf shows how right it is.
"""

import os
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from time import perf_counter

import gradwire
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize
from scipy.stats import qmc

client = gradwire.Client(os.environ.get("GRADWIRE_URL", "local"))

VISCOSITY = 0.02
SIZES = [2, 16, 16, 16, 1]
STEPS = 600


def u(theta, x, t):
    """The network at a point; whatever its weights, it has the initial and boundary values."""
    h, begin = np.stack([x, 2 * t - 1]), 0
    for m, n in pairwise(SIZES):
        weights = np.reshape(theta[begin : begin + m * n], (m, n))
        h = h @ weights + theta[begin + m * n : begin + m * n + n]
        h = np.tanh(h) if n > 1 else h[0]
        begin += m * n + n
    return t * (1 - x**2) * h - np.sin(np.pi * x)


def residual(theta, x, t):
    u_x, u_t = gradwire.grad(u, (1, 2))(theta, x, t)
    u_xx = gradwire.grad(gradwire.grad(u, 1), 1)(theta, x, t)
    return u_t + u(theta, x, t) * u_x - VISCOSITY * u_xx


def loss(theta, x, t):
    return np.mean(gradwire.vmap(residual, in_axes=(None, 0, 0))(theta, x, t) ** 2)


# Where the equation must hold, and weights to begin with.

x, t = qmc.scale(qmc.Sobol(2, seed=0).random(512), [-1, 0], [1, 1]).T
rng = np.random.default_rng(0)
begin_with = [
    part
    for m, n in pairwise(SIZES)
    for part in (rng.normal(scale=np.sqrt(2 / (m + n)), size=m * n), np.zeros(n))
]

value_and_grad = client.value_and_grad(loss)
losses = []


def asked(theta):
    value, slope = value_and_grad(theta, x, t)
    losses.append(value)
    return value, slope


begin = perf_counter()
fit = minimize(
    asked,
    np.concatenate(begin_with),
    jac=True,
    method="L-BFGS-B",
    options={"maxiter": STEPS, "maxcor": 50, "ftol": 0, "gtol": 0},
)
seconds = perf_counter() - begin


# How right it is.


def exact(x, t):
    """Cole and Hopf: an average over where a diffusing particle came from, by Gauss's points."""
    z, weights = np.polynomial.hermite.hermgauss(60)
    origin = x[:, None] - np.sqrt(4 * VISCOSITY * t[:, None]) * z
    density = weights * np.exp(-np.cos(np.pi * origin) / (2 * np.pi * VISCOSITY))
    return -np.sum(density * np.sin(np.pi * origin), axis=1) / np.sum(density, axis=1)


across, times = np.linspace(-1, 1, 201), np.linspace(0, 1, 101)
grid = [axis.ravel() for axis in np.meshgrid(across, times)]
found = client.vmap(u, in_axes=(None, 0, 0))(fit.x, *grid)
truth = exact(*grid)
error = np.linalg.norm(found - truth) / np.linalg.norm(truth)

print(f"{len(fit.x)} weights, {len(x)} points, {len(losses)} requests")
print(f"{seconds:.1f} s, {1000 * seconds / len(losses):.1f} ms each")
print(f"loss {losses[0]:.2g} → {fit.fun:.1e}")
print(f"off the exact solution by {error:.2%}")

plt.style.use(Path(__file__).with_name("gradwire.mplstyle"))
figure, panels = plt.subplots(1, 3, figsize=(11, 3.6), width_ratios=[1.5, 1.2, 1])
surface = panels[0].contourf(
    times, across, found.reshape(101, 201).T, levels=np.linspace(-1, 1, 21), cmap="RdBu_r"
)
panels[0].plot(t, x, ".", color="black", ms=1.5, alpha=0.4)
panels[0].set(title="What the network found", xlabel="t", ylabel="x")
panels[0].grid(False)
figure.colorbar(surface, ax=panels[0], ticks=[-1, 0, 1])
for i, row in enumerate((0, 25, 50, 100)):
    here = slice(201 * row, 201 * (row + 1))
    panels[1].plot(across, truth[here], color="gray", lw=4, alpha=0.3)
    panels[1].plot(across, found[here], color=f"C{i}", lw=1.4, label=f"t = {times[row]:g}")
panels[1].set(title="Beside the exact solution (grey)", xlabel="x", ylabel="u")
panels[1].legend(fontsize=8)
panels[2].plot(losses, lw=1)
panels[2].set(title="Loss", xlabel="request", yscale="log")
picture = sys.argv[1] if len(sys.argv) > 1 else Path(tempfile.gettempdir(), "burgers.png")
figure.savefig(picture)
print(f"\npicture: {picture}")
client.close()
