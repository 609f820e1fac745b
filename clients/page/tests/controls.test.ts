import assert from "node:assert/strict";
import { test } from "node:test";

import { partsOf, readElement, shapeOf, stepped, withElement } from "../src/variables/parts.ts";
import { fits, rangeOf, widened } from "../src/variables/range.ts";

const VALUES = [0, 0.3, 1, -1.2, 3, 100, 105, 1e-9, -4e12, 1e99];

test("a slider reaches its value and twice as far", () => {
  for (const value of VALUES) {
    const range = rangeOf(value, "float64");
    assert.ok(range !== null && fits(range, value), String(value));
    assert.ok(value === 0 || (range.max >= 2 * Math.abs(value) * (1 - 1e-12) && range.max <= 5.1 * Math.abs(value)), String(value));
    assert.ok(range.step > 0);
  }
  assert.deepEqual(rangeOf(5e-324, "float64"), { min: 0, max: 1, step: 0.005 });
  for (const value of [NaN, Infinity, -Infinity, 1e300]) assert.equal(rangeOf(value, "float64"), null);
});

test("a slider whose value is lost near zero is of no use", () => {
  const range = rangeOf(100, "float64");
  assert.deepEqual(range, { min: 0, max: 200, step: 1 });
  assert.ok(fits({ min: 0, max: 200, step: 1 }, 0));
  assert.ok(!fits({ min: 0, max: 200, step: 1 }, 0.05));
  assert.ok(!fits({ min: 0, max: 200, step: 1 }, -1));
});

test("a slider at its end goes on from there", () => {
  const range = { min: 0, max: 10, step: 0.05 };
  assert.equal(widened(range, 5, "float64"), range);
  assert.deepEqual(widened(range, 10, "float64"), { min: 0, max: 20, step: 0.1 });
  assert.deepEqual(widened(range, 0, "float64"), { min: -10, max: 10, step: 0.1 });
});

test("integers stay whole and within their dtype", () => {
  assert.deepEqual(rangeOf(3, "int64"), { min: 0, max: 10, step: 1 });
  assert.deepEqual(rangeOf(100, "int8"), { min: 0, max: 127, step: 1 });
  assert.deepEqual(rangeOf(0, "uint8"), { min: 0, max: 10, step: 1 });
  assert.deepEqual(widened({ min: 0, max: 10, step: 1 }, 0, "uint16"), { min: 0, max: 10, step: 1 });
  assert.equal(stepped(3, -1, "int32"), 2);
});

test("arrows step in the second digit", () => {
  assert.equal(stepped(0.3, 1, "float64"), 0.31);
  assert.equal(stepped(-105, 1, "float64"), -95);
  assert.equal(stepped(0, -1, "float64"), -0.1);
});

test("elements are read as JSON has them", () => {
  const read: [string, string, unknown][] = [
    ["1.5", "float64", 1.5], ["−2", "float64", -2], [" +3e2 ", "float64", 300], ["nan", "float32", "NaN"], ["-inf", "float64", "-Infinity"],
    ["1e999", "float64", "Infinity"], [".5", "float64", 0.5], ["7.", "int8", 7],
  ];
  for (const [text, dtype, expected] of read) assert.equal(readElement(text, dtype), expected, text);
  for (const text of ["", "-", "1,5", "0x10", "1e", "one", "1 2"]) assert.equal(readElement(text, "float64"), null, text);
  assert.equal(readElement("1.5", "int64"), null);
  assert.equal(readElement("9007199254740993", "int64"), null);
  assert.equal(readElement("9007199254740991", "int64"), 9007199254740991);
  assert.equal(readElement("nan", "int64"), null);
});

test("a leaf is put together again from its parts", () => {
  const leaves = [3, true, [[1, 2]], "NaN", { value: [1, 2], dtype: "int64", trainable: false }, { re: [1], im: [2], dtype: "complex64" },
    { indices: [[0, 1]], values: [2], shape: [2, 2] }, { values: [1, 2], row_splits: [0, 2] }];
  for (const leaf of leaves) {
    const parts = partsOf(leaf);
    assert.ok(parts.length > 0);
    for (const part of parts) assert.deepEqual(part.put(part.value), leaf);
  }
  assert.deepEqual(partsOf({ re: 1, im: 2 }).map(({ label, dtype }) => [label, dtype]), [["re", "float64"], ["im", "float64"]]);
  for (const leaf of ["text", { ref: "sha256:0" }, { dtype: "float64", shape: [], base64: "" }, null]) assert.deepEqual(partsOf(leaf), []);
});

test("shapes of nested lists", () => {
  assert.deepEqual(shapeOf(1), []);
  assert.deepEqual(shapeOf([[1, 2], [3, 4], [5, 6]]), [3, 2]);
  assert.deepEqual(shapeOf([]), [0]);
  for (const ragged of [[[1, 2], [3]], [1, [2]], [[[1]], [[1, 2]]]]) assert.equal(shapeOf(ragged), null);
  assert.deepEqual(withElement([[1, 2], [3, 4]], [1, 0], 7), [[1, 2], [7, 4]]);
});
