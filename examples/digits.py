"""Train a neural network on handwritten digits: NumPy here, gradients from a service.

    python examples/digits.py [picture.png]

First step by step: each minibatch is a request, and Adam is a few lines of NumPy. Then the same
training as one function: what makes a step (the gradient, Adam) goes into ``gradwire.scan``, so
that the loop runs beside the data and the whole training is one request.
"""

import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import gradwire
import matplotlib.pyplot as plt
import numpy as np
from scipy.special import logsumexp
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

client = gradwire.Client(os.environ.get("GRADWIRE_URL", "local"))

x, labels = load_digits(return_X_y=True)
x_train, x_test, labels_train, labels_test = train_test_split(
    x / 16, labels, test_size=0.25, stratify=labels, random_state=0
)
y_train = np.eye(10)[labels_train]


# The network: 64 pixels, two hidden layers, 10 scores; its loss is the cross entropy.


def scores(params, x):
    h = np.maximum(x @ params["w1"] + params["b1"], 0)
    h = np.maximum(h @ params["w2"] + params["b2"], 0)
    return h @ params["w3"] + params["b3"]


def loss(params, x, y):
    s = scores(params, x)
    return np.mean(logsumexp(s, axis=1) - np.sum(s * y, axis=1))


def adam(state, slopes, rate=4e-3):
    t = state["t"] + 1
    after = {"t": t, "params": {}, "m": {}, "v": {}}
    for name, slope in slopes.items():
        m = after["m"][name] = 0.9 * state["m"][name] + 0.1 * slope
        v = after["v"][name] = 0.999 * state["v"][name] + 0.001 * slope**2
        move = rate * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        after["params"][name] = state["params"][name] - move
    return after


def accuracy(params):
    return np.mean(np.argmax(scores(params, x_test), axis=1) == labels_test)


rng = np.random.default_rng(0)
params = {}
for i, (m, n) in enumerate([(64, 128), (128, 64), (64, 10)], start=1):
    params[f"w{i}"] = rng.normal(scale=np.sqrt(2 / m), size=(m, n))
    params[f"b{i}"] = np.zeros(n)
nothing = {name: np.zeros_like(value) for name, value in params.items()}
start = {"t": 0.0, "params": params, "m": nothing, "v": nothing}

EPOCHS = 30
SIZE = 64
epochs = [rng.permutation(len(x_train))[: len(x_train) // SIZE * SIZE] for _ in range(EPOCHS)]
batches = np.concatenate(epochs).reshape(-1, SIZE)  # the rows of each minibatch


# Step by step.

value_and_grad = client.value_and_grad(loss)

begin = perf_counter()
state, losses, accuracies = start, [], []
for rows in batches:
    value, slopes = value_and_grad(state["params"], x_train[rows], y_train[rows])
    state = adam(state, slopes)
    losses.append(value)
seconds = perf_counter() - begin


# All at once.


def train(state, batches, x, y):
    def step(state, rows):
        value, slopes = gradwire.value_and_grad(loss)(state["params"], x[rows], y[rows])
        return adam(state, slopes), value

    return gradwire.scan(step, state, batches)


begin = perf_counter()
state_at_once, losses_at_once = gradwire.function(train, client)(start, batches, x_train, y_train)
seconds_at_once = perf_counter() - begin
params = state_at_once["params"]

print(f"{len(x_train)} digits to learn from, {EPOCHS} epochs of minibatches of {SIZE}")
print(f"{'':14} {'requests':>9} {'time':>9} {'test accuracy':>15}")
for name, requests, took, found in [
    ("step by step", len(batches), seconds, state["params"]),
    ("all at once", 1, seconds_at_once, params),
]:
    print(f"{name:14} {requests:9} {took:7.2f} s {accuracy(found):15.2%}")


# What it reads wrongly, and where ink would have spoken for the right digit: a gradient in the
# pixels, for all these images in one request.

read = np.argmax(scores(params, x_test), axis=1)
wrong = np.flatnonzero(read != labels_test)[:6]


def margin(x, right, instead):
    s = scores(params, x)
    return s[right] - s[instead]


ink = client.vmap(gradwire.grad(margin))(x_test[wrong], labels_test[wrong], read[wrong])

plt.style.use(Path(__file__).with_name("gradwire.mplstyle"))
figure = plt.figure(figsize=(11, 3.5))
left, right = figure.subfigures(1, 2, width_ratios=[1, 1.5])
axes = left.subplots()
axes.set(title="Training loss", xlabel="step", yscale="log")
axes.plot(losses, lw=1, label=f"{len(batches)} requests, {seconds:.1f} s")
each = slice(None, None, len(batches) // EPOCHS)
steps = np.arange(len(batches))
axes.plot(steps[each], losses_at_once[each], "o", ms=4, label=f"1 request, {seconds_at_once:.1f} s")
axes.legend()
title = (
    f"Wrongly read: {np.sum(read != labels_test)} of {len(x_test)}, and where ink would help (red)"
)
right.suptitle(title, x=0.02, ha="left", fontsize=11, fontweight="bold")
panels = right.subplots(2, len(wrong))
for (above, below), i, slope in zip(panels.T, wrong, ink, strict=True):
    above.imshow(x_test[i].reshape(8, 8), cmap="gray_r")
    above.set_title(f"{labels_test[i]}, read as {read[i]}", fontsize=9, fontweight="normal", x=0.12)
    limit = np.abs(slope).max()
    below.imshow(slope.reshape(8, 8), cmap="RdBu_r", vmin=-limit, vmax=limit)
    above.axis("off")
    below.axis("off")
picture = sys.argv[1] if len(sys.argv) > 1 else Path(tempfile.gettempdir(), "digits.png")
figure.savefig(picture)
print(f"\npicture: {picture}")
client.close()
