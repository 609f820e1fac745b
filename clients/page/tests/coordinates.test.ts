import assert from "node:assert/strict";
import { test } from "node:test";

import { coordinatesOf, floatsOf, isSource, withElements, withExamples } from "../src/plots/coordinates.ts";
import type { Json } from "../src/service/json.ts";

const VARIABLES = {
  layer: { w: [[1, 2], [3, 4]], b: { value: 0.5, dtype: "float32" } },
  parts: [{ c: 7 }],
  n: { value: 2, dtype: "int64" },
  flag: true,
  z: { re: 1, im: 2 },
  name: "a run",
  long: Array(65).fill(1),
};
const names = (sources: Json | undefined) => coordinatesOf(VARIABLES, sources, new Set()).map(({ name }) => name);

test("scalars and elements of small arrays are coordinates", () => {
  assert.deepEqual(names(undefined), ["layer.w[0, 0]", "layer.w[0, 1]", "layer.w[1, 0]", "layer.w[1, 1]", "layer.b", "parts.0.c"]);
  assert.deepEqual(names({ any: ["layer.b", null], other: "parts[0].c" }), ["layer.b", "parts.0.c"]);
  assert.deepEqual(names("layer").length, 5);
  assert.deepEqual(coordinatesOf(VARIABLES, "layer", new Set(["layer.w"])).map(({ value }) => value), [0.5]);
  assert.ok(!isSource("layers", "layer"));
});

test("only real floating-point leaves have numbers", () => {
  assert.deepEqual(floatsOf([[1, true], ["NaN", "-Infinity"]]), { shape: [2, 2], numbers: [1, 1, NaN, -Infinity] });
  const objects = [{ re: 1, im: 0 }, { dtype: "float64", shape: [], base64: "" }, { value: 1, dtype: "int8" }];
  const others: Json[] = [true, [true, false], "text", [], [[1], [2, 3]], ...objects];
  for (const leaf of others) assert.equal(floatsOf(leaf), null, JSON.stringify(leaf));
});

test("other elements stay as they were typed", () => {
  assert.deepEqual(withElements([[1, "NaN"], [3, 4]], new Map([[2, 7]])), [[1, "NaN"], [7, 4]]);
  const leaf = { value: 1, dtype: "float32", trainable: false };
  assert.deepEqual(withElements(leaf, new Map([[0, 2]])), { ...leaf, value: 2 });
});

test("examples differ in the moved coordinates alone", () => {
  const all = coordinatesOf(VARIABLES, undefined, new Set());
  const moved = ["layer.w[0, 1]", "layer.b", "layer.w[1, 0]"].map((name, i) => ({
    coordinate: all.find((one) => one.name === name)!,
    values: Float64Array.of(10 * i, 10 * i + 1),
  }));
  const { variables, batch } = withExamples(VARIABLES, moved);
  assert.deepEqual(batch, ["layer.w", "layer.b"]);
  assert.deepEqual(variables, { ...VARIABLES, layer: { w: [[[1, 0], [20, 4]], [[1, 1], [21, 4]]], b: { value: [10, 11], dtype: "float32" } } });
});
