/** Examples of fits: what is learned from data. */

import type { Example } from "./example.ts";

export const LOGISTIC: Example = {
  title: "Logistic regression",
  about:
    "The mean negative log-likelihood of 200 labels, which the program draws from known weights, and its gradient with respect to yours. Move w towards [2, −1, 0.5]: the gradient shrinks, as far as the noise of the labels lets it.",
  program: `# Labels of ±1, drawn from weights that are known here.
chance = sigmoid(x @ [2, -1, 0.5] - 0.3)
label = where(u < chance, 1.0, -1.0)

margin = label * (x @ w + b)
loss = mean(softplus(-margin)) + strength * sum(w**2)`,
  variables: { w: [0.5, 0.5, 0], b: 0, strength: 0.001 },
  generated: { x: "normal(200, 3)", u: "uniform(200)" },
  sources: ["w", "b"],
};

export const PROCESS: Example = {
  title: "Gaussian process",
  about:
    "The log marginal likelihood of forty noisy points by a Cholesky decomposition, and its gradient in the logarithms of three hyperparameters. A larger length makes the curve stiffer: follow the gradient uphill until it changes its sign.",
  program: `y = sin(6 * t) + 0.3 * noise
length, amplitude, deviation = exp(log_length), exp(log_amplitude), exp(log_deviation)

apart = t[:, None] - t[None, :]
kernel = amplitude**2 * exp(-(apart**2) / (2 * length**2)) + deviation**2 * eye(len(t))
factor = cholesky(kernel)
whitened = solve_triangular(factor, y, lower=True)
-0.5 * sum(whitened**2) - sum(log(diagonal(factor))) - 0.5 * len(t) * log(2 * pi)`,
  variables: { log_length: -2, log_amplitude: 0.1, log_deviation: -1 },
  generated: { t: "linspace(0, 2, 40)", noise: "normal(40)" },
  sources: ["log_length", "log_amplitude", "log_deviation"],
};

export const ATTENTION: Example = {
  title: "Attention",
  about:
    "Causal attention of five tokens, by a matrix product, a mask and a softmax, and the Jacobian of the last token's output. Of the queries only the last one matters to it, while all keys and values do.",
  program: `scores = q @ k.T / sqrt(q.shape[1])
seen = tril(ones_like(scores)) > 0
weights = softmax(where(seen, scores, -inf), axis=1)
out = weights @ v
out[-1]`,
  variables: {
    q: [[1, 0], [0, 1], [1, 1], [-1, 1], [2, 0.5]],
    k: [[1, 0.2], [0, 1], [-1, 0], [0.5, 0.5], [0.3, -1]],
    v: [[1, 0], [0, 1], [1, 1], [-1, 0], [0, -1]],
  },
  sources: ["q", "k", "v"],
  query: "jacobian",
};

export const FACTORS: Example = {
  title: "Matrix factorization",
  about:
    "A table of ratings with gaps is written as the product of two thin matrices, and each factor has a gradient although only known ratings count. Change one rating: only the gradients of its row and its column change.",
  program: `# A rating of 0 is one that nobody gave.
known = ratings > 0
error = where(known, users @ items.T - ratings, 0)
loss = sum(error**2) / sum(known) + 0.01 * (sum(users**2) + sum(items**2))`,
  variables: {
    ratings: [[5, 4, 0, 1], [4, 0, 1, 1], [1, 1, 5, 0], [0, 1, 4, 4], [2, 0, 5, 4]],
    users: [[2, 0.5], [1.5, 0.5], [0.3, 2], [0.5, 1.8], [0.6, 2]],
    items: [[2, 0.2], [1.8, 0.3], [0.3, 2.2], [0.4, 1.9]],
  },
  sources: ["users", "items"],
};

export const ROBUST: Example = {
  title: "Robust least squares",
  about:
    "Outliers get small weights, which are constants because of stop_gradient: this is a step of iteratively reweighted least squares. Two gradients are null, not 0, and the answer says why and in which line.",
  program: `error = x @ w - y
weight = 1 / (1 + stop_gradient(error / scale) ** 2)
loss = mean(where(abs(error) < limit, weight * error**2, 0))`,
  variables: {
    w: [0.2, 0.8],
    scale: 0.5,
    limit: 6,
    x: [[1, 0], [1, 1], [1, 2], [1, 3], [1, 4]],
    y: [0.1, 1.2, 1.9, 9, 4.1],
  },
};
