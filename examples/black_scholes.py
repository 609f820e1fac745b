"""Price 100,000 options and take nine Greeks of each, to second order, in one request.

    python examples/black_scholes.py [picture.png]

The price is Black and Scholes's formula as a plain NumPy function of arrays. Every Greek is a
derivative of it: nobody wrote vanna or volga down. The closed forms, from a textbook, check them.
"""

import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import gradwire
import matplotlib.pyplot as plt
import numpy as np
from scipy.special import ndtr
from scipy.stats import norm

client = gradwire.Client(os.environ.get("GRADWIRE_URL", "local"))


def price(spot, strike, years, rate, volatility):
    """A European call: the right to buy at the strike when the years have passed."""
    spread = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + rate * years) / spread + spread / 2
    return spot * ndtr(d1) - strike * np.exp(-rate * years) * ndtr(d1 - spread)


# A gradient is that of the sum over all options; since none depends on another's arguments, it
# holds each option's own derivative. Derivatives of derivatives nest.


def greeks(spot, strike, years, rate, volatility):
    point = (spot, strike, years, rate, volatility)
    value, (delta, decay, rho, vega) = gradwire.value_and_grad(price, (0, 2, 3, 4))(*point)
    gamma, charm, vanna = gradwire.grad(gradwire.grad(price, 0), (0, 2, 4))(*point)
    volga = gradwire.grad(gradwire.grad(price, 4), 4)(*point)
    return {
        "price": value,
        "delta": delta,
        "gamma": gamma,
        "vega": vega,
        "theta": -decay,
        "rho": rho,
        "vanna": vanna,
        "charm": -charm,
        "volga": volga,
    }


# The options: 400 spots by 250 maturities.

spots, maturities = np.linspace(60, 140, 400), np.linspace(0.05, 2, 250)
spot, years = (grid.ravel() for grid in np.meshgrid(spots, maturities))
strike, rate, volatility = (np.full(spot.shape, value) for value in (100.0, 0.03, 0.25))
options = (spot, strike, years, rate, volatility)

ask = gradwire.function(greeks, client)
times = []
for _ in range(4):  # the first request brings the program, the others only options
    begin = perf_counter()
    found = ask(*options)
    times.append(perf_counter() - begin)


# What the textbook says.

root = np.sqrt(years)
d1 = (np.log(spot / strike) + (rate + volatility**2 / 2) * years) / (volatility * root)
d2 = d1 - volatility * root
discounted = strike * np.exp(-rate * years)
closed = {
    "price": spot * norm.cdf(d1) - discounted * norm.cdf(d2),
    "delta": norm.cdf(d1),
    "gamma": norm.pdf(d1) / (spot * volatility * root),
    "vega": spot * norm.pdf(d1) * root,
    "theta": -spot * norm.pdf(d1) * volatility / (2 * root) - rate * discounted * norm.cdf(d2),
    "rho": years * discounted * norm.cdf(d2),
    "vanna": -norm.pdf(d1) * d2 / volatility,
    "charm": -norm.pdf(d1) * (rate / (volatility * root) - d2 / (2 * years)),
    "volga": spot * norm.pdf(d1) * root * d1 * d2 / volatility,
}
errors = {name: np.abs(found[name] - exact).max() for name, exact in closed.items()}

seconds = min(times)
values = sum(map(np.size, found.values()))
print(f"{len(spot):,} options, {len(found)} numbers of each: {values:,} in one request")
print(f"{times[0]:.2f} s the first time, {seconds:.3f} s then: {values / seconds:,.0f} a second\n")
print(f"{'':8} {'at the money, a year':>22} {'off the closed form':>22}")
here = np.argmin(np.abs(spot - 100) + 100 * np.abs(years - 1))
for name, error in errors.items():
    print(f"{name:8} {found[name][here]:22.6f} {error:22.1e}")

plt.style.use(Path(__file__).with_name("gradwire.mplstyle"))
figure, panels = plt.subplots(2, 4, figsize=(11, 4.6), sharex=True, sharey=True)
for axes, name in zip(panels.flat, [name for name in found if name != "price"], strict=True):
    surface = found[name].reshape(len(maturities), len(spots))
    limit = np.quantile(np.abs(surface), 0.995)
    signed = surface.min() < -0.02 * limit
    axes.contourf(
        spots,
        maturities,
        surface,
        levels=np.linspace(-limit if signed else 0, limit, 25),
        cmap="RdBu_r" if signed else "viridis",
        extend="both",
    )
    axes.axvline(100, color="black", lw=0.6, alpha=0.5)
    axes.set_title(name)
    axes.grid(False)
for axes in panels[1]:
    axes.set_xlabel("spot")
for axes in panels[:, 0]:
    axes.set_ylabel("years")
picture = sys.argv[1] if len(sys.argv) > 1 else Path(tempfile.gettempdir(), "black_scholes.png")
figure.savefig(picture)
print(f"\npicture: {picture}")
client.close()
