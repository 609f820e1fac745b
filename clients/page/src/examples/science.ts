/** Examples from optimization, physics, biology and finance. */

import type { Example } from "./example.ts";

export const ROSENBROCK: Example = {
  title: "Rosenbrock's valley",
  about:
    "A narrow, curved valley on which optimizers are tried, with its gradient. Move x and y to (1, 1): both gradients vanish, and the Hessian, which you can choose above the variables, is positive definite there.",
  program: "valley = (1 - x)**2 + 100 * (y - x**2)**2",
  variables: { x: -1.2, y: 1 },
};

export const CHAIN: Example = {
  title: "A sparse Hessian",
  about:
    "Rosenbrock's function as a chain: each of its 24 variables meets only its neighbours, so the Hessian has three diagonals. By the format coo of /v1/hessian a matrix like this costs a handful of products, whatever its size.",
  program: "sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)",
  variables: {},
  generated: { x: "linspace(-1, 1, 24)" },
  query: "hessian",
};

export const OPTION: Example = {
  title: "Black–Scholes Greeks",
  about:
    "The price of a European call and, in one gradient, its delta, vega, rho and theta (with the other sign). Compute the Hessian with respect to spot for gamma, and move the spot to the strike to see where it is largest.",
  program: `d1 = (log(spot / strike) + (rate + volatility**2 / 2) * years) / (volatility * sqrt(years))
d2 = d1 - volatility * sqrt(years)
normal = scipy.stats.norm.cdf
price = spot * normal(d1) - strike * exp(-rate * years) * normal(d2)`,
  variables: { spot: 100, strike: 105, volatility: 0.2, rate: 0.03, years: 0.75 },
};

export const LYNXES: Example = {
  title: "Lotka–Volterra",
  about:
    "Hares and lynxes by a differential equation, compared with the pelts that a company bought from 1900 to 1920: the gradient goes through the solver. Drag a rate against the sign of its gradient, and the misfit falls.",
  program: `def change(animals, t):
    hares, lynxes = animals
    meetings = hares * lynxes / 100
    return stack([birth * hares - eaten * meetings, fed * meetings - death * lynxes])


pelts = stack([hares, lynxes], axis=1)
found = odeint(change, pelts[0], arange(21.0), steps=10)
misfit = mean((log(found) - log(pelts)) ** 2)`,
  variables: {
    birth: 0.55,
    eaten: 2.8,
    death: 0.8,
    fed: 2.4,
    // Thousands of pelts in the books of the Hudson's Bay Company.
    hares: [30, 47.2, 70.2, 77.4, 36.3, 20.6, 18.1, 21.4, 22, 25.4, 27.1, 40.3, 57, 76.6, 52.3, 19.5, 11.2, 7.6, 14.6, 16.2, 24.7],
    lynxes: [4, 6.1, 9.8, 35.2, 59.4, 41.7, 19, 13, 8.3, 9.1, 7.4, 8, 12.3, 19.5, 45.7, 51.1, 29.7, 15.8, 9.7, 10.1, 8.6],
  },
  sources: ["birth", "eaten", "death", "fed"],
};

export const KEPLER: Example = {
  title: "An implicit function",
  about:
    "Kepler's equation has no closed solution: the anomaly is found by Newton's method, and its derivative follows from the implicit function theorem. Raise the eccentricity: close to the sun the planet is fast, and the derivative with respect to time is large.",
  program: `anomaly = custom_root(lambda E: E - eccentricity * sin(E) - time, time)
x = cos(anomaly) - eccentricity
y = sqrt(1 - eccentricity**2) * sin(anomaly)
stack([x, y])`,
  variables: { time: 0.6, eccentricity: 0.6 },
  query: "jacobian",
};

export const PENDULUM: Example = {
  title: "A pendulum with while",
  about:
    "The exact period of a pendulum by the arithmetic–geometric mean, a loop that runs until two means agree. The gradient goes through as many passes as these values took: at small angles that of the angle is nearly 0, as Galileo thought it always was.",
  program: `a, g = 1.0, cos(angle / 2)
while abs(a - g) > 1e-12:
    a, g = (a + g) / 2, sqrt(a * g)

period = 2 * pi * sqrt(length / gravity) / a`,
  variables: { angle: 1.5, length: 1, gravity: 9.81 },
};
