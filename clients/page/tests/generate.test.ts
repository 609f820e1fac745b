import assert from "node:assert/strict";
import { test } from "node:test";

import { readTensor } from "../src/service/tensor.ts";
import { FormulaError, generate, generated } from "../src/variables/generate.ts";

test("formulas give arrays, and the same each time", () => {
  assert.deepEqual([...readTensor(generate("linspace(0, 1, 5)")).data], [0, 0.25, 0.5, 0.75, 1]);
  assert.deepEqual(generate("zeros(2, 3)").shape, [2, 3]);
  assert.deepEqual(generate(" normal( 10 ,3 ) "), generate(" normal( 10 ,3 ) "));
  assert.notDeepEqual(generate("normal(10, 3)"), generate("normal(3, 10)"));
});

test("draws have the moments of their distributions", () => {
  const moments = (text: string) => {
    const { data } = readTensor(generate(text));
    const mean = data.reduce((sum, x) => sum + x) / data.length;
    return [mean, data.reduce((sum, x) => sum + (x - mean) ** 2, 0) / data.length];
  };
  const [mean = NaN, variance = NaN] = moments("normal(100000)");
  assert.ok(Math.abs(mean) < 0.02 && Math.abs(variance - 1) < 0.02);
  const [middle = NaN, spread = NaN] = moments("uniform(100000)");
  assert.ok(Math.abs(middle - 0.5) < 0.01 && Math.abs(spread - 1 / 12) < 0.002);
});

test("a wrong formula says what is wrong, and keeps the values of the last", () => {
  const wrong: [string, RegExp][] = [
    ["", /write a formula/], ["normal(3", /write a formula/], ["normal(a)", /write a formula/], ["normals(3)", /none of: normal/],
    ["normal()", /whole numbers/], ["zeros(2.5)", /whole numbers/], ["ones(-1)", /whole numbers/], ["linspace(1, 2)", /three arguments/],
    ["zeros(1e9)", /at most 4,000,000/],
  ];
  const last = generate("ones(3)");
  for (const [text, fault] of wrong) {
    assert.throws(() => generate(text), (error) => error instanceof FormulaError && fault.test(error.message), text);
    const kept = generated(text, last);
    assert.match(kept.fault ?? "", fault);
    assert.deepEqual([kept.text, kept.leaf], [text, last]);
  }
});
