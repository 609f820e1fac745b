"""Fit a model for forty penalties at once, on data that is sent once.

    python examples/regularisation_path.py [picture.png]

The data are stored as tensors and the loss as a program with a name, as a team would that shares
them. A step of a fit then sends some 400 bytes: the coefficients, and references to the rest. The
fits are ordinary asynchronous functions, and go on beside each other.
"""

import asyncio
import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import gradwire
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge

LOSS = "mean((x @ w - y)**2) + penalty * sum(w[1:]**2)"

data = load_diabetes()
x = np.column_stack([np.ones(len(data.data)), data.data * np.sqrt(len(data.data))])
y = (data.target - data.target.mean()) / data.target.std()
penalties = np.logspace(-3, 1, 40)


# One fit by Newton's method. The loss is a square, so the second step only confirms the first.


async def fit(client, loss, stored, penalty):
    w, sent = np.zeros(11), 0
    while True:
        point = {**stored, "w": w, "penalty": penalty}
        answer = await client.hessian(loss, point, sources="w")
        step = np.linalg.solve(answer.hessian, answer.gradients)
        w, sent = w - step, sent + len(answer.raw.request.content)
        if np.abs(step).max() < 1e-9:
            return w, sent


# All fits beside each other.


async def path():
    async with gradwire.AsyncClient(os.environ.get("GRADWIRE_URL", "local")) as client:
        loss = await client.programs.register(LOSS, name="ridge")
        x_stored, y_stored = await asyncio.gather(client.tensors.put(x), client.tensors.put(y))
        stored = {"x": x_stored, "y": y_stored}
        begin = perf_counter()
        fits = await asyncio.gather(*(fit(client, loss, stored, each) for each in penalties))
        return fits, perf_counter() - begin


fits, seconds = asyncio.run(path())
coefficients = np.array([w[1:] for w, _ in fits])
expected = np.array([Ridge(alpha=each * len(x)).fit(x[:, 1:], y).coef_ for each in penalties])
error = np.abs(coefficients - expected).max()
sent = sum(count for _, count in fits)

print(f"{len(x)} patients, {len(penalties)} fits beside each other in {seconds:.2f} s")
print(f"{(x.nbytes + y.nbytes) / 1000:.1f} kB of data sent once, {sent / 1000:.1f} kB by all fits")
print(f"off scikit-learn by {error:.0e}")

plt.style.use(Path(__file__).with_name("gradwire.mplstyle"))
figure, axes = plt.subplots(figsize=(8, 4))
for i, (name, line) in enumerate(zip(data.feature_names, coefficients.T, strict=True)):
    axes.semilogx(penalties, line, "-" if i < 6 else "--", label=name)
axes.set(title="Coefficients by the penalty on their squares", xlabel="penalty")
axes.legend(ncols=2, fontsize=8)
picture = (
    sys.argv[1] if len(sys.argv) > 1 else Path(tempfile.gettempdir(), "regularisation_path.png")
)
figure.savefig(picture)
print(f"\npicture: {picture}")
