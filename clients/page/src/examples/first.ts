/** The example of the guide's first page. */

import type { Saved } from "../model/document.ts";

export const FIRST: Saved = {
  program: "h = tanh(x @ layer.w + layer.b)\nloss = mean((h - y)**2)",
  variables: { layer: { w: [0.1, -0.2], b: 0.3 }, x: [[1, 2], [3, 4]], y: [0, 1] },
  sources: { w: "layer.w", b: "layer.b" },
};
