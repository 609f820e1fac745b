/** The example that is shown where no link says otherwise. */

import type { Example } from "./example.ts";

export const FIRST: Example = {
  title: "A layer of a network",
  about: "One layer of a neural network with a squared error, and the gradients of its weights and bias. Drag the bias: value and gradients follow.",
  program: "h = tanh(x @ layer.w + layer.b)\nloss = mean((h - y)**2)",
  variables: { layer: { w: [0.1, -0.2], b: 0.3 }, x: [[1, 2], [3, 4]], y: [0, 1] },
  sources: { w: "layer.w", b: "layer.b" },
};
